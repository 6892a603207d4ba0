"""What passes: words by which an English statement tells of no lasting state (SPEC J-8). Pure."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE
POINTS = re.compile(
    r"\b(?:you|your|yours|this|these|those|here|there|that one|one of|what|whatever|why|how|today|tonight"
    r"|tomorrow|yesterday|now|currently|at the moment|right now|again|yet|anyway|so far|left|ready|next"
    r"|last|ago|soon|later|error|errors|bugs?|else|too|both|same|other|others|another|then|anything"
    r"|something|nothing|everything|none|somehow|maybe|first|enough|instead|until|till|by then)\b|\b(?:on"
    r"|by|before|after) (?:the \d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)|\b(?:it|them|that|which"
    r"|him|her)$",
    _FLAGS,
)
"""What points to something told elsewhere, or to a day."""
POINTS_FIRST = re.compile(r"^(?:it|that|them|him|her|me|us|so|as|not|to)\b", _FLAGS)
"""The same at the beginning of an object."""
_NO_HABIT_WORDS = """
    accept add admit adore agree aim am annoy answer apologise appear apply appreciate are argue arrive
    ask assume be beat become been beg begin being believe bet blame blow blush bother bow break bring
    call can care celebrate change chat check choose claim click close come concern confess consist copy
    cost could count crash crave cross cry dare debug decide delete deny depend deploy deserve despise
    detest did disagree do does doubt dread email end enjoy expect face fail fall fancy feel fight
    figure find finish flirt fly follow forget freak get give go guess had hand handle happen has hate
    have hear hide hold hope imagine insist intend is joke jump keep kill know lack land laugh leave let
    lie like loathe look lose love make manage matter may mean meet mention might mind miss must need
    notice offer open order owe panic paste pay phone pick plan post pray prefer pretend promise propose
    pull push put quote read realise realize reckon recommend refer reject remember remind repeat reply
    request require rest return ring rock rule salute say second see seek seem send shall share should
    show sign sit sleep smile sound stand stare start stay stop struggle suck suggest suppose surprise
    survive swap swear take tell tend test text thank think throw trust try turn type understand upload
    visit vote wait want was waste were will win wish wonder worry would write
"""
NO_HABIT = frozenset(_NO_HABIT_WORDS.split())
"""Verbs, in their base form, of being, thinking, saying, wanting, and of the matter at hand."""
_PAST_WORDS = """
    always ate became began bought broke brought built came caught chose dealt did drank drew drove dug
    fed fell felt flew forgot fought found froze gave got grew had heard held hid hit hung hurt kept
    knew laid lay led left lent let lit lost made meant met paid perhaps plus put quit ran rang read
    rode rose said sang sank sat saw sent set shot shut slept sold spent spoke stole stood stuck swam
    swept swore swung taught thought threw thus told took tore understood us went woke won wore wrote
    yes
"""
PAST = frozenset(_PAST_WORDS.split())
"""Pasts that do not end in "ed", and what looks like a verb."""
_NO_VERB_WORDS = """
    a about after again ago all also always an and any as at back bad before between big both but by
    during each either esp especially even every false finally for from good great he hello her here hey
    hi him his how i if in into it its just later like mainly many maybe me more most mostly much my
    neither never few far new nice no not now of off often ok old on once only onto or our out over per
    personally please plus really she since small so some sometimes soon sorry still than thanks that
    the their them then there these they this those through to too true twice under until up us usually
    very via we well what when where which who why with without yes you your
"""
NO_VERB = frozenset(_NO_VERB_WORDS.split())
"""Words that are no verb."""
EVALUATION = re.compile(
    r"^(?:an? |the )?(?:(?:bit|huge|big|great|total|complete|absolute|real|right|proper|little|tiny"
    r"|massive|good|nice|lovely|bad|happy|terrible|sweet|poor|dear|amazing|silly|old|utter|perfect|true"
    r"|funny|weird|strange|clever|proud|lucky|busy|free|bit of|very|most|best|worst|only|first|last|next"
    r"|same|one|reason|problem|point|thing|matter|question|answer|way|case|plan|idea) ?)|\b(?:mess|wreck"
    r"|saint|angel|star|genius|idiot|fool|hero|legend|joke|nightmare|delight|pain|fan|monster|beast"
    r"|disaster|mystery|darling|treasure|devil|liar|coward|snob|traitor|bore|menace|machine|tyrant"
    r"|millionaire|king|queen|god|goddess|potato|zombie|ghost|vampire|robot|spy|wizard|worrier|person|man|girl|guy|gal|boy|soul|creature"
    r"|woman|thing|way|one|winner|loser|case|problem|reason|idea|shame|bargain|lot|day|week|time|moment"
    r"|state|rush|hurry|mood)s?$|\b(?:of none|of mine|like a|than)\b",
    _FLAGS,
)
"""What one is called in praise or blame."""
BY_CHANCE = re.compile(
    r"\b(?:holiday|vacation|leave|phone|way|bed|trouble|hospital|bath|shower|bathroom|kitchen|garden|car"
    r"|line|fire|strike|call|meeting|mood|tears|pain|shock|love|touch|charge of (?:it|this)|hurry|rush"
    r"|time|middle|edge|verge|board with|top|track|break|shift|duty|train|plane|bus|road|trip|court|doubt"
    r"|denial|me|us|friends|her friends|his friends)\b",
    _FLAGS,
)
"""Where and in what one is for a while."""
NO_THINGS = (
    r"idea|clue|time|doubt|problem|problems|choice|intention|plans?|questions?|reason|patience|energy"
    r"|money|interest|way|more|one|opinion|preference|objection|issue|issues|right|luck|words|regrets"
    r"|shame|excuse|mercy|signal|power|internet"
)
"""What one lacks for a while."""
