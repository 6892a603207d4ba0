"""French for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_latin import NAME, Language, Rule, compiled, rule
from services.compactor.domain.extracting_types import Category, Tense

_NOT_FR = (
    r"(?!ça\b|cela\b|ce\b|le\b(?= \w+er\b)|bien (?:cette|ce|ton|ta)\b|bien ça\b|te\b|vous\b"
    r"|ton\b|ta\b|cette\b|tout\b)"
)
_ERRAND_FR = (
    "acheter|appeler|téléphoner|payer|réserver|renouveler|commander|envoyer|rendre|arroser"
    "|aller|annuler|nettoyer|laver|prendre"
    "|chercher|récupérer|déposer|poster|préparer|terminer|finir|réparer|rapporter|ranger"
    "|faire|passer|remplir|signer|écrire"
)
_SUBJUNCTIVE_FR = (
    ("rende", "rendre"),
    ("prenne", "prendre"),
    ("fasse", "faire"),
    ("aille", "aller"),
    ("finisse", "finir"),
    ("écrive", "écrire"),
    ("remplisse", "remplir"),
)
_KIN_FR = (
    "sœur|soeur|frère|mère|maman|père|papa|femme|mari|épouse|époux|fille|fils|enfant"
    "|grand-mère|grand-père|tante|oncle"
    "|cousine|cousin|nièce|neveu|copine|copain|amie|ami|compagne|compagnon|fiancée|fiancé"
    "|voisine|voisin|collègue|cheffe"
    "|chef|patron|patronne|belle-mère|beau-père|belle-sœur|beau-frère|chien|chienne|chat"
    "|chatte|colocataire"
)
_TRADE_FR = (
    r"(?:\w*(?:eur|euse|ier|ière|iste|ien|ienne|logue|ecte|aire|ant|ante)|médecin|avocate?"
    r"|prof|professeure?|chef|cheffe|juge"
    r"|agente? immobili\w+|sage-femme|pompier|maire|notaire|retraitée?|étudiante?|peintre"
    r"|poète|boulang\w+|cuisini\w+)"
    r"(?: (?:de|en|à|dans|au|du) .+)?"
)
_FRENCH_RULES: tuple[Rule, ...] = (
    rule(rf"je m'appelle (?P<o>{NAME})(?: et .+)?", Category.IDENTITY, "name", "s'appelle {o}"),
    rule(rf"mon (?:nom|prénom) est (?P<o>{NAME})", Category.IDENTITY, "name", "s'appelle {o}"),
    rule(
        r"j'habite (?:maintenant |actuellement )?(?P<o>(?:à|au|aux|en|dans|chez|près|rue|avec) .+)",
        Category.LOCATION,
        "home",
        "habite {o}",
    ),
    rule(
        r"(?:je vis|nous vivons|on vit) (?P<o>(?:à|au|aux|en|dans|chez|près|avec|depuis) .+)",
        Category.LOCATION,
        "home",
        "vit {o}",
    ),
    rule(
        r"(?:je viens|je suis venu\w*) de (?P<o>(?-i:[A-ZÉ]).+)", Category.IDENTITY, "origin", "vient de {o}"
    ),
    rule(r"je suis (?:né|née) (?P<o>(?:à|en|au|le) .+)", Category.IDENTITY, "birth", "est né(e) {o}"),
    rule(r"j'ai (?P<o>\d{1,3} ans)", Category.IDENTITY, "age", "a {o}"),
    rule(
        r"je travaille (?P<o>(?:comme|chez|pour|dans|à|au|en tant que) .+)",
        Category.IDENTITY,
        "employer",
        "travaille {o}",
    ),
    rule(
        r"je suis (?P<o>(?:végétarien|végétarienne|végane|vegan|végan))",
        Category.PREFERENCE,
        "diet",
        "est {o}",
    ),
    rule(r"je suis (?P<o>(?:\w+ment )?allergique (?:à|au|aux) .+)", Category.FACT, "allergy*", "est {o}"),
    rule(
        r"je suis (?P<o>(?:gaucher|gauchère|mariée?|divorcée?|célibataire|veuf|veuve|daltonienn?e?"
        r"|diabétique|sourde?|aveugle))",
        Category.FACT,
        "is*",
        "est {o}",
    ),
    rule(rf"je suis (?P<o>{_TRADE_FR})", Category.IDENTITY, "occupation", "est {o}"),
    rule(
        rf"j'(?P<v>aime|adore) (?:beaucoup |bien |surtout |énormément )?(?P<o>{_NOT_FR}.+)",
        Category.PREFERENCE,
        "taste*",
        "{v} {o}",
    ),
    rule(rf"je (?P<v>déteste|préfère) (?P<o>{_NOT_FR}.+)", Category.PREFERENCE, "taste*", "{v} {o}"),
    rule(
        r"je n'aime pas (?P<o>(?!ça\b|cela\b|ce\b|cette\b|ton\b|ta\b|que\b).+)",
        Category.PREFERENCE,
        "taste*",
        "n'aime pas {o}",
    ),
    rule(
        r"je ne (?P<v>mange|bois) (?P<o>(?:pas|jamais|plus) .+)", Category.PREFERENCE, "taste*", "ne {v} {o}"
    ),
    rule(
        r"(?:mon|ma) (?P<n>\w+ préférée?) est (?P<o>.+)", Category.PREFERENCE, "favourite*", " : {n} est {o}"
    ),
    rule(
        r"je parle (?P<o>(?:couramment |un peu )?(?:le |l')?(?:français|anglais|allemand|espagnol"
        r"|italien|portugais|arabe|russe|chinois|japonais|néerlandais|polonais|breton|turc)\b.*)",
        Category.IDENTITY,
        "speaks*",
        "parle {o}",
    ),
    rule(r"j'apprends (?P<o>(?:le |l'|la |à )\w+.*)", Category.FACT, "learning*", "apprend {o}"),
    rule(r"j'étudie (?P<o>(?:le |l'|la |les )\w+.*)", Category.IDENTITY, "studies", "étudie {o}"),
    rule(r"je joue (?P<o>(?:du|de la|de l'|au|aux|à la) .+)", Category.FACT, "plays*", "joue {o}"),
    rule(
        r"(?:j'ai|nous avons|on a) (?P<o>(?:une?|deux|trois|quatre|cinq) (?:\w+ )?(?:enfants?"
        r"|filles?|fils|sœurs?|soeurs?|frères?|chiens?|chats?|jumeaux|jumelles|lapins?|poules"
        r"|maison|voiture|bateau|jardin|atelier|boutique|chevaux|cheval)\b.*)",
        Category.FACT,
        "has*",
        "a {o}",
    ),
    rule(
        r"(?:j'ai|nous avons|on a) décidé (?P<o>(?:de |d').+)", Category.DECISION, "decision*", "a décidé {o}"
    ),
    rule(r"(?:j'ai|nous avons|on a) choisi (?P<o>.+)", Category.DECISION, "decision*", "a choisi {o}"),
    rule(
        rf"(?:je dois|il faut que je|nous devons) (?P<o>(?:\w+ )?(?:{_ERRAND_FR}"
        rf"|{'|'.join(s for s, _ in _SUBJUNCTIVE_FR)})\b.*)",
        Category.TASK,
        "task*",
        "doit {o}",
    ),
    rule(
        r"(?:je dois|il faut que je) (?P<o>(?!dire\b|avouer\b|admettre\b|partir\b).+)",
        Category.TASK,
        "task*",
        "doit {o}",
        Tense.COMING,
    ),
    rule(r"rappelle-moi (?P<o>(?:de |d').+)", Category.TASK, "task*", "doit penser à : {o}"),
    rule(
        r"(?:j'ai|nous avons|on a) (?P<o>(?:un |une |mon |ma )?(?:rendez-vous|examen|entretien"
        r"|réunion|vol|concert|rdv|opération|mariage|train|cours)\b.*)",
        Category.EVENT,
        "event*",
        "a {o}",
        Tense.COMING,
    ),
    rule(
        r"(?:j'ai|nous avons|on a) (?P<o>(?:\w*(?:é|i|u|is|it|ert|aint))(?: .+)?)",
        Category.EVENT,
        "event*",
        "a {o}",
        Tense.PAST,
    ),
    rule(
        r"(?:je suis|nous sommes) (?P<o>(?:allée?s?|partie?s?|arrivée?s?|rentrée?s?|devenue?"
        r"|tombée?s?|venue?s?) .+)",
        Category.EVENT,
        "event*",
        "est {o}",
        Tense.PAST,
    ),
    rule(
        r"je me suis (?P<o>(?:mariée?|cassé|fiancée?|inscrite?|blessée?) .+)",
        Category.EVENT,
        "event*",
        "s'est {o}",
        Tense.PAST,
    ),
    rule(r"(?:je pars|nous partons) (?P<o>.+)", Category.EVENT, "event*", "part {o}", Tense.COMING),
    rule(
        rf"appelle[sz]?-moi (?P<o>{NAME})", Category.INSTRUCTION, "form-of-address", "veut être appelé(e) {o}"
    ),
    rule(r"(?:tutoie|tutoyez)-moi", Category.INSTRUCTION, "form-of-address", "demande de se tutoyer"),
    rule(r"(?:vouvoie|vouvoyez)-moi", Category.INSTRUCTION, "form-of-address", "demande de se vouvoyer"),
    rule(
        r"(?:réponds|répondez|écris|écrivez)(?:-moi)? (?P<o>(?:toujours|désormais|dorénavant) .+)",
        Category.INSTRUCTION,
        "instruction.reply",
        "demande de répondre {o}",
    ),
    rule(
        r"(?P<o>(?:utilise|utilisez|donne|donnez|écris|écrivez|évite|évitez)(?:-moi)? toujours .+"
        r"|n'(?:utilise|écris|emploie)\w* jamais .+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
)
_FRENCH_THIRD: tuple[Rule, ...] = (
    rule(
        r"(?P<v>habite|vit) (?P<o>(?:à|au|aux|en|dans|chez|près|avec) .+)",
        Category.LOCATION,
        "home",
        "{v} {o}",
    ),
    rule(
        r"travaille (?P<o>(?:comme|chez|pour|dans|à|au) .+)", Category.IDENTITY, "occupation", "travaille {o}"
    ),
    rule(r"est (?P<o>(?:\w+ment )?allergique (?:à|au|aux) .+)", Category.FACT, "allergy*", "est {o}"),
    rule(
        r"est (?P<o>végétarienn?e?|végane|vegan|mariée?|retraitée?|divorcée?|enceinte)",
        Category.FACT,
        "is*",
        "est {o}",
    ),
    rule(rf"est (?P<o>{_TRADE_FR})", Category.IDENTITY, "occupation", "est {o}"),
    rule(rf"s'appelle (?P<o>{NAME})", Category.RELATIONSHIP, "name", "s'appelle {o}"),
    rule(r"a (?P<o>\d{1,3} ans)", Category.IDENTITY, "age", "a {o}"),
    rule(rf"(?P<v>aime|adore|déteste|préfère) (?P<o>{_NOT_FR}.+)", Category.PREFERENCE, "taste*", "{v} {o}"),
    rule(
        r"(?P<o>(?:fête|arrive|se marie|part|aura|vient) .+)", Category.EVENT, "event*", "{o}", Tense.COMING
    ),
    rule(r"(?P<o>(?:a|est|s'est) \w+ .+)", Category.EVENT, "event*", "{o}", Tense.PAST),
)
_WHEN_FR = (
    r"(?:hier|avant-hier|demain|après-demain|aujourd'hui|(?:le )?(?:lundi|mardi|mercredi|jeudi"
    r"|vendredi|samedi|dimanche)(?: (?:prochain|dernier|matin|soir))?|la semaine (?:prochaine"
    r"|dernière)|en \d{4}|il y a \w+ \w+|dans \w+ (?:jours?|semaines?))"
)
FRENCH = Language(
    unnamed="La personne",
    split=compiled(
        r"\s*[;:]\s+|\s+-\s+|,?\s+(?:mais|car|parce que|parce qu'|puisque|donc|alors que)\s*"
        r"|,\s+(?=(?:et\s+)?(?:je|j'|il|elle|on|nous|mon|ma|mes|qui|ce|c'|s'il|si)\b)"
        r"|\s+et\s+(?=(?:je|mon|ma|mes|nous|on)\b|j')"
    ),
    unsure=compiled(
        r"\b(?:si|peut-être|s'il se peut|il se peut|sans doute|probablement|pourrais|pourrait"
        r"|devrais|voudrais|aimerais|aimerait|serais|serait|aurais"
        r"|aurait|faudrait|imagine|suppose|jamais dit|pas vrai|un jour|roman|histoire|film"
        r"|citation|exemple|paraît-il|prétend|selon|rêve)\b"
        r"|\bj'étais\b|\bne (?:suis|vis|viens|travaille) pas\b|\bn'(?:habite|ai|est|a) pas\b"
    ),
    foreign=compiled(r"\b(?:me|moi|nous|notre|nos|je|tu|te|toi|ton|ta|tes|(?<!-)vous|votre|vos)\b|\bj'"),
    order=(
        (
            compiled(
                r"^(?:oui|non|bon|alors|en fait|au fait|bonjour|salut|merci|et|d'ailleurs|actuellement"
                r"|maintenant|pour info|s'il te plaît|s'il vous plaît)\b[\s,:!.]*"
            ),
            "",
        ),
        (compiled(r",?\s*s'il (?:te|vous) plaît$"), ""),
        (compiled(rf"^(?P<w>{_WHEN_FR}),? (?P<r>(?:je|j'|nous|on|mon|ma|il faut).+)$"), r"\g<r> \g<w>"),
    ),
    rules=_FRENCH_RULES,
    relative=compiled(
        r"^(?:mon|ma|notre) (?:(?:petite?|grande?"
        rf"|meilleure?) )?(?P<relation>{_KIN_FR})(?:,? (?P<name>(?-i:[A-ZÉÈÀ])[\w-]+),?)?(?= )"
    ),
    third=_FRENCH_THIRD,
    owned="{relation} de {author}",
    called="s'appelle",
    day="le {day}",
    whose=(
        *((compiled(r"\bmon\b"), "son"), (compiled(r"\bma\b"), "sa"), (compiled(r"\bmes\b"), "ses")),
        *((compiled(rf"\b{form}\b"), verb) for form, verb in _SUBJUNCTIVE_FR),
    ),
)
