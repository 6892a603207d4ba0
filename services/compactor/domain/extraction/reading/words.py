"""English words by which stretches of a sentence are told apart (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extraction.english import kin, words
from services.compactor.domain.extraction.english.verbs import third


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


JOINING = _set(
    """
    and but so because cause cuz coz cos bc though although which who when while if since as until till after
    before unless or for where whereas except plus then than that with instead yet whose to even n & + w at in
    on by from
    """
)
"""Before these a statement may end."""
LEADING = _set(
    """
    and but so because cause cuz coz cos bc since as while when if plus though although or also then whereas n
    & + well ok okay oh yes yeah no anyway actually btw fyi lol haha hi hey hello honestly tbh ngl like look
    listen right sorry thanks please that which who where
    """
)
"""After these a statement may begin, and none begins with them."""
TEMPORAL = frozenset({"since", "while", "when", "where"})
"""Of those the ones that belong to what they lead: "since 2019 I live ..."."""
SPEAKER = _set("i we im i'm ive i've i'd id i'll ill we're we've we'll we'd")
SPEAKER_OR_NOT = frozenset({"ill", "id"})
"""These are the author only before a verb."""
OWN = frozenset({"my", "our"})
PRONOUN = _set(
    """
    he she they he's she's they're they've he'd she'd they'd hes shes theyre theyve he'll she'll they'll his
    her their
    """
)
POSSESSIVE = frozenset({"his", "her", "their"})
DEFINITE = _set("the this that these those it it's its there everyone everybody no all")
ADVERBS = _set(
    """
    also really just still always never only usually mostly absolutely actually now recently finally already
    currently both all sometimes often honestly kinda literally mainly genuinely basically officially proudly
    happily personally normally generally rarely seldom hardly secretly definitely deeply truly simply even
    once then probably
    """
)
VERBS = _set(
    """
    adore agree answer ask avoid bake bathe become believe bike bite blame book borrow bother break breathe
    breed brew bring build bury buy call camp care carry carve catch celebrate change charge chat check chew
    choose claim clean climb close coach code collect come commute compose convert cook count cover crave cry
    cut cycle dance deal declare decline deliver deploy despise detest dig dislike dive divide do doze draw
    dread dream dress drink drive drop dry earn eat edit employ enjoy enter explain face fail fall fancy farm
    fear feed feel fetch file fill film find finish fish fit fix fly fold follow forage forget foster freeze
    garden get give go grade grind grow guess hand handle happen hate have head hear help hike hire hit hold
    homeschool hope host hunt inherit intend invest iron join journal jog judge juggle keep kid kiteboard knit
    know lead learn leave lecture lend let lie lift like listen live loathe look lose love make manage march
    mark marry mean measure meet memorise mentor miss mow need obsess offer open order organise owe own pack
    paddle paint pay perform phone photograph pick pickle plan plant play pledge polish post pour pray prefer
    preach preserve process promise proofread prune publish put quilt quit race raise rap rate reach read rear
    record recycle refuse register rehearse rely remember rent repair report require rescue research resent
    restore retire return ride ring row run sail sand save say scale see sell send serve sew share shave ship
    shop shoot sign sing sit skate sketch ski skip sleep smoke snore sort spar speak spend spin stand start
    stay stick stop study submit suffer support surf swap swear swim take talk teach tell tend think throw
    tinker train translate travel treat trust try tutor type understand use visit volunteer vote wait wake
    walk want wash watch water wear weave weigh weld whittle win wish work worry wrap write
    """
)
"""Verbs in their base form, as they follow "I"."""
PAST = _set(
    """
    was were had did went got moved bought sold broke lost won met flew came left took gave found made told
    said began started finished passed failed became chose quit grew fell ran drove ate drank saw heard paid
    spent wrote read slept stood sat held kept led built caught taught brought thought sent hit cut put set
    let shut hurt split gotten been done born signed wore rode swam sang shot sewed knew drew threw tore woke
    stuck swore dug bit hid stole froze forgot felt meant lent bent dealt laid lay rang sank spoke understood
    withdrew burnt learnt dreamt
    """
)
SAME_IN_PAST = _set("read cut put hit set let shut quit split bet")
AUXILIARY = _set("can will would must should could might may shall is has isn't hasn't")
STATES = _set(
    """
    allergic based married engaged divorced retired vegan vegetarian pescatarian born obsessed terrified
    scared afraid fond addicted deaf blind dyslexic diabetic asthmatic epileptic autistic coeliac celiac
    lactose colourblind colour-blind color-blind left-handed right-handed single widowed pregnant fluent
    hooked raised originally currently from teetotal gluten-free intolerant
    """
)
"""What somebody is, told without "am"."""
NO_NAMES = frozenset(word.lower() for word in (*words.NOT_NAMES, *kin.NO_PERSON))
NO_END = _set("the a an my our is are was were i'm im i we of")
"""A statement does not end with one of these."""
BEFORE_OBJECTS = _set(
    """
    in at to from of for on near by called named the a an with visit love like my our his her and
    """
)
"""After these a capital names no subject."""
RELATIONS = (
    rf"{words.RELATIONS}|sis|bro|bf|gf|bff|nani|dadi|dada|lola|lolo|halmoni|abuela|abuelo|nonna|nonno|oma|opa|yiayia"
    r"|babushka|hubby|wifey|fiance|guy|bloke|kiddo|in-law|lad|lass|minister|vicar|priest|imam|rabbi|captain"
    r"|foreman|gaffer|line manager|team lead|director|head teacher|headteacher|headmaster|professor|student"
    r"|pupil|client|customer|patient|cleaner|gardener|builder|plumber|electrician|mechanic|hairdresser"
    r"|barber|solicitor|vet|nurse|midwife|coach|supplier|agent|editor|publisher|bandmate|classmate"
    r"|schoolmate|workmate|crewmate|drummer|bassist|singer|guitarist|conductor|rival|chicken|cockerel"
    r"|rooster|cow|bull|calf|sheep|ram|ewe|lamb|duck|goose|bee|fish|axolotl|chinchilla|hedgehog|mule"
    r"|sheepdog|cockapoo|kitty|doggo|staffie|mutt|mum-in-law|dad-in-law|mil|fil|sil|bil|wee one|little one"
    r"|middle one|sweetheart|lover|bride|groom|surgeon|consultant"
)
"""Who somebody may be to the author, beyond those that the grammar knows."""
_SMALL = """
    me you him us them it be been being am are were had does did not very too so into onto over under about
    off up down out back home here there today tomorrow yesterday tonight last next this one two three four
    five six seven eight nine ten new old big little whole own other same such each every both many much more
    most less few some any who whom which what why how mine yours in-law gets
"""
NO_SMALL_NAMES = _set(_SMALL).union(
    VERBS, PAST, AUXILIARY, ADVERBS, JOINING, DEFINITE, LEADING, SPEAKER, OWN, PRONOUN, map(third, VERBS)
)
"""Words in small letters that are no name after "my sister"."""
FINITE = frozenset(map(third, VERBS)).union(
    PAST, AUXILIARY, {"is", "are", "was", "were", "has", "have", "had", "does", "do", "am"}
)
"""Words with which a statement about somebody begins."""
THIRD = frozenset(map(third, VERBS)) | {"is", "isn't", "has", "hasn't", "does", "doesn't"}
"""Of these nobody is the subject who speaks of themselves."""
