"""Closed word classes of English, German, French and Spanish, as far as the judge needs them (SPEC S-7).

Lower case, without accents. `GRAMMARS` holds one grammar a language; the sets below it are of all languages.
"""

from __future__ import annotations

from services.memory.semantic.domain import judging_grammar_european as european
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_words import Grammar, words

_ENGLISH = Grammar(
    determiners=words("the a an this that these those my your his her its our their"),
    pronouns=words("i he she it they we you me him us them who there"),
    prepositions=words(
        """in on at of to for from by with since after before during until under over about as according
        without like into than per between near and or but so off out up down through against around
        towards across behind above below"""
    ),
    fillers=words(
        """please very really quite just only whole all always usually mostly own some any such then here
        s d m t re ve ll don doesn didn isn wasn which when while because no not never nothing yet
        already both each every well too also be been being both one ones way kind longer more much
        most even aside away"""
    ),
    copulas=words("is are was were am remains isn aren wasn weren"),
    having=words("has have had owns own owned"),
    verbs=words(
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
        recovered divorced separated quits don
        doesn didn hasn haven hadn won couldn wouldn owe
        owes owed rings rang suits fits sits seats occupies uses
        smells tastes looks look seems sounds feels find finds found passed sold paid handed hand picked
        pick renewed renew calls asks asked adores adore detests detest tolerate tolerates supports heats
        heat hosts ran got went met came built bought brought caught chose cut drew fell fought hit hurt
        kept laid lent lost put rode sang sat shot slept swam taught threw wore"""
    ),
    single=words(
        """live lives reside resides cost costs drive drives weigh weighs employ employs start starts
        begin begins end ends close closes prefer prefers pay pays earn earns call answer reply respond
        address format wake wakes charge charges"""
    ),
)
_GERMAN = Grammar(
    determiners=words(
        """der die das den dem des ein eine einen einem einer eines mein meine meinen meiner sein seine
        seinen seiner ihr ihre ihren ihrem unser unsere dieser diese dieses"""
    ),
    pronouns=words("er sie es ich wir man mich mir sich ihn ihm uns"),
    prepositions=words(
        """im in am an zum zur vom beim von mit bei auf aus fur seit nach um pro als zu bis durch gegen
        uber unter vor ab ohne und oder aber ans ins wie"""
    ),
    fillers=words(
        """bitte sehr nur ganz immer auch dass nicht kein keine keinen nie mehr noch schon meist gern gerne
        namens so"""
    ),
    copulas=words("ist sind war waren bin bleibt"),
    having=words("hat habe haben hatte hatten besitzt"),
    verbs=words(
        """arbeitet arbeitete macht machte geht ging fuhr trinkt trank isst ass mag mochte spielt singt
        lernt studiert studierte kommt kam liest schreibt gehort findet hort liebt hasst bekommt bekam
        wird wurde kann muss soll nutzt verwendet kauft kaufte verkauft verkaufte sitzt steht raucht
        arbeite trinke esse spiele gehe mache nehme lese lerne liebe hasse rauche nutze schlafe fahre
        unterrichte leite heize schlaft joggt trainiert unterrichtet leitet zog zieht nimmt lebte wohnte
        schaut kocht sammelt
        besucht backt"""
    ),
    single=words(
        """wohne lebe heisse zahle wiege verdiene kostet betragt lebt wohnt fahrt heisst beginnt endet
        zahlt antworte antworten nenn nenne
        schreib sprich tragt wiegt verdient schliesst offnet"""
    ),
)
_FRENCH = Grammar(
    determiners=words("le la les l un une du mon ma mes son sa ses leur leurs notre nos ce cette ces"),
    pronouns=words("il elle on ils elles je j nous c me m se s qui"),
    prepositions=words(
        "a dans sur pour avec chez depuis apres par en de des d aux au sans vers comme et ou mais entre sous"
    ),
    fillers=words("que qu n ne pas jamais tres plus toujours bien ce"),
    copulas=words("est sont sommes etait etaient suis reste"),
    having=words("ont avait ai possede"),
    verbs=words(
        """mange bois prends fais vais joue aime adore fume utilise a habitait travaille travaillait
        aime adore deteste mange boit prend fait va vient joue parle
        lit ecrit etudie apprend vivait part dirige fume dort utilise gagne enseigne chante nage
        cuisine"""
    ),
    single=words(
        """coute habite vit conduit commence finit paie prefere reponds repondez appelez appelle porte ferme
        ouvre pese"""
    ),
)
_SPANISH = Grammar(
    determiners=words("el la los las un una unos unas mi mis su sus nuestro nuestra este esta"),
    pronouns=words("yo ella ellos nosotros se le lo les me que"),
    prepositions=words("a al en de del con por para desde tras segun hasta sobre entre como sin y o e pero"),
    fillers=words("no nunca muy mas ya siempre tambien"),
    copulas=words("es son era eran esta estan fue soy"),
    having=words("tiene tenia tienen tengo"),
    verbs=words(
        """trabajo bebo como tomo hago voy juego hablo leo estudio uso fumo toco enseno vivia trabaja
        trabajaba gusta bebe come toma hace va viene juega habla lee estudia estudio
        aprende lleva usa fuma duerme dirige nacio canta toca ensena subieron subio dejo cambio vendio
        compro monta cocina colecciona"""
    ),
    single=words(
        """vivo prefiero pago vive cuesta conduce empieza termina paga prefiere respondeme responde
        llamame llama escribe cierra
        abre pesa"""
    ),
)
THING_VERBS = words(
    """runs run reports report takes take opens open meets happens lasts listens stands findet offnet
    lauft dauert tagt ouvre dure passe abre dura funciona"""
)
"""Verbs whose object is one at a time if their subject is a thing: a version, an hour."""
GRAMMARS = {
    Language.ENGLISH: _ENGLISH,
    Language.GERMAN: _GERMAN,
    Language.FRENCH: _FRENCH,
    Language.SPANISH: _SPANISH,
    Language.ITALIAN: european.ITALIAN,
    Language.PORTUGUESE: european.PORTUGUESE,
    Language.DUTCH: european.DUTCH,
    Language.POLISH: european.POLISH,
    Language.RUSSIAN: european.RUSSIAN,
    Language.TURKISH: european.TURKISH,
    Language.OTHER: _ENGLISH,
}
"""The last is for the Latin words within another script."""
USER = "i"
"""Marks what is the user's own."""
CALLED = words("called heisst appelle llama chiama heet named")
"""Words that a name follows."""
PLACED = words("kept stored parked located based standing hanging placed")
"""Words between a copula and a place."""
NAME_ARTICLES = words("o a der die de la le il el")
"""Articles that some languages and dialects put before a person's name."""
AFTER_NAME = words("s and und et y e")
"""What may follow a name at the beginning, besides a verb."""
SUPERLATIVE = words(
    """favourite favorite best biggest worst closest main usual current default primary preferred
    lieblings beste bester prefere preferee favorito favorita mejor principal preferito preferita migliore
    preferido preferida favoriete ulubiony ulubiona ulubione"""
)
"""Words that leave a slot one place."""
ABSTRACT = words(
    """thing things stuff idea plan plans thought hope dream fear habit goal notion practice business taste
    love interest tone style form format way manner addiction phobia use option allergy diet trip flight
    holiday visit job membership subscription account contract appointment deal"""
)
"""Nouns that say little of their own: giving up the idea of something gives up the thing."""
ON = words("on enabled active activated open up running working available public fine fixed")
OFF = words("off disabled inactive closed down broken unavailable private deactivated")
LIKING = words(
    "likes like loves love enjoys enjoy adores adore fond mag liebt aime adore gusta encanta adora ama"
)
DISLIKING = words(
    "hates hate dislikes dislike detests detest loathes loathe hasst deteste odia detesta odeia"
)
PLURAL_VERBS = words("are were have go do come cost live work take run start end close open stay need")
"""English verbs that tell "uploads go" from "Lukas goes"."""
NEW = words("new neu neue neuen neuer neues nouveau nouvelle nuevo nueva nuovo nuova novo nova nieuw nieuwe")
OPPOSITES = ((LIKING, DISLIKING), (ON, OFF))
"""Words that say the contrary of each other of one thing."""
STATES = words(
    """engaged married insured employed retired divorced based enrolled registered subscribed allergic
    addicted located scheduled booked hooked qualified licensed named called separated widowed bored
    interested signed"""
)
"""Participles that tell of a state and not of an event."""
PAST_VERBS = words(
    """went met bought got had made took gave ran won lost sold wrote found left saw knew thought told
    said came became began broke brought built caught chose drew fell flew forgot grew heard held hurt led
    lent paid rode rose sang sat sent shot slept spent stood swam taught threw won"""
)
IRREGULAR = {
    "children": "child", "people": "person", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "knives": "knife", "wives": "wife", "lives": "live",
    "written": "write", "wrote": "write",
    "driving": "drive", "driven": "drive", "drove": "drive", "drunk": "drink", "drank": "drink", "ate": "eat",
    "eaten": "eat", "bought": "buy", "sold": "sell", "paid": "pay", "sent": "send", "taught": "teach",
    "spoke": "speak", "spoken": "speak", "wore": "wear", "worn": "wear", "kept": "keep", "sang": "sing",
    "sung": "sing", "swam": "swim", "ran": "run", "led": "lead", "met": "meet", "made": "make",
    "built": "build",
    "flying": "fly", "flew": "fly", "slept": "sleep", "rode": "ride", "began": "begin", "thirds": "third",
}  # fmt: skip
"""English forms that a stemmer leaves apart."""
PAST = words("was were war waren etait etaient era eran fue")
"""Copulas of the past: what they tell of may have happened more than once."""
LOCATIVES = words("in on at near under behind above beside inside im am an auf bei a au dans sur chez en")
MOVES = (
    "move",
    "deplac",
    "spostat",
    "verplaats",
    "przenies",
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
OTHER_KIN = words(
    """弟 妹 兄 姉 父 母 妻 夫 息子 娘 祖母 祖父 哥 姐 爸 妈 儿子 女儿 丈夫 爷爷 奶奶 老板 同事 邻居
    上司 同僚 भाई बहन माँ पिता दोस्त पड़ोसी पत्नी पति बेटा बेटी दादा दादी اخوه اخته اخوها اختها والد والده والدته
    والدها والدتها زوج زوجه زوجته زوجها ابنه ابنها ابنته ابنتها شقيق شقيقه شقيقته شقيقها
    جاري صديقي اخي اختي ابي امي والدي والدتي زوجي زوجتي 동생 형 누나 오빠 언니 아버지
    어머니 엄마 아빠 남편 아내 아들
    할머니 할아버지 이웃 동료 친구 사장"""
)
KIN = words(
    """mother father sister brother son daughter wife husband partner girlfriend boyfriend cousin aunt
    uncle nephew niece grandmother grandfather grandma grandpa parents child children kid baby boss
    manager neighbour neighbor colleague friend flatmate roommate teacher landlord ex stepmother
    stepfather mum mom dad twin godson goddaughter mutter vater schwester bruder sohn tochter frau mann
    oma opa tante onkel chef chefin nachbar nachbarin kollege kollegin freund freundin lehrer lehrerin
    mere pere soeur frere fils fille femme mari oncle cousine voisin voisine ami amie collegue patron
    papa maman grand-pere grand-mere neveu niece beau-frere belle-soeur compagnon compagne
    fratello sorella figlio figlia moglie marito nonno nonna zio zia cugino cugina vicino vicina amico
    amica collega capo suocera suocero genero nipote pai mae irmao irma filho filha esposo mulher
    avo sobrinho vizinho vizinha chefe broer zus vader moeder zoon
    dochter vrouw echtgenoot oom neef nicht buurman buurvrouw buren vriend vriendin baas
    schwager schwagerin neffe nichte eltern grossmutter grossvater enkel enkelin cunado cunada sobrino
    sobrina suegra suegro nieto nieta brother-in-law sister-in-law mother-in-law father-in-law
    grandson granddaughter grandchild stepson stepdaughter fiance fiancee spouse tenant
    madre padre hermana hermano hijo hija esposa esposo marido abuela abuelo tia tio primo prima jefe
    jefa vecino vecina amigo amiga"""
)
KIN_STEMS = tuple(
    words(
        """matk ojciec ojca ojcu siostr brata bratu synow corka corki corce zona zony maz babci dziad sasiad
        koleg kolez przyjaci szefow kuzyn wujek wujk ciotk ciocia мам пап мать матер отец отца
        сестр брат сына сыну дочь дочер жена жены жене мужа мужу бабушк дедушк сосед коллег друга
        другу подруг начальник тетя тети дядя дяди кузен племянни annem annes babam babas kardes
        ablam abla abim oglum oglu kızım karım kocam kocas esim amcam dayım teyzem halam komsu
        arkadas patronum kuzen"""
    )
)
"""How such words begin in Polish, Russian and Turkish."""
KIN_LETTERS = 5
"""Only a longer word is held to be an inflected form."""
KIN_ENDING = 3
"""An inflected form has at most so many letters more."""
FOR = words("for fur pour para per voor")
"""Words that lead to what something is for."""
TO_WHERE = words("to at in on for")
"""Words that lead to where something is, or what it is for."""
OTHERS = words(
    """other another second andere anderer anderes zweite autre deuxieme otro otra segundo altro altra secondo
    outro outra inny inna druga drugi другои другая второи diger baska ikinci"""
)
"""Words that tell one thing from another of its sort."""


def is_kin(word: str) -> bool:
    """Tells whether a word names a relative, a friend, a neighbour or somebody from work."""
    if word in KIN or word.startswith(KIN_STEMS):
        return True
    return len(word) > KIN_LETTERS and any(word[:-end] in KIN for end in range(1, KIN_ENDING + 1))


PROPERTIES = words(
    """contact name surname nickname password pin code address email mail phone number doctor dentist gp
        therapist
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
REGIONS = words(
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
