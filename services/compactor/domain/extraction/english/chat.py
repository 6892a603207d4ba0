"""English as people type it, written out: "im", "dont", "tmrw", "my roomie's a drummer" (SPEC J-8). Pure.

written(sentence) -> str        contractions and abbreviations expanded, relatives by their usual names
"""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words

_FLAGS = re.IGNORECASE
_ENGLISH = re.compile(
    r"\b(?:i|im|ive|i'm|i've|my|the|is|are|was|a|an|of|to|and|for|with|we|we're|she|he|it"
    r"|its|it's|you|have|has"
    r"|had|that|this|at|on|not|be|been|but|so|from|just|our|me|dont|don't)\b",
    _FLAGS,
)
_PLAINLY = re.compile(
    r"\b(?:i|im|ive|i'm|i've|my|the|is|are|of|to|and|for|with|we|you|have|has|that|this"
    r"|but|our|from)\b",
    _FLAGS,
)
"""Small words that are English only."""
SURELY_ENGLISH = 2
"""Small English words of a sentence that need be read in no other language."""
_FOREIGN = re.compile(
    r"\b(?:ich|bin|der|das|und|ist|nicht|wir|ein|eine|einen|mein|meine|mit|auf|zu|sind|hab|habe|wird|nach"
    r"|je|suis|est|et|le|la|les|une|mon|mes|des|du|dans|pour|chez|nous|sur|avec|pas"
    r"|el|los|las|soy|es|una|mi|mis|con|por|para|del|que|en|yo|tengo|muy|se)\b",
    _FLAGS,
)
_STARTS = r"(?:^|(?<=[,;:!] )|(?<=\band )|(?<=\bbut )|(?<=\bthink )|(?<=\bso )|(?<=\bcause ))"
_TYPED = (  # what is typed without apostrophes, and abbreviations
    (r"\bim\b(?= \S)", "I am"),
    (r"\bive\b", "I have"),
    (rf"{_STARTS}ill\b(?= \w)", "I will"),
    (rf"{_STARTS}id\b(?= (?:like|love|rather|prefer|be|say|go|never)\b)", "I would"),
    (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)nt\b", r"\1 not"),
    (r"\bcant\b", "can not"),
    (r"\bwont\b", "will not"),
    (r"\b(he|she|that|there|who)s\b(?= \w)", r"\1 is"),
    (r"\b(they|you)re\b", r"\1 are"),
    (r"\b(we|they|you)ve\b", r"\1 have"),
    (r"\bits\b(?= (?:a|an|the|due|on|at|in|my|not|been|called|for|just|fine)\b)", "it is"),
    (r"(?<=\w)'ve (?:got to|gotta)\b(?! know\b)", " have to"),
    (r"(?<=\w)'s (?:got to|gotta)\b(?! know\b)", " has to"),
    (r"\b(?:have |has )?(?:got to|gotta|hafta)\b(?! know\b)", "have to"),
    (r"\bgonna\b", "going to"),
    (r"\bwanna\b", "want to"),
    (r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day,? (?=the \d{1,2}(?:st|nd|rd|th)\b)", ""),
    (r"\b(?:tmrw|tmr|tmw|tomoz|2moro)\b", "tomorrow"),
    (r"\b(?:yday|yest)\b", "yesterday"),
    (r"\b(?:tonite|2nite)\b", "tonight"),
    (r"\b(?:pls|plz|plse)\b", "please"),
    (r"\b(?:thx|thnx|ty)\b", "thanks"),
    (r"(?<!\w)w/o\b", "without"),
    (r"(?<!\w)w(?:/ ?| (?=\w))", "with "),
    (r"\b(?:bc|cuz|coz|cos)\b", "because"),
    (r"\btho\b", "though"),
    (r"(?<=\w) n (?=\w)", " and "),
    (r"(?<=\w) [&+] (?=\w)", " and "),
    (r"\bppl\b", "people"),
    (r"\b(\d{1,2}) ?x (?=(?:a|per)\b)", r"\1 times "),
    (r"\babt\b", "about"),
    (r"\byrs\b", "years"),
    (r"\byr\b", "year"),
    (r"\bwks\b", "weeks"),
    (r"\bu\b", "you"),
    (r"\bur\b", "your"),
    (r"\bbday\b", "birthday"),
    (r"\b(?:fav|fave)\b", "favourite"),
    (r"\b(mother|father|sister|brother|son|daughter) in law\b", r"\1-in-law"),
    (
        r"\b(?P<a>(?:have|has|got|are) (?:\w+ ){1,3})?(?<=s)\s*(?::|\("
        r"|-) ?(?P<b>(?-i:[A-Z])\w+(?:, (?-i:[A-Z])\w+)*,? (?:and|&) (?-i:[A-Z])\w+)\)?",
        r"\g<a>, \g<b>",
    ),
    (r"\b(?:appt|appointmnt)\b", "appointment"),
    (r"\bdefo\b", "definitely"),
    (r"\bstay at home (?=mum|mom|dad|mother|father|parent)", "stay-at-home "),
)
_RELATIVES = (  # whom one calls otherwise
    (r"(?:\bmy |^)(?:hubby|hubs)\b", "my husband"),
    (rf"\bmy ({words.SINGLE_RELATIONS}|{words.PLURAL_RELATIONS})s (?=name\b|birthday\b)", r"my \1's "),
    (r"\b(?:the|my) (?=(?:missus|wifey|wee man|little man|wee one|little one)\b)", "my "),
    (r"\bmy old man\b", "my father"),
    (r"\bmy (?:folks)\b", "my parents"),
    (r"\bmy (?:roomie|roomy)\b", "my roommate"),
    (r"\bstep (?=(?:sister|brother|mother|father|mum|mom|dad|son|daughter)\b)", "step"),
    (r"\bmy (\w+ )?sis\b", r"my \1sister"),
    (r"\bmy (\w+ )?bro\b", r"my \1brother"),
    (r"\bmy (?:bf|boyf)\b", "my boyfriend"),
    (r"\bmy girlf\b", "my girlfriend"),
    (r", me$", ""),
    (
        r"^the (?=(?:wife|husband|mother-in-law|father-in-law|other half|boss|landlord"
        r"|neighbours|grandkids)(?:'s| ))",
        "my ",
    ),
    (r"\bour (?=little one\b)", "my "),
    (
        r"\b(I|he|she|mother|father|mum|mom|dad|son|daughter|brother|sister|wife|husband) will be"
        r" (\d\d|\w+(?:teen|ty)(?:[ -]\w+)?) (?=on\b|next\b|this\b|tomorrow\b|in\b)",
        r"\1 is turning \2 ",
    ),
    (r"\bI is turning\b", "I am turning"),
    (r"\bmy lad\b", "my son"),
    (r"\bmy lass\b", "my daughter"),
    (r"\bmy gf\b", "my girlfriend"),
    (r"\b(?:the|my) kiddo\b", "my kiddo"),
    (
        rf"(?:^|(?<=, )|(?<=\band )|(?<=: ))the (?=(?:{words.PETS}|{words.PET_PLURALS}|kids|twins"
        r"|baby|in-laws)(?:'s)? (?!of\b|in the\b|that\b|who\b|from\b))",
        "our ",
    ),
    (r"^me and (?=(?-i:[A-Z])\w+ )(\w+) ", r"\1 and I "),
    (r"^me and (my \w+(?: (?-i:[A-Z])\w+)?) ", r"\1 and I "),
    (r"^(?:mum|mom|mam|mummy|amma)(?='s\b| (?!and\b))", "my mother"),
    (r"^(?:dad|daddy|appa|papa)(?='s\b| (?!and\b))", "my father"),
    (
        r"(?:^|\bmy )(?:gran|granny|nan|nana|nanna|nanny|grandma|gramma|abuela|abuelita|oma"
        r"|nonna|babushka|yiayia|lola|halmoni|dadi|nani)(?='s\b| (?!and\b))",
        "my grandmother",
    ),
    (
        r"(?:^|\bmy )(?:grandpa|grandad|granddad|gramps|gramp|pops|abuelo|opa|nonno|pappou"
        r"|lolo|dada|nana ji|taid|tata)(?='s\b| (?!and\b))",
        "my grandfather",
    ),
    (r"\bmy (?:mama|ma|mami|mutti|ammi|umma|mamma)\b", "my mother"),
    (r"\bmy (?:papa|pa|papi|vati|abba|pop|pappa)\b", "my father"),
    (r"\bmy (?:mum|mom)\b(?='s| [a-z])", "my mother"),
    (
        r"\b(?:the|my) (?:doc|doctor|gp|vet|dentist|optician|nurse|consultant|midwife|physio"
        r"|dietitian|specialist|cardiologist|dermatologist)"
        r" (?:says|said|told me|tells me|confirmed|reckons)(?: that)? (?=(?:I|we|my|he|she)\b)",
        "",
    ),
)
_IS = (
    r"(?-i:[A-Z]\w+(?:ian|ish|ese|can|ench|utch|erman|reek|zech|wiss))\b|called|named"
    r"|based|married|retired|engaged|divorced|supposed|booked|scared|closed|a"
    r"|an|the|allergic|from|not|also|now|only|in|at|on|off|away"
    r"|\d+(?!\w*(?:st|nd|rd|th)\b)[\w/]*|my"
    r"|(?!wedding|building|meeting|ceiling|training|morning|evening|reading|painting"
    r"|saving|clothing|housewarming|parking|spelling|hearing"
    r"|sibling|wing|ring|king|thing|spring|string|going-away|christening|viewing|opening"
    r"|screening|rating|boarding|nursing)\w+ing|our|his|her|too"
    rf"|very|due|{words.TRAITS}|{words.DIETS}|tall|short|gone|back|okay|fine|dead|ill|sick"
    r"|better|afraid|into|over(?=$|[,.!]| (?:and|now|but|so|by)\b)|really|always|still|half(?! (?:brother"
    r"|sister|term|year|day|hour|price))"
    r"|(?:obsessed|fluent|terrified|great|good|bad|hopeless|useless|brilliant|mad|crazy|keen|fond|proud"
    r"|sensitive|addicted|related"
    r"|close|short|named)(?= (?:with|in|at|of|about|on|to|for|after)\b)"
)
_HAS = r"got|been|had|started|moved|quit|become|just|finally|already|decided|\w{3,}ed"
_CONTRACTIONS = (
    (
        r"\b(?P<a>(?:from|to|at|by|via|off|of|open|opened|opening|round|near|outside|behind) (?:the|my|our"
        r"|an?|his"
        r"|her|their) [\w-]+)'s (?=(?:on|at|in|by|before|for|near|last|yesterday|since)\b)",
        r"\1’s ",
    ),
    (r"\b(?P<a>I)'m\b", r"\1 am"),
    (r"\b(?P<a>I|we|you|they)'ve\b", r"\1 have"),
    (r"\b(?P<a>we|you|they)'re\b", r"\1 are"),
    (r"\b(?P<a>he|she|it|that|who)'s (?=(?:been|got|had)\b)", r"\1 has "),
    (r"\b(?P<a>he|she|it|that|who|there|here)'s\b", r"\1 is"),
    (rf"^(?P<a>(?:my|our|the) (?:{words.ATTRIBUTES}|fav\w* \w+))'s\b", r"\1 is"),
    (
        r"\b(?P<a>(?-i:[A-Z])\w+|\w+)'s (?=(?!called\b|named\b|based\b|married\b|retired\b"
        r"|engaged\b|divorced\b|supposed\b|booked\b|used\b|tired\b|bored\b|closed\b"
        rf"|scared\b)(?:{_HAS})\b(?! (?:\w+ )?(?:is|was|are)\b))",
        r"\1 has ",
    ),
    (
        r"(?<!\bto )(?<!\bat )(?<!\bfrom )(?<!\bof )(?<!\bnear )(?<!\bwith )"
        rf"\b(?P<a>\w+)'s (?=(?:{_IS})\b)",
        r"\1 is ",
    ),
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\b(?P<a>\w+)n't\b", r"\1 not"),
    (r"\b(?P<a>I|we|he|she|they)'ll\b", r"\1 will"),
    (r"\b(?P<a>I|we|he|she|they)'d\b", r"\1 would"),
    (
        r"\b(?P<a>I|we|you|they) do (?=(?:have|own|like|love|eat|speak|work|live|hate|prefer"
        r"|play)\b)",
        r"\1 ",
    ),
    (
        r"\b(?P<a>have|has) got\b(?! (?:to|married|engaged|into|in|better|worse|back|divorced"
        r"|promoted)\b)",
        r"\1",
    ),
)

_REPHRASED = (  # what is said in another way
    (
        r"(?:^|(?<=, ))(?:both|all|most|some|half|two|three|four|five|six|the (?:two|three|four|five)) of us"
        r" (?=(?:are|have|went|got|had|will|were|ran|won|lost|took|booked|drove|flew|met|left)\b)",
        "we ",
    ),
    (r"\bI (?:could|would) (?:happily |gladly |easily )?(?P<a>live on|live off) ", r"I can happily \g<a> "),
    (
        r"\bI (?:could|would) (?:happily |gladly |easily )?(?P<a>(?:eat|drink|listen to|watch|read"
        r"|wear) [^,]+?"
        r" (?:every (?:single )?day|all day|forever|for ever|at every meal|for every meal|day and night))",
        r"I can happily \g<a>",
    ),
    (
        r"\bI would (?:much |far )?(?:rather|sooner) (?P<a>(?!not\b|you\b|he\b|she\b|they\b|it\b|this\b"
        r"|that\b|just\b|wait\b|die\b|talk\b"
        r"|stay\b|the \w+ did)(?!.*\b(?:than|over|today|tonight|now|tomorrow|this|that|it|you)\b)[^,]+)$",
        r"I prefer to \g<a>",
    ),
    (
        r"\bI would (?:rather|sooner) (?!not\b|die\b|starve\b|eat (?:the|my|a)\b|walk\b"
        r"|chew\b)(?P<a>[^,]+?) (?:than"
        r"|over) (?P<b>(?![^,]*\b(?:today|tonight|now|tomorrow)\b)[^,]+)",
        r"I prefer \g<a> over \g<b>",
    ),
    (
        r"\bI would (?:always |still )?(?:take|pick|choose) (?P<a>[^,]+?) over (?P<b>[^,]+)",
        r"I prefer \g<a> over \g<b>",
    ),
    (r"\b(?P<a>have|has) still to\b", r"still \g<a> to"),
    (
        r"^(?:(?:\w+,? ){0,2}?)give me (?P<a>(?!a |an |some |one )[^,.]+?) over (?P<b>[^,.]+?)"
        r",? (?:any day|any time|anytime|every time|always)(?: of the week)?$",
        r"I prefer \g<a> over \g<b>",
    ),
    (
        r"^(?P<a>[^,.:]{2,40}?) (?:over|>) (?P<b>[^,.:]{2,40}?) for me,? (?:any day|any time|anytime"
        r"|every time"
        r"|always|all day)(?: long| of the week)?\b",
        r"I prefer \g<a> over \g<b>",
    ),
    (
        r"^(?P<a>(?!I\b|we\b|would\b|take\b|give\b|prefer\b|choose\b|pick\b)[\w' -]{2,40}?) (?:over"
        r"|>) (?P<b>[\w' -]{2,40}?) any day(?: of the week)?$",
        r"I prefer \g<a> over \g<b>",
    ),
    (
        r"^(?:what|the (?:one )?thing|one thing|something) (?:that )?I (?:really )?(?P<a>hate|love|like"
        r"|detest|enjoy|loathe"
        r"|can not stand|can not abide)(?: (?:the )?most| more than anything)? is (?P<b>.+)$",
        r"I \g<a> \g<b>",
    ),
    (
        r"\bI (?:said|told \w+|told my \w+) (?:that )?I would (?=\w+ .*\b(?:today|tomorrow|tonight"
        r"|\w+day|the \d+\w\w)\b)",
        "I promised to ",
    ),
    (r"\bpromised(?P<a> (?:my|the|our) \w+| \w+)? (?:that )?(?:I|we) would\b", r"promised\g<a> to"),
    (
        r"\b(?P<a>I am|we are) in (?P<b>(?-i:[A-Z])[\w' -]+?) (?:these days|nowadays|for good"
        r"|permanently)\b",
        r"\g<a> based in \g<b>",
    ),
    (r"^the (?=(?:youngest|eldest|oldest)(?:,|'s\b| is\b| has\b| lives\b| works\b))", "my "),
)


def _compiled(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, _FLAGS), form) for pattern, form in pairs)


