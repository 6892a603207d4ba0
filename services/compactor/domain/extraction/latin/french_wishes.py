"""French sentences of a form of their own: wishes, reminders, favourites, appointments (SPEC J-8)."""

from __future__ import annotations

import re
from functools import partial

from services.compactor.domain.extraction.facts import Category, Tense
from services.compactor.domain.extraction.latin.french_words import DAYS, WORDS
from services.compactor.domain.extraction.latin.language import NAME, loose, wish

ASKED = (
    r"(?:mets|mettez|écris|écrivez|réponds|répondez|utilise[sz]?|évite[sz]?|arrête[sz]?|donne[sz]?"
    r"|parle[sz]?|garde[sz]?"
    r"|rédige[sz]?|formate[sz]?|fais|faites|appelle[sz]?|nomme[sz]?|cite[sz]?|commence[sz]?|termine[sz]?"
    r"|finis|sois|soyez"
    r"|ajoute[sz]?|indique[sz]?|convertis|explique[sz]?|propose[sz]?|limite[sz]?|reste[sz]?|emploie"
    r"|oublie[sz]?|signe[sz]?"
    r"|vouvoie|vouvoyez|tutoie|tutoyez|épargne|résume[sz]?|traduis|adresse)"
)
_BARE = r"(?:pas d[e'u]|plus d[e'u]|jamais d[e'u]|rien que|toujours|jamais|aucune?|uniquement|zéro)"
_OF_ANSWERS = (
    r".*(?:répon|emoji|émoji|smiley|phrase|liste|puce|tableau|anglicism|jargon|français|anglais|mots?\b"
    r"|unités|euro|format"
    r"|source|code|commentaire|ligne|chiffre|dates?\b|heures?\b|métrique|gramm|tutoie|vouvo|titre|gras"
    r"|majuscule|exemple"
    r"|abréviation|francs|blabla|ton\b|langue|texte|recette|prix)"
)
"""What only answers have: "from now on no sugar" is a wish of another kind."""
IMPERATIVES = re.compile(
    loose(
        rf"^(?!.*\b(?:je|j'|mon|ma|on)\b)(?:ne |n')?(?:{ASKED}(?:-\w+)*\b.*|(?={_OF_ANSWERS})(?:{_BARE} ?.+"
        r"|(?:les|des) \w+ (?:au|en|avec|sans|à) .+|(?:en|avec|sans) .+|tes réponses .+))$"
    ),
    re.IGNORECASE,
)
STANDING = re.compile(
    loose(
        r"\b(?:désormais|dorénavant|à partir de (?:maintenant|aujourd'hui)|à l'avenir|une fois pour toutes"
        r"|ça vaut pour (?:toutes"
        r"|tous|toute)\b.*|(?:pour|dans) toutes tes réponses|quand tu (?:me )?(?:réponds|écris"
        r"|donnes \w+ \w+|cites \w+ \w+),?"
        r"|pour la suite|systématiquement)"
    ),
    re.IGNORECASE,
)
PARTS = re.compile(
    loose(
        rf"\s*:\s+|,?\s+et\s+(?=(?:ne |n')?(?:{ASKED}|{_BARE})\b)|,\s+(?=(?:ne |n')?(?:{ASKED}|{_BARE}"
        r"|(?:je|j'|c'est))\b)"
    ),
    re.IGNORECASE,
)


