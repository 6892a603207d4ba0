"""What French clauses in the first person tell (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_latin import NAME, Rule, rule
from services.compactor.domain.extracting_types import Category, Tense

NOT_FR = (
    r"(?!ça\b|cela\b|ce\b|le\b(?= \w+er\b)|bien (?:cette|ce|ton|ta)\b|bien ça\b|te\b|vous\b"
    r"|ton\b|ta\b|cette\b|tout\b)"
)
_ERRAND_FR = (
    "acheter|appeler|téléphoner|payer|réserver|renouveler|commander|envoyer|rendre|arroser"
    "|aller|annuler|nettoyer|laver|prendre"
    "|chercher|récupérer|déposer|poster|préparer|terminer|finir|réparer|rapporter|ranger"
    "|faire|passer|remplir|signer|écrire"
)
SUBJUNCTIVE_FR = (
    ("rende", "rendre"),
    ("paie", "payer"),
    ("achète", "acheter"),
    ("prenne", "prendre"),
    ("fasse", "faire"),
    ("aille", "aller"),
    ("finisse", "finir"),
    ("écrive", "écrire"),
    ("remplisse", "remplir"),
)
KIN_FR = (
    "parents|grands-parents|beaux-parents|sœur|soeur|frère|mère|maman|père|papa|femme"
    "|mari|épouse|époux|fille|fils|enfant"
    "|grand-mère|grand-père|tante|oncle"
    "|cousine|cousin|nièce|neveu|copine|copain|amie|ami|compagne|compagnon|fiancée|fiancé"
    "|filleule|filleul|marraine|parrain|mamie|papi|papy|mémé|pépé|demi-sœur|demi-frère"
    "|belle-fille|beau-fils|ex-mari|ex-femme|ex"
    "|petit-fils|petite-fille|aînée|aîné|cadette|cadet|benjamine|benjamin|coloc|pote"
    "|médecin|propriétaire|lapin|lapine|jument|cheval"
    "|voisine|voisin|collègue|cheffe"
    "|chef|patron|patronne|belle-mère|beau-père|belle-sœur|beau-frère|chien|chienne|chat"
    "|chatte|colocataire"
)
TRADE_FR = (
    r"(?:\w*(?:eur|euse|ier|ière|iste|ien|ienne|icien|icienne|logue|ecte|aire|ant|ante)|médecin|avocate?"
    r"|prof|professeure?|chef|cheffe|juge"
    r"|agente? immobili\w+|sage-femme|pompier|maire|notaire|kiné|ingé|retraitée?|étudiante?|peintre"
    r"|poète|boulang\w+|cuisini\w+)"
    r"(?: (?:volontaire|indépendante?|libérale?|scolaire|municipale?|judiciaire"
    r"|à la retraite|professionnel\w*|bénévole))?"
    r"(?: (?:de|en|à|dans|au|du|chez) .+)?"
)
TRADE_PLACE_FR = r"^(?P<a>est .+?) (?P<o>(?:à|en|au|chez) (?-i:[A-ZÉ]).+)$"
ILLNESS_FR = (
    r"(?:\w*(?:ite|ose|émie|algie|phobie|lepsie|plégie)|(?:du |de l'|le |la "
    r"|une? )?(?:diabète|asthme|migraines?|arthrite|cancer|maladie \w+.*"
    r"|syndrome .+|allergie .+|intolérance .+|tension|hypertension|acouphènes|eczéma"
    r"|psoriasis|tdah|dyslexie|épilepsie|stomie|pacemaker))"
)
FRENCH_RULES: tuple[Rule, ...] = (
    rule(
        r"(?:moi )?j'ai grandi (?P<o>(?:à|en|au|aux|dans|chez|près) .+)",
        Category.LOCATION,
        "childhood",
        "a grandi {o}",
    ),
    rule(
        r"(?:je|on) (?:bosse|taffe) (?P<o>(?:comme|chez|pour|dans|à|au|en|de) .+)",
        Category.IDENTITY,
        "employer",
        "travaille {o}",
    ),
    rule(rf"j'ai (?P<o>{ILLNESS_FR})(?: depuis .+)?", Category.FACT, "has*", "a {o}"),
    rule(r"je suis enceinte (?P<o>de .+)", Category.FACT, "pregnancy", "est enceinte {o}"),
    rule(
        r"(?:je|on) (?:ne |n')?(?:supporte|digère) pas (?P<o>(?!ça\b|que\b|quand\b|cette\b"
        r"|ce\b).+)",
        Category.PREFERENCE,
        "taste*",
        "ne supporte pas {o}",
    ),
    rule(r"j'aime (?P<o>(?:pas|plus) .+)", Category.PREFERENCE, "taste*", "n'aime {o}"),
    rule(
        r"je (?P<v>mange|bois|fume) (?P<o>(?:pas|jamais|plus) .+)",
        Category.PREFERENCE,
        "taste*",
        "ne {v} {o}",
    ),
    rule(r"je bois (?P<o>(?:mon|le) (?:café|thé) .+)", Category.PREFERENCE, "drinks*", "boit {o}"),
    rule(
        r"mon anniversaire (?:c'est|est) (?P<o>le \d.+)",
        Category.IDENTITY,
        "birthday",
        "a son anniversaire {o}",
    ),
    rule(r"je suis (?:de |du |d')(?P<o>(?-i:[A-ZÉ]).+)", Category.IDENTITY, "origin", "vient de {o}"),
    rule(r"je vis (?P<o>seule?)", Category.LOCATION, "lives-with", "vit {o}"),
    rule(r"on part (?P<o>.+)", Category.EVENT, "event*", "part {o}", Tense.COMING),
    rule(
        r"(?:mon|ma) (?P<o>(?:groupe sanguin|pointure|adresse|numéro \w+|langue maternelle"
        r"|plaque) (?:est|c'est) .+)",
        Category.FACT,
        "attribute*",
        ": {o}",
    ),
    rule(r"arrête de me vouvoyer(?P<o>)", Category.INSTRUCTION, "form-of-address", "demande de se tutoyer"),
    rule(
        r"(?P<v>écris|réponds|parle)(?:-moi)? (?P<o>en .+?) (?:à partir de maintenant"
        r"|désormais|dorénavant|toujours)",
        Category.INSTRUCTION,
        "instruction.reply",
        "demande : {v} {o}",
    ),
    rule(
        r"(?:finalement |au final |bon )*(?:on (?:prend|part sur|garde)|je (?:prends|garde)"
        r"|nous prenons) (?P<o>(?!.*\b(?:option|version|première|deuxième|seconde|temps|peine"
        r"|risque)\b)(?:le|la|les|l'|plutôt) ?.+)",
        Category.DECISION,
        "decision*",
        "prend {o}",
    ),
    rule(
        r"(?:dorénavant|désormais|à partir de maintenant|à l'avenir"
        r")[ ,]+(?:s'il te plaît,? )?(?P<o>(?!je\b|j'|on\b|nous\b|il\b|elle\b|c'|mon\b"
        r"|ma\b|autant\b|aussi\b)\w.+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
    rule(
        r"(?P<o>(?!je\b|on\b|nous\b|il\b|elle\b|ça\b|c'|j'|est\b|a\b|mon\b"
        r"|ma\b)[\w-]+ (?:toujours|désormais|dorénavant|systématiquement) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
    rule(
        r"(?P<o>(?:ne |n')(?!suis\b|est\b|ai\b|a\b)[\w-]+ (?:jamais|plus(?: jamais)?) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
    rule(
        r"(?P<o>(?:arrête|évite|arrêtez|évitez) (?:de |d'|les |le )(?!moi\b).+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
    rule(
        r"(?:l'|le |la |mon |ma |notre )(?P<o>(?:[\w'-]+ ){0,3}?[\w'-]+) (?:c'est|est|a lieu"
        r"|tombe|commence) (?P<w>le .+|demain.*|lundi.*|mardi.*|mercredi.*|jeudi.*|vendredi.*"
        r"|samedi.*|dimanche.*)",
        Category.EVENT,
        "event*",
        "a : {o} {w}",
        Tense.COMING,
    ),
    rule(
        r"(?:moi )?(?:les |la |le )?(?P<o>(?:[\w'-]+ ){0,2}?[\w'-]+),? (?:je "
        r"|j')?(?:n')?accroche pas",
        Category.PREFERENCE,
        "taste*",
        "n'aime pas {o}",
    ),
    rule(r"(?:pense|penser) à (?P<o>\w+er .+)", Category.TASK, "task*", "doit {o}", Tense.COMING),
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
        r"je suis (?P<o>(?:végétarien|végétarienne|végane|vegan|végan)(?: depuis .+)?)",
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
    rule(rf"je suis (?P<o>{TRADE_FR})", Category.IDENTITY, "occupation", "est {o}"),
    rule(
        rf"j'(?P<v>aime|adore) (?:beaucoup |bien |surtout |énormément )?(?P<o>{NOT_FR}.+)",
        Category.PREFERENCE,
        "taste*",
        "{v} {o}",
    ),
    rule(rf"je (?P<v>déteste|préfère) (?P<o>{NOT_FR}.+)", Category.PREFERENCE, "taste*", "{v} {o}"),
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
        rf"(?:je dois|il faut que je|nous devons) (?P<o>(?!y\b)(?:\w+ )?(?:{_ERRAND_FR}"
        rf"|{'|'.join(s for s, _ in SUBJUNCTIVE_FR)})\b.*)",
        Category.TASK,
        "task*",
        "doit {o}",
    ),
    rule(
        r"(?:je dois|il faut que je) (?P<o>(?!y\b|dire\b|avouer\b|admettre\b|partir\b).+)",
        Category.TASK,
        "task*",
        "doit {o}",
        Tense.COMING,
    ),
    rule(r"rappelle-moi (?:de |d')(?P<o>.+)", Category.TASK, "task*", "doit {o}"),
    rule(
        r"il faut que j'(?P<o>(?:appelle|achète|envoie|apporte|aille|arrose|annule"
        r"|imprime) .+)",
        Category.TASK,
        "task*",
        "doit : {o}",
    ),
    rule(
        r"(?:on|nous) (?:s'est|nous sommes) (?P<o>(?:mariée?s|fiancée?s|séparée?s|pacsée?s"
        r"|installée?s)\b.*)",
        Category.EVENT,
        "event*",
        "s'est {o}",
    ),
    rule(
        r"(?:on|nous|je) (?:déménageons|déménage) (?P<o>.+)",
        Category.EVENT,
        "event*",
        "déménage {o}",
        Tense.COMING,
    ),
    rule(r"je fais (?P<o>(?:du|de la|de l') .+)", Category.FACT, "does*", "fait {o}"),
    rule(
        r"pas d(?:e |'|es )(?P<o>(?:emojis?|smileys|listes?|tableaux|blabla|anglicismes"
        r"|jargon)\b.*)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : pas d'{o}",
    ),
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
)