_EXPANDED = (*_compiled(_TYPED), *_compiled(_RELATIVES), *_compiled(_CONTRACTIONS), *_compiled(_REPHRASED))
_WEEKDAY = re.compile(
    r"\b(?P<a>on|by|next|this|last|until|till|before|for|every) "
    r"(?P<day>mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)\b(?! (?:rises|sets)\b)",
    _FLAGS,
)
_WEEKDAYS = {
    "mo": "Monday",
    "tu": "Tuesday",
    "we": "Wednesday",
    "th": "Thursday",
    "fr": "Friday",
    "sa": "Saturday",
    "su": "Sunday",
}


def is_english(sentence: str) -> bool:
    """Whether more of its small words are English than German, French or Spanish."""
    return len(_ENGLISH.findall(sentence)) >= len(_FOREIGN.findall(sentence))


def reads_as_english(text: str) -> bool:
    """Whether a message is in English: in doubt if it has no letter that English lacks."""
    english, foreign = len(_ENGLISH.findall(text)), len(_FOREIGN.findall(text))
    return english > foreign or (english == foreign and text.isascii())


def is_foreign(sentence: str) -> bool:
    """Whether it may be German, French or Spanish: with a small word of theirs, or hardly one of English."""
    return bool(_FOREIGN.search(sentence)) or len(_PLAINLY.findall(sentence)) < SURELY_ENGLISH


def written(sentence: str) -> str:
    """Contractions and abbreviations written out: "I'm" and "im" as "I am"."""
    for pattern, form in _EXPANDED:
        sentence = pattern.sub(form, sentence)
    sentence = _WEEKDAY.sub(lambda day: f"{day['a']} {_WEEKDAYS[day['day'][:2].lower()]}", sentence)
    return re.sub(r"\bi\b(?!\.)", "I", sentence)