_wish = partial(wish, WORDS)
_ADDRESS, _EVENT = "form-of-address", "event*"
_ATTRIBUTES = (
    r"groupe sanguin|pointure|adresse|numéro(?: \w+){0,2}|langue maternelle|plaque(?: d'immatriculation)?"
    r"|code postal|taille"
    r"|signe(?: astro\w*)?|code(?: \w+){0,2}|mot de passe wifi|iban|date de naissance"
)
WISHES = (
    _wish(
        r"je (?:préfère|veux|voudrais bien|souhaite|préférerais) que tu me (?P<o>tutoies|vouvoies)\b.*",
        Category.INSTRUCTION,
        _ADDRESS,
        "demande : {o}",
    ),
    _wish(r"(?P<o>toujours (?:en|avec|sans) .+)", Category.INSTRUCTION, "instruction*", "demande : {o}"),
    _wish(
        r"ce que (?:je préfère|j'aime le plus|j'adore),? c'est (?P<o>.+)",
        Category.PREFERENCE,
        "taste*",
        "préfère {o}",
    ),
    _wish(
        rf"appelle[sz]?-moi (?P<o>{NAME})(?:,.*)?", Category.INSTRUCTION, _ADDRESS, "veut être appelé(e) {o}"
    ),
    _wish(
        r"(?:(?:tu peux|on peut) (?:me|se) tutoyer|(?:tutoie|tutoyez)-moi|arrête de me vouvoyer)\b.*",
        Category.INSTRUCTION,
        _ADDRESS,
        "demande de se tutoyer",
    ),
    _wish(r"(?:vouvoie|vouvoyez)-moi\b.*", Category.INSTRUCTION, _ADDRESS, "demande de se vouvoyer"),
    _wish(
        rf"(?P<o>(?:ne |n'){ASKED}(?:-moi)? (?:plus|jamais)\b.+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
    _wish(
        rf"(?P<o>{ASKED}(?:-moi)? (?:toujours|systématiquement|uniquement|jamais) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
    _wish(
        r"(?P<o>(?:arrête[sz]?|évite[sz]?) (?:de |d'|les |le )(?!moi\b|me\b).+)",
        Category.INSTRUCTION,
        "instruction*",
        "demande : {o}",
    ),
    _wish(
        r"(?P<n>pas|plus) (?P<o>d(?:e |'|es )(?:emojis?|émojis?|smileys?|listes?|tableaux|blabla"
        r"|anglicismes|jargon|majuscules)\b.*)",
        Category.INSTRUCTION,
        "instruction*",
        "demande de ne {n} utiliser {o}",
    ),
    _wish(
        r"(?:rappelle-moi (?:de |d'|qu'il faut )|n'oublie pas de me rappeler (?:de |d')|(?:pense|penser) à "
        r"|pas oublier de )"
        r"(?P<o>\w+(?:er|ir|re)\b.*)",
        Category.TASK,
        "task*",
        "doit {o}",
    ),
    _wish(
        r"(?:mon|ma|mes) (?P<n>[\w-]+(?: \w+)? préférée?s?),? (?P<v>est|c'est|sont|ce sont"
        r"|reste) (?P<o>.+)",
        Category.PREFERENCE,
        "favourite*",
        ": {n} : {o}",
    ),
    _wish(
        rf"(?:mon|ma) (?P<o>(?:{_ATTRIBUTES})(?: d[eu] .+?)? (?:est|c'est|:) .+)",
        Category.FACT,
        "attribute*",
        ": {o}",
    ),
    _wish(
        rf"(?:le|la|l')\s?(?P<o>(?:{_ATTRIBUTES}) (?:de|du) (?:mon|ma|mes|notre) .+? (?:est|c'est) .+)",
        Category.FACT,
        "attribute*",
        ": {o}",
    ),
    _wish(
        r"mon anniversaire,? (?:c'est|est|tombe) (?P<o>le \d.+)",
        Category.IDENTITY,
        "birthday",
        "a son anniversaire {o}",
    ),
    _wish(
        r"(?:(?:moi|perso) )?(?P<o>(?:le |la |les |l')[\w' -]+?),? (?:ça m'(?:ennuie|énerve|saoule"
        r"|insupporte)|(?:je |j')?"
        r"(?:n')?accroche pas|(?:très )?peu pour moi|c'est pas mon truc|(?:je "
        r"|j')(?:n')?aime pas(?: trop)?)",
        Category.PREFERENCE,
        "taste*",
        "n'aime pas {o}",
    ),
    _wish(
        r"(?P<o>(?:le |la |les |l')[\w' -]+?),? (?:c'est|ce sont) (?:pas (?:trop |vraiment )?"
        r"|vraiment pas )(?:mon truc|pour moi|ma tasse de thé)(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        "n'aime pas {o}",
    ),
    _wish(
        r"(?P<o>(?:le |la |les |l')[\w' -]+?),? c'est (?:(?:trop|vraiment|carrément) )?(?:mon truc"
        r"|ma passion|ma vie|mon péché mignon)(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        "aime {o}",
    ),
    _wish(
        r"(?P<o>(?:le |mon |du )?(?:café|thé|vin|pain|chocolat|steak|bière|fromage|sushis?"
        r"|pizza)s?,? (?:toujours|jamais|sans|avec|que|plutôt|noir)\b.*)",
        Category.PREFERENCE,
        "taste*",
        ": {o}",
    ),
    _wish(
        r"(?:on est|nous sommes) (?P<o>(?:\d|deux|trois|quatre|cinq|six|sept) (?:à la maison|enfants"
        r"|frères?|sœurs?|dans)\b.*)",
        Category.FACT,
        "household",
        ": sont {o}",
    ),
    _wish(
        r"rien (?:ne vaut|de tel qu[e']|de mieux qu[e']) ?(?P<o>.+)",
        Category.PREFERENCE,
        "taste*",
        "aime par-dessus tout {o}",
    ),
    _wish(r"je suis (?P<o>(?:plutôt |plus )\w+ que \w+(?: .+)?)", Category.PREFERENCE, "prefers*", "est {o}"),
    _wish(
        r"(?P<o>plutôt (?:le |la |les |du |de la |l')?.+ que .+)",
        Category.PREFERENCE,
        "prefers*",
        "préfère {o}",
    ),
    _wish(
        r"(?:finalement |au final |bon )*(?:ce sera|ça sera|va pour|on opte pour|j'opte pour|on part sur"
        r"|je me décide pour) (?P<o>(?!.*<option>)(?:le|la|les|l'|un|une|du|[A-Z]).+)",
        Category.DECISION,
        "decision*",
        "choisit {o}",
    ),
    _wish(
        r"(?:pense-bête|à faire|todo|à ne pas oublier|ne pas oublier(?: de)?"
        r"|pas oublier(?: de)?)\s*[:,-]?\s*(?P<o>\w+(?:er|ir|re)\b.*)",
        Category.TASK,
        "task*",
        "doit {o}",
    ),
    _wish(
        r"(?:faut pas que j'oublie|je dois pas oublier|je ne dois pas oublier|il me reste|je dois penser"
        r"|faut que je pense|me reste) (?:encore )?(?:à |de |d')(?P<o>\w+(?:er|ir|re)\b.*)",
        Category.TASK,
        "task*",
        "doit {o}",
    ),
    _wish(
        r"j'ai (?:encore |toujours )?(?P<o>(?:un|une|le|la|mon|ma|des|mes|\d+) [\w' -]+? à (?:rendre|finir"
        r"|payer|remplir|envoyer|préparer|corriger|acheter|signer|terminer)\b.*)",
        Category.TASK,
        "task*",
        "a {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>(?:rdv|rendez-vous|coiffeur|dentiste|ophtalmo|pédiatre|kiné|véto|gynéco|dermato"
        r"|contrôle technique|visite|réunion parents-profs|vaccin)\b(?! (?:est|a)\b).*)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?:je |j')(?:ne |n')?(?:peux|dois) pas (?P<o>(?:manger|boire|avaler) .+)",
        Category.FACT,
        "cannot*",
        "ne peut pas {o}",
    ),
    _wish(r"je (?:fais|mesure) (?P<o>(?:1|un) ?m(?:ètre)?.*)", Category.FACT, "height", "mesure {o}"),
    _wish(r"je chausse du (?P<o>\d\d\b.*)", Category.FACT, "shoe-size", "chausse du {o}"),
    _wish(r"je fais du (?P<o>(?:3[3-9]|4\d)\b.*)", Category.FACT, "shoe-size", "fait du {o}"),
    _wish(r"(?:moi,? )?c'est (?P<o>.+ plutôt que .+)", Category.PREFERENCE, "prefers*", "préfère {o}"),
    _wish(
        r"(?P<o>(?:le |la |les |l')[\w' -]+? (?:a|ont|est|sont|nous a|m'a) (?=.*\b(?:mon|ma|mes|notre"
        r"|nos)\b).+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.PAST,
    ),
    _wish(
        r"(?:tout le monde|(?:mes|les) (?:amis|potes|enfants|petits-enfants|collègues)"
        r"|ma famille) m'appelle(?:nt)? (?P<o>(?-i:[A-ZÉ])\w+)(?:,.*)?",
        Category.IDENTITY,
        "nickname",
        "se fait appeler {o}",
    ),
    _wish(
        r"(?:on a|j'ai) (?:appelé|baptisé|nommé) (?:le |la |notre |mon |ma )?(?P<n>(?:chien|chat|chatte"
        r"|chatonne|chaton|chiot|chienne|lapin|bateau|poney|bébé)) (?P<o>(?-i:[A-ZÉ])\w+)",
        Category.FACT,
        "thing*",
        ": {n} s'appelle {o}",
    ),
    _wish(r"(?P<o>le <day>(?: \w+)?,? c'est .+)", Category.FACT, "habit*", ": {o}"),
    _wish(
        r"(?:mon|ma|notre) (?P<o>(?:boutique|atelier|restaurant|bar|bureau|maison|appart\w*|ferme|cabinet"
        r"|jardin|librairie|école|lycée|collège|fac|boulot"
        r"|entreprise|bateau|gîte|salon|garage|épicerie|boulangerie) (?:est|se trouve) (?:à|au|aux|en|dans"
        r"|rue|sur|près|chez) .+)",
        Category.LOCATION,
        "place*",
        ": {o}",
    ),
    _wish(
        r"(?:mon|ma) (?:chef|cheffe|patron|patronne|prof|boss) (?:veut|m'a demandé|attend"
        r"|me demande) (?P<o>(?:le |la |les |l'|un |une ).+)",
        Category.TASK,
        "task*",
        "doit rendre {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?:c'est décidé|décision prise|on a tranché|j'ai tranché|on a décidé)\s*[:,] (?P<o>.+)",
        Category.DECISION,
        "decision*",
        "a décidé : {o}",
        whole=True,
    ),
    _wish(
        r"(?:finalement |au final |bon )*(?:on (?:prend|part sur|garde)|je (?:prends|garde)"
        r"|nous prenons) (?P<o>(?!.*<option>)"
        r"(?:le|la|les|l'|plutôt) ?.+)",
        Category.DECISION,
        "decision*",
        "prend {o}",
    ),
    _wish(
        r"(?:la |le |les |l'|mon |ma |notre )?(?P<o><appointment>(?: [\w'-]+){0,6}?,? (?:c'est|est|a lieu"
        r"|tombe|commence(?:nt)?|reprend|reprennent|débute(?:nt)?|démarre(?:nt)?"
        r"|aura lieu|est (?:fixée?|prévue?|calée?) (?:au|pour|à)|est reportée? au) .+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        rf"(?P<o>(?:demain|après-demain|{DAYS}|le \d{{1,2}} \w+|ce soir),? c'est (?:le |la |l'|mon |ma "
        r"|notre )"
        r"(?!.*\b(?:week-end|férié)\b).+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<w>hier|avant-hier|ce matin),? (?P<o>(?:le|la|l'|mon|ma|notre|on nous) ?[\w' -]+? (?:est|a|ont"
        r"|sont|m'a|nous a"
        r"|s'est) .+)",
        Category.EVENT,
        _EVENT,
        ": {w} {o}",
        Tense.PAST,
    ),
    _wish(
        r"(?P<o>(?:le|la) (?:plombier|livreur|technicien|technicienne|électricien|notaire|déménageur"
        r"|chauffagiste|ramoneur"
        r"|facteur|contrôleur|vétérinaire|véto|peintre|menuisier|réparateur|propriétaire) (?:passe|vient"
        r"|arrive) .+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
)
