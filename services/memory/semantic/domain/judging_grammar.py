"""Closed word classes of English, German, French and Spanish, as far as the judge needs them (SPEC S-7).

Lower case, without accents. `GRAMMARS` holds one grammar a language; the sets below it are of all languages.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.memory.semantic.domain.judging_cues import Language


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Words that say what a word beside them is.

    `single` are verbs whose object is one at a time: a home, a price, a time, a form of address. "have",
    "like" and "eat" are none of them.
    """

    determiners: frozenset[str]
    pronouns: frozenset[str]
    prepositions: frozenset[str]
    fillers: frozenset[str]
    copulas: frozenset[str]
    having: frozenset[str]
    verbs: frozenset[str]
    single: frozenset[str]

    def finite(self, word: str) -> bool:
        """Whether the word is a verb that can carry a clause."""
        return word in self.verbs or word in self.copulas or word in self.having or word in self.single

    def says_nothing(self, word: str) -> bool:
        """Whether the word only holds others together."""
        return any(
            word in words for words in (self.determiners, self.pronouns, self.prepositions, self.fillers)
        )


_ENGLISH = Grammar(
    determiners=_words("the a an this that these those my your his her its our their"),
    pronouns=_words("i he she it they we you me him us them who there user"),
    prepositions=_words(
        """in on at of to for from by with since after before during until under over about as according
        without like into than per between near and or but so off out up down through against around
        towards across behind above below"""
    ),
    fillers=_words(
        """please very really quite just only whole all always usually mostly own some any such then here
        s d m t re ve ll don doesn didn isn wasn which when while because no not never nothing yet
        already both each every well too also be been being both one ones way kind longer more much
        most even aside away"""
    ),
    copulas=_words("is are was were am remains"),
    having=_words("has have had owns own owned"),
    verbs=_words(
        """do did does can can't cannot could will would shall should may might must go goes went gone
        come comes came stay stays work works worked own like likes liked love loves loved hate hates
        hated enjoy enjoys enjoyed eat eats ate drink drinks drank taken make makes made get gets got
        give gives gave keep keeps kept play plays played read reads speaks spoke say says said tell
        tells told think thinks thought know knows knew see sees saw use used rode ride rides walk
        walks walked travel travels travelled flies fly flew meet meets met study studies studied learn
        learns learned teach teaches taught train trains trained lead leads led manage manages managed
        head heads join joins joined leave leaves left started began stop stops stopped ended finish
        finishes finished open opens opened closed sleep sleeps slept woke wore buy buys bought sell
        sells sold paid earned spend spends spent save saves want wants wanted need needs needed plan
        plans planned hope hopes wish wishes dream dreams sent show send sends avoid avoids follow
        follows followed believe believes become becomes became turn turns turned grow grows grew move
        moves moved switch switched swapped change changes changed retire retires retired die died sit
        sits stand stands lie lies belong belongs contain contains hold holds held store stores stored
        host hosts serve serves served measure measures share shares shared celebrate celebrates suffer
        suffers attend attends attended visit visits visited win wins won lose loses lost receive
        receives received wait waits faint faints repair repairs photograph photographs rise rose fall
        falls fell sing sings sang swim swims collect collects volunteer volunteers practise practises
        practice practices smoke smokes cook cooks bake bakes water waters feed feeds lived resided
        employed preferred uses speak speaks wears wear report reports support supports works takes
        take commute commutes listen listens watch watches record records publish published release
        releases released ship ships deploy deploys depend depends rely relies require requires expect
        expects allow allows let lets put puts set sets bring brings brought carry carries carried
        graduate graduated marry married born passed quit resigned cancelled adopted adopt adopts took
        arrived arrives arrive departs depart named book mix explain summarise summarize sign signs
        signed trust trusts translate translates design designs broke gave given drove write offer offers
        rents rent rented upgraded traded dropped lifted called kept wrote writes tends tend runs run
        recovered divorced separated quits"""
    ),
    single=_words(
        """live lives reside resides cost costs drive drives weigh weighs employ employs start starts
        begin begins end ends close closes prefer prefers pay pays earn earns call answer reply respond
        address format wake wakes charge charges"""
    ),
)
_GERMAN = Grammar(
    determiners=_words(
        """der die das den dem des ein eine einen einem einer eines mein meine meinen meiner sein seine
        seinen seiner ihr ihre ihren ihrem unser unsere dieser diese dieses"""
    ),
    pronouns=_words("er sie es ich wir man mich mir sich ihn ihm uns"),
    prepositions=_words(
        """im in am an zum zur vom beim von mit bei auf aus fur seit nach um pro als zu bis durch gegen
        uber unter vor ab ohne und oder aber ans ins wie"""
    ),
    fillers=_words(
        """bitte sehr nur ganz immer auch dass nicht kein keine keinen nie mehr noch schon meist gern gerne
        namens so"""
    ),
    copulas=_words("ist sind war waren bin bleibt"),
    having=_words("hat habe haben hatte hatten besitzt"),
    verbs=_words(
        """arbeitet arbeitete macht machte geht ging fuhr trinkt trank isst ass mag mochte spielt singt
        lernt studiert studierte kommt kam liest schreibt gehort findet hort liebt hasst bekommt bekam
        wird wurde kann muss soll nutzt verwendet kauft kaufte verkauft verkaufte sitzt steht raucht
        schlaft joggt trainiert unterrichtet leitet zog zieht nimmt lebte wohnte schaut kocht sammelt
        besucht backt"""
    ),
    single=_words(
        """kostet betragt lebt wohnt fahrt heisst beginnt endet zahlt antworte antworten nenn nenne
        schreib sprich tragt wiegt verdient schliesst offnet"""
    ),
)
_FRENCH = Grammar(
    determiners=_words("le la les l un une du mon ma mes son sa ses leur leurs notre nos ce cette ces"),
    pronouns=_words("il elle on ils elles je j nous c me m se s qui"),
    prepositions=_words(
        "a dans sur pour avec chez depuis apres par en de des d aux au sans vers comme et ou mais entre sous"
    ),
    fillers=_words("que qu n ne pas jamais tres plus toujours bien ce"),
    copulas=_words("est sont etait etaient suis reste"),
    having=_words("ont avait ai possede"),
    verbs=_words(
        """a habitait travaille travaillait aime adore deteste mange boit prend fait va vient joue parle
        lit ecrit etudie apprend vivait part dirige fume dort utilise gagne enseigne chante nage
        cuisine"""
    ),
    single=_words(
        """coute habite vit conduit commence finit paie prefere reponds repondez appelez appelle porte ferme
        ouvre pese"""
    ),
)
_SPANISH = Grammar(
    determiners=_words("el la los las un una unos unas mi mis su sus nuestro nuestra este esta"),
    pronouns=_words("yo ella ellos nosotros se le lo les me que"),
    prepositions=_words("a al en de del con por para desde tras segun hasta sobre entre como sin y o e pero"),
    fillers=_words("no nunca muy mas ya siempre tambien"),
    copulas=_words("es son era eran esta estan fue soy"),
    having=_words("tiene tenia tienen tengo"),
    verbs=_words(
        """vivia trabaja trabajaba gusta bebe come toma hace va viene juega habla lee estudia estudio
        aprende lleva usa fuma duerme dirige nacio canta toca ensena subieron subio dejo cambio vendio
        compro monta cocina colecciona"""
    ),
    single=_words(
        """vive cuesta conduce empieza termina paga prefiere respondeme responde llamame llama escribe cierra
        abre pesa"""
    ),
)
THING_VERBS = _words(
    """runs run reports report takes take opens open meets happens lasts listens stands findet offnet
    lauft dauert tagt ouvre dure passe abre dura funciona"""
)
"""Verbs whose object is one at a time if their subject is a thing: a version, an hour."""
GRAMMARS = {
    Language.ENGLISH: _ENGLISH,
    Language.GERMAN: _GERMAN,
    Language.FRENCH: _FRENCH,
    Language.SPANISH: _SPANISH,
    Language.OTHER: _ENGLISH,
}
"""The last is for the Latin words within another script."""
PAST = _words("was were war waren etait etaient era eran fue")
"""Copulas of the past: what they tell of may have happened more than once."""
LOCATIVES = _words("in on at near im am an auf bei a au dans sur chez en")
MOVES = (
    "move",
    "moving",
    "relocat",
    "transferr",
    "umgezogen",
    "verlegt",
    "zieht",
    "a demenage",
    "transfer",
    "se mud",
    "traslad",
)
"""How phrases begin that say a thing is elsewhere now."""
OTHER_KIN = _words(
    """弟 妹 兄 姉 父 母 妻 夫 息子 娘 祖母 祖父 哥 姐 爸 妈 儿子 女儿 丈夫 爷爷 奶奶 老板 同事 邻居
    上司 同僚 भाई बहन माँ पिता पत्नी पति बेटा बेटी दादा दादी اخوه اخته اخوها اختها والد والده والدته
    والدها والدتها زوج زوجه زوجته زوجها ابنه ابنها ابنته ابنتها شقيق شقيقه شقيقته شقيقها"""
)
KIN = _words(
    """mother father sister brother son daughter wife husband partner girlfriend boyfriend cousin aunt
    uncle nephew niece grandmother grandfather grandma grandpa parents child children kid baby boss
    manager neighbour neighbor colleague friend flatmate roommate teacher landlord ex stepmother
    stepfather mum mom dad twin godson goddaughter mutter vater schwester bruder sohn tochter frau mann
    oma opa tante onkel chef chefin nachbar nachbarin kollege kollegin freund freundin lehrer lehrerin
    mere pere soeur frere fils fille femme mari oncle cousine voisin voisine ami amie collegue patron
    madre padre hermana hermano hijo hija esposa esposo marido abuela abuelo tia tio primo prima jefe
    jefa vecino vecina amigo amiga"""
)
PROPERTIES = _words(
    """name surname nickname password pin code address email mail phone number doctor dentist gp therapist
    lawyer boss manager supervisor employer landlord favourite favorite deadline date day time venue
    location place size plan status version port budget price rent salary rate limit quota timeout
    title role topic subject colour color capital owner maintainer editor browser bank provider
    headquarters seat ceo president director chair chairman captain coach trainer team fee spouse wife
    husband partner girlfriend boyfriend hairdresser vet bedtime breakfast weight height age theme
    language meeting nachname passwort adresse telefonnummer arzt hausarzt zahnarzt chef chefin preis
    miete termin lieblingsfarbe beruf nom prenom mot loyer prix medecin couleur reunion directeur
    directrice patron nombre apellido contrasena direccion telefono medico precio alquiler jefe jefa"""
)
"""Nouns of which a subject has one at a time, so that "X is Y" leaves no place for "X is Z"."""
REGIONS = _words(
    """germany austria switzerland france spain portugal italy belgium netherlands holland luxembourg
    denmark sweden norway finland iceland england scotland wales ireland britain uk poland czechia
    slovakia slovenia hungary romania bulgaria greece turkey croatia serbia bosnia albania ukraine
    russia belarus estonia latvia lithuania europe africa asia america usa canada mexico brazil
    argentina chile peru colombia japan china korea taiwan india pakistan nepal thailand vietnam
    indonesia malaysia australia zealand egypt morocco tunisia kenya nigeria israel lebanon jordan iran
    iraq texas california florida bavaria tuscany brittany catalonia andalusia provence saxony
    deutschland osterreich schweiz frankreich spanien italien bayern allemagne espagne italie suisse
    belgique alemania espana francia italia suiza countryside suburbs city town village north south
    east west coast mountains abroad"""
)
"""Places that hold other places: a statement with one of them may say the same as a statement with a town."""
