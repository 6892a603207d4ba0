"""What of a message its author says themselves, sentence by sentence (SPEC J-8). Pure.

    statements(text) -> list[str]
    said_and_asked(text) -> tuple       the same, and the questions, which may name somebody
    own_words(text) -> list[str]        the same for a reader that understands more, such as a model

Left out is what may come from elsewhere: fenced text (G-3), code, quoted lines, pasted mails and tables,
sentences with quotation marks, and questions. A message that asks for fiction, for work on a text, or that
turns out to be a joke says nothing.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

from services.compactor.domain.extraction.cjk import text as unspaced
from services.compactor.domain.extraction.facts import MOST_SENTENCE, MOST_SENTENCES, MOST_TEXT
from services.kit.fences import CLOSE, END, OPEN

LONGEST_ABBREVIATION = 12
"""Characters at the end of a sentence that may be one, with what stands before it."""
_FENCE = re.compile(rf"{OPEN}data:.*?(?:{re.escape(END)}|\Z)", re.DOTALL)
_HEADER = re.compile(rf"{OPEN}[^{OPEN}{CLOSE}\n]*{CLOSE}")
_CODE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)")
_MAIL = re.compile(
    r"(?ims)^[ \t]*(?:on\b.{4,120}\bwrote:|am\b.{4,120}\bschrieb\b.{0,80}:|le\b.{4,120}\ba écrit\s*:"
    r"|el\b.{4,120}\bescribió:|-{3,}\s*(?:original|forwarded|ursprüngliche|weitergeleitete)\b.*?"
    r"|(?:发件人|寄件人|寄件者|發件人|差出人)\s?[:：].*?"
    r"|(?:from|von|de)\s?:\s.{1,120}^[ \t]*(?:to|an|à|sent|gesendet|date|subject|betreff|para"
    r"|envoyé|enviado)\s?:).*\Z"
)
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*(?:>|\|).*$")
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_QUOTE_MARKS = re.compile(r"[\"“”„«»‹›「」『』`]|(?<![\w])['‘](?=\w)[^'’]{3,}['’](?!\w)")
QUOTED = '"…"'
"""What is left of a quotation."""
_QUOTATION = re.compile(
    r"\"[^\"]{1,2000}\"|“[^”]{1,2000}”|„[^“”]{1,2000}[“”]|«[^»]{1,2000}»|‹[^›]{1,200}›"
    r"|「[^」]{1,2000}」|『[^』]{1,2000}』"
    r"|`[^`]{1,200}`|(?<!\w)['‘](?=\w)[^'’\n]{3,400}['’](?!\w)"
)
_END = re.compile(
    r"(?<=[.!?…])[)\]]*\s+|\n+|(?<=[。！？])|(?:(?<!\s)\s+)?[\U0001F300-\U0001FAFF\u2600-\u27BF]\uFE0F?\s*"
)
FOREIGN = (_FENCE, _HEADER, _CODE, _MAIL, _QUOTED_LINE, _QUOTATION)
"""What in a message is somebody else's text."""
_ABBREVIATION = re.compile(
    r"(?:^|[\s(.])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|St|Prof|No|Nr|e\.g|i\.e|z\.B|Sr|Sra|approx)\.$"
)
_ORDINAL = re.compile(r"(?:^|\s)(?:am|vom|bis|den|dem|zum|der|ab|und|seit) \d{1,2}\.$", re.IGNORECASE)
"""The day of a German date."""
_SHORTENED = re.compile(
    r"(?:^|[\s(.])(?:[^\W\d_]|\d+|vs|dr|mr|mrs|st|bd|etc|ca|max|min|incl|excl|est|dept|no|nr|bzw|evtl"
    r"|ggf|inkl|usw|vgl|str"
    r"|tel|env|janv|févr|avr|juil|sept|oct|nov|déc|jan|feb|mar|apr|jun|jul|aug|okt|dez|dec"
    r"|ene|abr|ago|dic|aprox"
    r"|núm|pág|av|p\.ej)\.$",
    re.IGNORECASE,
)
"""What ends in a full stop before a small letter and is not the end of a sentence."""
_TOLD = re.compile(  # a field of a form, a log line, a heading: no sentence
    r"^\W*\w+\s*=|^\s*[{\[<]|^#|https?://|[{}<>\\|=]{1}"
)
_TEXT_WORK = (
    r"translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|edit|fix the (?:grammar|spelling)"
    r"|correct (?:this|the|my)|check (?:this|the|my) (?:\w+ )?(?:sentence|text|grammar|quote"
    r"|paragraph|spelling|draft)"
    r"|fill (?:in|out)|parse|extract|analy[sz]e|compare|complete the sentence|übersetze?"
    r"|korrigiere|fasse?\b"
    r"|traduis|traduisez|corrige|résume|traduce|traduzca|resume"
)
_WRITE = (
    r"write|compose|draft|generate|create|make up|invent|tell|schreib|erzähl|écris|raconte"
    r"|escribe|cuenta"
)
_FICTION = (
    r"story|stories|poem|song|novel|script|dialogue|screenplay|scene|essay|joke|bio|biography"
    r"|profile|tale|letter"
    r"|monologue|speech|character|limerick|haiku|sketch|persona|article|post|review|ad"
    r"|geschichte|gedicht|märchen|histoire|poème|conte|cuento|historia|poema"
)
_VETO_ALL = re.compile(
    r"^\W*(?:please |can you |could you |would you |bitte |s'il te plaît,? "
    rf"|por favor,? )?(?:{_TEXT_WORK})\b"
    rf"|\b(?:{_WRITE})\b[^.!?\n]{{0,40}}\b(?:{_FICTION})\b"
    r"|\b(?:just|only|i'm|i am|am) (?:kidding|joking)\b|^\W*(?:kidding|joking)\b|\bj/k\b|\bjk\b|😜|😉|;-?\)"
    r"|\bhighlight of my (?:day|week|month|year)\b|\bliving the dream\b|\blucky me\b|\bjust what I needed\b"
    r"|\bsaid (?:no ?one|nobody) ever\b|\bslow clap\b|\bwhat a treat\b|\b(?:I am|I'm|I feel) (?:so "
    r"|truly )blessed\b"
    r"|^\W*you(?:'re| are) (?:now )?(?:(?-i:[A-Z][a-z])|(?:an?|the|my) (?!(?:\w+ )?(?:star|angel"
    r"|life-?saver|legend"
    r"|genius|gem|friend|hero|treasure|wonder|saint|darling)\b))"
    r"|^\W*(?:oh,? sure|yeah,? right|sure,? sure|yeah,? sure)\b"
    r"|\bapril fool|\bnot really\b|\btwo truths\b|\btrue or false\b|\bone of (?:these"
    r"|those|them) is (?:a lie|fake|false)\b|\bpretend\b|\brole-?play"
    r"|\bplay(?:ing)? the role\b"
    r"|\bact as\b|\bin character\b"
    r"|\bimagine\b|\bsuppose\b|\bhypothetical|\bfor (?:example|instance)\b|\bfictional\b"
    r"|\bonce upon a time\b"
    r"|\blet's (?:say|assume|pretend)\b|(?<!always )\bassum(?:e|ing)\b|\bsample (?:text|data|form)\b"
    r"|\btest data\b|\bplaceholder\b"
    r"|\bthe following\b|\blyrics\b|\bplot\b|\bwhat if\b|\bas if\b|\bsarcas|\bpunchline\b|\briddle\b"
    r"|\bstell dir vor\b|\bangenommen\b|\bnur (?:ein )?(?:scherz|spaß)\b|\bspaß beiseite\b"
    r"|\bkleiner scherz\b"
    r"|\bimaginons\b|\bimagine que\b|\bsupposons\b|\bje (?:plaisante|rigole|blague)\b"
    r"|\bpour rire\b|\bmdr\b"
    r"|\bimagina(?:te)? que\b|\bsupongamos\b|\bes broma\b|\bbromeo\b|\bjaja",
    re.IGNORECASE,
)
_LAUGHED = re.compile(r"\bhaha|\b(?:lo+l|lmao|rofl)\b|[😂🤣🙄]", re.IGNORECASE)
"""What makes its sentence a joke."""
_EMOJI = re.compile(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+")
_ASIDE = re.compile(r"\s*\((?P<in>[^()]*)\)(?=\s*(?:[.,;:!]|$))|\s*\([^()]*\)")
"""What stands in brackets, and whether a clause ends there."""
_NAMED_ASIDE = re.compile(
    r"(?i)\b((?:my|our) [\w' -]{2,30}?) \((?P<n>(?-i:(?:(?:Dr|Mrs?|Ms"
    r"|Prof)\.? )?[A-Z])[^\W\d_][\w'-]*)\) (?=\w+)"
)
"""The name of somebody, in brackets: "my tutor (Ann) lives next door"."""
_NO_RESTRICTION = re.compile(
    r"(?i)\b(?:I|we|you|he|she|they|it|me|us|my|is|are|was|were|am|don't|can't|do|did|story|joke|lol|haha"
    r"|sorry"
    r"|thanks|thank|yes|no|yay|ugh|obviously|seriously|finally|sadly|luckily|hopefully|again|allegedly|duh"
    r"|phew|oops|sic|don't ask)\b|\S+'s\b|[?!]"
)
"""What stands in brackets and says nothing that narrows the sentence."""
MOST_OF_ASIDE = 6
"""Words in brackets that belong to the statement."""
_LISTED = re.compile(  # what is put on one's own list is no quotation, though it stands in quotation marks
    r"(?i)^((?:please )?(?:add|put) )[\"“]([^\"“”]{3,80})[\"”]( (?:on|to|onto) my (?:(?:to-?do"
    r"|task)[ -]?(?:list)?|list))"
)
_ASKED_FOR = re.compile(  # a standing wish, politely asked
    r"(?i)^(?:[\w' ]{2,12}, )?(?:can|could|would|will) (?:you|u|ya) (?:please |pls |just |maybe )*"
    r"((?:always|never|call me|address me|remind me|stop \w+ing|from now on)\b[^?]*"
    r"|[a-z]+ [^?]{2,60}\b(?:from (?:now|here) on|in (?:the )?future|going forward|every time"
    r"|at all times|by default)\b[^?]*)\?+[ )!]*(?:thanks|thx|ty|please|pls)?$"
)
_FROM_NOW = re.compile(  # the same with its time before it
    r"(?i)^(?P<w>from (?:now|here) on|in (?:the )?future|going forward),? (?:can|could|would"
    r"|will) you (?:please |just )*"
    r"(?P<s>[a-z]+ [^?]{2,80})\?+[ )!]*$"
)
_WHETHER = (
    r"should|shall|can|could|what|what's|whats|how|which|who|where|when|why|is|are|do|does"
    r"|did|would|will|any|normal|thoughts|ideas|advice"
    r"|tips|suggestions|was|wie|wo|wann|warum|soll|kann|darf|muss|gibt|hast|ist|geht|que"
    r"|quoi|comment|où|quand|pourquoi|est-ce|tu|vous|qué|cómo"
    r"|dónde|cuándo|puedo|debo|hay|me|es|y tú|quel|quelle|combien|cuánto|welche\w*|alguna"
)
_STATED_FIRST = re.compile(  # a statement, and a question about it
    r"(?i)^(?P<said>(?:(?:so|ok|hi|hey|hello|also|and|well)[, ]+)*(?:I|I'm|im|I've|ive|my"
    r"|we|we're|we've|our|ich|wir|mein|meine|unser|unsere|je|j'\w+|mon|ma|nous|tengo"
    r"|soy|estoy|mi|yo|vivo|trabajo)\b(?! (?:wonder|was wondering|guess|suppose|heard"
    rf"|mean)\b).{{4,}}?)(?:,| - |;) (?:(?:so|and|but"
    rf"|also) )?(?:{_WHETHER})\b[^,]*\?+[ )!]*$"
)
_ASKS = (
    r"what|what's|whats|how|how's|which|who|who's|where|when|why|whose|is|are|am|was|were|do|does|did|has"
    r"|have|can|could|should"
    r"|shall|would|will|may|might|any|anyone|anybody|thoughts|ideas|advice|tips|suggestions|normal|worth"
)
_STATED_THEN_ASKED = re.compile(  # the same of anybody: "Ann's son swims for the county, what should he eat?"
    r"(?i)^(?P<said>(?!(?:(?:so|ok|hi|hey|hello|also|and|but|well|just|quick question)[, ]+)*"
    rf"(?:{_ASKS}|if|whether|unless|guess"
    r"|suppose|imagine|say|you|your|let|please|remember|know|ever|got|like|as if|since when|or|not)\b)"
    r"(?=.*\b(?:I|my|our|we|is|are|am|has|have|the|and|with|of)\b|.*'s ).{6,}?)"
    rf"(?:,| - |;) (?:(?:so|and|but|also|then) )?(?:{_ASKS})\b[^?]*\?+[ )!]*$"
)
_OWN_ABROAD = (
    r"ich|wir|mein\w*|unser\w*|mir|uns|je|j'(?=\w)|mon|ma|mes|on|nous|notre|nos|tengo|tenemos|soy|somos"
    r"|estoy|mis?|me|nos|vivo|voy"
    r"|nuestr[oa]s?|trabajo"
)
_ASKS_ABROAD = (
    r"was|wie|wo|wann|warum|wieso|welche\w*|wer|wen|wem|womit|wofür|worauf|soll|kann|darf|muss|gibt|gibts"
    r"|hast|hat|ist|sind|geht|gehen|lohnt"
    r"|braucht|brauche?|reicht|hilft|irgendwelche|irgendeine|eine idee|ideen|tipps?|vorschläge|(?:zu|mit|in"
    r"|ab|für|bei) w\w+"
    r"|quoi|que|quel\w*|comment|combien|où|quand|pourquoi|est-ce|tu|vous|y a|il y a|faut|il faut|ça|c'est"
    r"|une idée|des idées|un conseil|t'as"
    r"|t'aurais|as-tu|connais|je (?:peux|dois|fais|mets|prends)|on (?:peut|fait)|(?:à|de|avec|dans"
    r"|par) quel\w*"
    r"|qué|cómo|dónde|cuándo|cuánt\w+|cuál\w*|por qué|puedo|debo|hay|es|alguna|algún|ideas|tú|se puede"
    r"|sabes|conoces|tienes|sirve"
    r"|(?:con|de|a|en|para) (?:qué|cuál|cuánt)\w*"
)
_STATED_ABROAD = re.compile(  # the same in German, French and Spanish
    rf"(?i)^(?P<said>(?!¿|(?:{_ASKS_ABROAD})\b)(?=[^?]*\b(?:{_OWN_ABROAD})\b)[^?¿]{{8,}}?)"
    r"(?:\s*[,;:.]?\s*¿[^¿?]*|(?:,| -|;) (?:(?:und|also|et|donc|y|entonces|alors) )?"
    rf"(?:{_ASKS_ABROAD})\b[^?]*)\?+[ )!]*$"
)
_TAG = re.compile(
    r"(?i),\s*¿?(?:vale|ok|okay|d'accord|alright|got it|deal|please|bitte|por favor"
    r"|de acuerdo)\s*\?+[ )!]*$"
)
"""A tag that asks for nothing but consent."""
_FIELD = re.compile(r"^\s*(?:[A-Z][\w /-]{0,24}:\s+\S|[\u3041-\u30ff\u4e00-\u9fff]{1,8}[:：]\s*\S)")
_TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\u00a0": " ", "–": "-", "—": " - ", "…": "..."})


def statements(text: str) -> list[str]:
    """The sentences that may state a fact, each on one line without its full stop."""
    return said_and_asked(text)[0]


def said_and_asked(text: str) -> tuple[list[str], list[str]]:
    """The statements of a text, and its questions.

    Nothing is stated in a question, but whom "my sister Ann" names is so.
    """
    own = _own(text[:MOST_TEXT])
    if _states_nothing(own):
        return [], []
    sentences = _sentences(own)
    said = (sentence for one in sentences if (sentence := _statement(one)))
    asked = (question for one in sentences if (question := _question(one)))
    return list(islice(said, MOST_SENTENCES)), list(islice(asked, MOST_SENTENCES))


def own_words(text: str) -> list[str]:
    """The sentences that are their author's own, as they stand, but with QUOTED for each quotation.

    None where the message is no statement at all.
    """
    own = _own(text[:MOST_TEXT])
    if _states_nothing(own):
        return []
    found = (" ".join(one.split()) for one in _sentences(_QUOTATION.sub(QUOTED, own)))
    meant = (one for one in found if any(map(str.isalnum, one)) and not _LAUGHED.search(one))
    return list(islice(meant, MOST_SENTENCES))


def is_foreign_sentence(sentence: str) -> bool:
    """Whether it holds a mark of quotation, what was hidden, a laugh, a field or an address."""
    return "\0" in sentence or any(veto.search(sentence) for veto in (_QUOTE_MARKS, _LAUGHED, _TOLD))


def states_nothing(text: str) -> bool:
    """Whether a message asks for work on a text, invents, jokes, or is a form."""
    return _states_nothing(_own(text[:MOST_TEXT]))


def visible(text: str) -> str:
    """The text without control characters, marks of direction and lone surrogates."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c)[0] != "C")


def _states_nothing(own: str) -> bool:
    return bool(_VETO_ALL.search(own) or unspaced.VETO.search(own)) or _is_form(own)


def _own(text: str) -> str:
    """The text without what was quoted; a quotation within it stays, to mark its sentence."""
    text = visible(text)
    for foreign in (_FENCE, _HEADER, _CODE, _MAIL, _QUOTED_LINE):
        text = foreign.sub("\n", text)
    return _without_quotations(text).replace("’", "'")


def _without_quotations(text: str) -> str:
    """A quotation may run over several sentences: full stops within it end none."""

    def joined(match: re.Match[str]) -> str:
        return re.sub(r"[.!?。！？\n]", ",", match.group())

    for begin, end in ('""', "“”", "„“", "«»", "„”", "「」", "『』"):
        text = re.sub(rf"{begin}[^{begin}{end}]{{1,2000}}{end}", joined, text)
    return text


def _is_form(text: str) -> bool:
    """Whether the text is a list of "Name: value" lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 2 and sum(map(bool, map(_FIELD.match, lines))) * 2 > len(lines)


def _sentences(text: str) -> list[str]:
    found, pending, done = [], "", 0
    for end in [*_END.finditer(text), None]:
        piece = pending + text[done : end.end() if end else len(text)]
        done = end.end() if end else done
        following = text[done : done + 1]
        if end and "\n" not in end.group() and _goes_on(piece[-LONGEST_ABBREVIATION:].rstrip(), following):
            pending = piece
            continue
        pending = ""
        found.append(piece)
    return found


def _goes_on(ending: str, following: str) -> bool:
    """Whether a full stop ends no sentence. People who chat begin theirs with small letters."""
    return bool(_ABBREVIATION.search(ending) or _ORDINAL.search(ending)) or (
        following.islower() and bool(_SHORTENED.search(ending))
    )


def _question(sentence: str) -> str:
    """A question in plain typography, "" when it is none or not its author's own."""
    line = " ".join(sentence.translate(_TYPOGRAPHY).split()).rstrip(" )!")
    asks = line.endswith("?") and len(line) <= MOST_SENTENCE and not _QUOTE_MARKS.search(line)
    return line if asks else ""


def _statement(sentence: str) -> str:
    """A sentence in plain typography, "" when nothing in it may be taken as its author's word."""
    line = _ITEM.sub("", " ".join(sentence.split()))
    line = _STATED_FIRST.sub(r"\g<said>.", _ASKED_FOR.sub(r"\1.", line.translate(_TYPOGRAPHY)))
    line = _FROM_NOW.sub(r"\g<w> \g<s>.", line)
    line = _STATED_ABROAD.sub(r"\g<said>.", _STATED_THEN_ASKED.sub(r"\g<said>.", line))
    line = _TAG.sub(".", line)
    line = unspaced.stated(line)
    if len(line) > MOST_SENTENCE or line.rstrip(" )!").endswith(("?", "？")):
        return ""
    line = unspaced.unquoted(_LISTED.sub(r"\1\2\3", line))
    if _LAUGHED.search(line):
        return ""
    line = _EMOJI.sub("", line)
    if _QUOTE_MARKS.search(line) or _TOLD.search(line):
        return ""
    line = _ASIDE.sub(_kept_aside, _NAMED_ASIDE.sub(r"\1 \g<n> ", line))
    line = re.sub(r"\s*(?:\.{3}|:-?\)|:-?D)\s*$", "", " ".join(line.split()))
    return line.strip(" .!。！-*_")


def _kept_aside(match: re.Match[str]) -> str:
    """What is said in brackets at the end of a clause, where it narrows that: "deaf (in one ear)"."""
    said = match["in"] or ""
    if not said or len(said.split()) > MOST_OF_ASIDE or _NO_RESTRICTION.search(said):
        return ""
    return f" ({said})"
