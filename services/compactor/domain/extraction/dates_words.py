"""The words of dates, in English, German, French and Spanish. Pure."""

from __future__ import annotations

WEEKDAYS = {
    name: day
    for day, names in enumerate(
        (
            "monday montag lundi lunes",
            "tuesday dienstag mardi martes",
            "wednesday mittwoch mercredi miércoles miercoles",
            "thursday donnerstag jeudi jueves",
            "friday freitag vendredi viernes",
            "saturday samstag sonnabend samedi sábado sabado",
            "sunday sonntag dimanche domingo",
        )
    )
    for name in names.split()
}
MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january januar janvier enero jan",
            "february februar février fevrier febrero feb",
            "march märz maerz mars marzo mar",
            "april avril abril apr",
            "may mai mayo",
            "june juni juin junio",
            "july juli juillet julio",
            "august août aout agosto aug",
            "september septembre septiembre sept sep",
            "october oktober octobre octubre oct",
            "november novembre noviembre nov",
            "december dezember décembre decembre diciembre dec",
        ),
        start=1,
    )
    for name in names.split()
}
DAY_WORDS = {
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "heute": 0,
    "aujourd'hui": 0,
    "hoy": 0,
    "yesterday": -1,
    "last night": -1,
    "gestern": -1,
    "hier": -1,
    "ayer": -1,
    "the day before yesterday": -2,
    "vorgestern": -2,
    "avant-hier": -2,
    "anteayer": -2,
    "tomorrow": 1,
    "tomorrow morning": 1,
    "tomorrow night": 1,
    "morgen": 1,
    "morgen früh": 1,
    "morgen abend": 1,
    "heute abend": 0,
    "gestern abend": -1,
    "demain matin": 1,
    "demain soir": 1,
    "ce soir": 0,
    "ce matin": 0,
    "cet après-midi": 0,
    "esta mañana": 0,
    "esta tarde": 0,
    "heute morgen": 0,
    "heute früh": 0,
    "hier soir": -1,
    "esta noche": 0,
    "anoche": -1,
    "mañana por la mañana": 1,
    "mañana por la tarde": 1,
    "demain": 1,
    "mañana": 1,
    "the day after tomorrow": 2,
    "übermorgen": 2,
    "après-demain": 2,
    "pasado mañana": 2,
}
HOLIDAYS = {
    name: (month, day)
    for names, month, day in (
        ("new year's day|new years day|new year's|neujahr|nouvel an|año nuevo", 1, 1),
        ("valentine's day|valentines day|valentine's|saint-valentin|san valentín", 2, 14),
        ("halloween", 10, 31),
        ("christmas eve|xmas eve|heiligabend|nochebuena", 12, 24),
        ("christmas day|christmas|xmas|weihnachten|noël|navidad", 12, 25),
        ("boxing day", 12, 26),
        ("new year's eve|new years eve|silvester|nochevieja", 12, 31),
    )
    for name in names.split("|")
}
NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fourteen": 14,
    "einem": 1,
    "einer": 1,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
    "sechs": 6,
    "sieben": 7,
    "acht": 8,
    "neun": 9,
    "zehn": 10,
    "un": 1,
    "une": 1,
    "deux": 2,
    "trois": 3,
    "quatre": 4,
    "cinq": 5,
    "huit": 8,
    "dix": 10,
    "una": 1,
    "dos": 2,
    "tres": 3,
    "cuatro": 4,
    "cinco": 5,
    "diez": 10,
    "sept": 7,
    "neuf": 9,
    "douze": 12,
    "quinze": 15,
    "seis": 6,
    "siete": 7,
    "ocho": 8,
    "nueve": 9,
    "doce": 12,
    "quince": 15,
    "zwölf": 12,
    "vierzehn": 14,
}
UNITS = {
    "day": 1,
    "days": 1,
    "week": 7,
    "weeks": 7,
    "weeks'": 7,
    "fortnight": 14,
    "tag": 1,
    "tage": 1,
    "tagen": 1,
    "woche": 7,
    "wochen": 7,
    "jour": 1,
    "jours": 1,
    "semaine": 7,
    "semaines": 7,
    "día": 1,
    "días": 1,
    "semana": 7,
    "semanas": 7,
}
FAR = (
    r"month|months|year|years|monat|monaten|jahr|jahren|mois|an|ans|mes|meses|año"
    r"|años"  # no day can be told
)
