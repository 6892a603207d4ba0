"""English words that the extraction of facts knows (SPEC J-8)."""

from __future__ import annotations

import re

SINGLE_RELATIONS = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|fiancée|fiancé|fiancee|fiance|mother"
    "|mum|mom|father|dad"
    "|mother-in-law|father-in-law|ex-husband|ex-wife|ex|best friend|boss|manager|landlord"
    "|landlady|supervisor"
    "|doctor|dentist|therapist|accountant|lawyer|trainer|gp|physio|stepmum|stepdad"
    "|stepmom|birth mother|other half"
)
PLURAL_RELATIONS = (
    "sister|brother|son|daughter|child|kid|baby|toddler|twin|aunt|uncle|cousin|niece|nephew"
    "|grandmother|grandma"
    "|grandfather|grandpa|granddad|granny|gran|grandson|granddaughter|stepmother|stepfather"
    "|stepson|stepdaughter"
    "|stepbrother|stepsister|godfather|godmother|godson|goddaughter|brother-in-law"
    "|sister-in-law|son-in-law"
    "|daughter-in-law|half-brother|half-sister|friend|flatmate|roommate|housemate|neighbour"
    "|neighbor|colleague"
    "|coworker|co-worker|teammate|tutor|mentor|teacher|assistant|nanny|roomie|mate|buddy"
    "|bestie|pal|pen pal|auntie"
    "|nan|nana|grandad|godchild|grandchild|grandkid|great-grandmother"
    "|great-grandfather|great-aunt"
    "|great-uncle|lodger|tenant|apprentice|trainee|carer|childminder|babysitter"
    "|youngest|eldest|oldest"
    "|business partner|training partner|girl|boy"
)
PETS = (
    "dog|cat|puppy|pup|kitten|rabbit|bunny|hamster|guinea pig|gerbil|rat|horse|pony|mare"
    "|foal|donkey|llama|alpaca|goat"
    "|pig|hen|parrot|canary|cockatiel|tortoise|turtle|terrapin|gecko|snake|lizard|iguana"
    "|goldfish|budgie|ferret|pet"
    "|greyhound|labrador|lab|beagle|poodle|terrier|spaniel|collie|corgi|dachshund"
    "|retriever|whippet|pug|husky|tomcat"
)
RELATIONS = f"{SINGLE_RELATIONS}|{PLURAL_RELATIONS}|{PETS}"
KIN_PLURALS = (
    "sisters|brothers|sons|daughters|children|kids|twins|twin boys|twin girls|siblings"
    "|grandchildren|grandkids"
    "|nieces|nephews|cousins|stepchildren|boys|girls"
)
PET_PLURALS = (
    "dogs|cats|puppies|kittens|rabbits|hamsters|guinea pigs|horses|ponies|parrots"
    "|tortoises|hens|chickens|ducks|goats"
    "|sheep|alpacas|geckos|snakes|budgies|canaries|ferrets|rats|bees|pets"
)
GROUPS = f"parents|grandparents|in-laws|flatmates|neighbours|neighbors|{KIN_PLURALS}|{PET_PLURALS}"
"""Relatives of whom one speaks together."""
KINSHIP = re.compile(rf"^(?:{SINGLE_RELATIONS}|{PLURAL_RELATIONS})$")
SINGLE = re.compile(rf"^(?:{SINGLE_RELATIONS})$")
RELATION_ADJECTIVES = (
    "older|elder|eldest|oldest|younger|youngest|little|big|middle|twin|late|only|first|second"
    "|third|former|new|old"
    "|other|kid|baby|wee|best|half|dear old|ex|adoptive|biological|great|host|next-door"
    "|upstairs|downstairs|closest|dear|adopted|foster"
)
NOT_NAMES = frozenset(
    [
        "I",
        "The",
        "A",
        "An",
        "And",
        "But",
        "So",
        "My",
        "Our",
        "We",
        "He",
        "She",
        "They",
        "It",
        "This",
        "That",
        "In",
        "On",
        "At",
        "Is",
        "Was",
        "Has",
        "Had",
        "Will",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
        "January",
        "February",
        "March",
        "April",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "Who",
        "Which",
        "Everyone",
        "Everybody",
        "Someone",
        "Somebody",
        "Nobody",
        "Anyone",
        "Anybody",
        "Everything",
        "Something",
        "Nothing",
        "Both",
        "All",
        "Most",
        "Some",
    ]
)
_ROLE_LIST = (
    "nurse|chef|cook|pilot|judge|student|vet|coach|clerk|priest|monk|nun|poet|author|midwife"
    "|surgeon|architect"
    "|scientist|lawyer|attorney|dentist|doctor|gp|ceo|cto|cfo|intern|trainee|apprentice"
    "|freelancer|entrepreneur"
    "|consultant|accountant|assistant|translator|interpreter|postwoman|postman|firefighter"
    "|carpenter|plumber|smith"
    "|guide|guard|mechanic|technician|analyst|scout|undergraduate|postdoc|professor|lecturer"
    "|pharmacist|paramedic"
    "|sailor|tailor|miller|farmer|teacher|engineer|developer|programmer|designer|manager"
    "|writer|editor|painter"
    "|photographer|gardener|baker|butcher|barber|hairdresser|waiter|waitress|actor|actress"
    "|dancer|singer|musician"
    "|librarian|electrician|politician|physician|optician|historian|veterinarian|dietitian"
    "|beekeeper|bookkeeper"
    "|shopkeeper|bookseller|cabinetmaker|watchmaker|brewer|winemaker|driver|officer|soldier"
    "|detective|researcher"
    "|biologist|chemist|physicist|economist|journalist|therapist|psychologist|artist|pianist"
    "|florist|geologist"
    "|soprano|drummer|violinist|cellist|welder|bricklayer|roofer|glazier|tiler|lifeguard"
    "|secretary|receptionist"
    "|pensioner|retiree|widow|widower|orphan|diver|climber|runner|cyclist|lace maker|tutor"
    "|trainer|auditor|broker"
    "|banker|cashier|courier|caretaker|janitor|ranger|forester|fisherman|fisherwoman"
    "|tattooist|barista|bartender"
    "|producer|director|conductor|composer|sculptor|potter|weaver|jeweller|goldsmith"
    "|blacksmith|stonemason|mason"
    "|mathematician|statistician|astronomer|meteorologist|curator|archivist|archaeologist"
    "|linguist|publisher"
    "|paralegal|notary|diplomat|ambassador|mayor|councillor|social worker|data scientist"
    "|stay-at-home (?:mum|mom|dad)"
    "|dev|web dev|dj|postie|vicar|copywriter|sysadmin|barrister|solicitor|magistrate"
    "|registrar|housewife|homemaker|stylist|chauffeur"
    "|steward|stewardess|referee|umpire|jockey|farrier|undertaker|deacon|organist"
    "|stay[- ]at[- ]home (?:mum|mom|dad|parent|mother|father)"
    "|cop|policeman|policewoman|cabbie|bookie|model|youtuber|streamer|influencer|magician"
    "|comedian|chaplain|doula|dog walker|au pair|temp"
    "|foreman|signalman|bellringer|bell ringer|crane operator|train driver|bus driver"
    "|data analyst|project manager|product manager|qa"
    "|pastor|rabbi|imam|captain|machinist|surveyor|estate agent|travel agent|agent|salesman"
    "|saleswoman|salesperson"
)
_ROLE_SUFFIX = (
    r"\w+ (?:attendant|assistant|superintendent|student|operator|worker|agent|surgeon|chef"
    r"|hand|clerk|lead|head|man|woman"
    r"|officer)|\w{2,}(?:brarian|inarian|eer|grapher|nomist|ologist|therapist|monger)|"
    r"\w{2,}(?:ologist|ographer|ician|smith|wright|keeper|maker|woman|therapist|teacher"
    r"|engineer|worker)"
)
_ROLE = re.compile(rf"\b(?:{_ROLE_LIST}|{_ROLE_SUFFIX})$", re.IGNORECASE)
_HEAD_END = re.compile(
    r",| (?:before|after|until|when|while|because|so|ever|all|over|up|down|out|once|if"
    r"|just|later|in|at|for|of|from|with|and|who|that|by|on|since|near|but|to|working"
    r"|specialising"
    r"|specializing|based|now"
    r"|these|as|again|there|here|myself|himself|herself|too|full-time|part-time)\b"
)
DIETS = (
    "vegan|plant[- ]based|dairy[- ]free|gluten[- ]free|keto|vegetarian|pescatarian|flexitarian"
    "|teetotal|a vegan|a vegetarian|a pescatarian|a flexitarian"
)
TRAITS = (
    "left[- ]handed|right[- ]handed|ambidextrous|colou?r[- ]?blind|deaf(?: in (?:one|my"
    "|his|her)(?: left| right)? ear)?|blind(?: in one eye)?|dyslexic|diabetic|vaccinated"
    "|teetotal|dyspraxic"
    "|asthmatic|epileptic|autistic"
    "|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac|bilingual|trilingual"
    "|short[- ]?sighted|near[- ]?sighted|long[- ]?sighted|far[- ]?sighted|night[- ]?blind|on the spectrum"
    "|retired|semi-retired|self[- ]employed|unemployed|pregnant|married|divorced|widowed|single"
    "|gay|lesbian|bisexual"
    "|queer|trans|non-?binary|asexual|agnostic|quaker|sikh|mormon|hard of hearing"
    "|partially sighted|anaemic|hypermobile"
    "|short-tempered|tone-?deaf|nocturnal|red-green colou?r-?blind|hindu|jewish|muslim"
    "|catholic|christian|buddhist|atheist"
    "|an atheist|kosher|halal"
)
POSSESSIONS = (
    "car|van|motorbike|motorcycle|scooter|bike|bicycle|boat|house|flat|apartment|cottage"
    "|cabin|garden|allotment|farm"
    "|piano|guitar|violin|cello|workshop|studio|shop|bakery|café|cafe|restaurant|company"
    "|business|degree|phd|master's"
    "|allergy|intolerance|diabetes|asthma|adhd|dyslexia|epilepsy|migraines|stutter|pacemaker"
    "|tattoo|licence|license"
    "|greenhouse|caravan|sailboat|vineyard|beehives?|telescope|kiln|blog|podcast|newsletter"
    "|hearing aid|prosthesis|record|criminal record|season ticket|shed|mortgage|pension"
    "|citizenship|passport|green card"
    "|scar|limp|twin|diploma|certificate|black belt|lodger|tenant|stall|practice|side job|second job"
    "|tractor|truck|lorry|moped|campervan|camper|kayak|canoe|yacht|narrowboat|barge"
    "|tent|trailer|pond|pool|sauna"
    "|hot tub|loom|sewing machine|3d printer|harp|banjo|ukulele|accordion|saxophone"
    "|trumpet|clarinet|flute|drum kit"
)
APPOINTMENTS = (
    "appointment|meeting|interview|exam|test|driving test|flight|surgery|operation"
    "|presentation|dinner|date|audition"
    "|concert|hearing|viewing|recital|rehearsal|check-up|checkup|scan|call|deadline|party"
    "|performance|match|game|trip"
    "|wedding|birthday|anniversary|conference|workshop|class|lesson|training|court date"
    "|job interview|consultation"
    "|evening|sports day|school play|fete|fair|retreat|hen do|stag do|sleepover|open day"
    "|induction|ceremony|auction|session|webinar|festival"
    "|booking|reservation|biopsy|ultrasound|jab|vaccine|blood test|screening|barbecue|bbq"
    "|picnic|brunch|lunch|christening|baptism|bar mitzvah"
    "|race|marathon|tournament|gig|visit|inspection|train|delivery|vaccination|graduation"
    "|reunion|funeral"
)
ATTRIBUTES = (
    "shoe size|dress size|ring size|clothes size|blood type|blood group|phone number"
    "|mobile number|email|e-mail"
    "|email address|e-mail address|address|home address|time zone|timezone|height|pronouns"
    "|surname|last name"
    "|maiden name|middle name|nickname|username|star sign|zodiac sign|hometown|home town"
    "|native language"
    "|first language|mother tongue|nationality|major|car insurance|health insurance|insurance"
    "|bank|employer"
    "|licence plate|license plate|passport|shift|hobby|hobbies|job title|job|profession"
    "|religion|salary"
    "|membership number|postcode|zip code|postal code|landline|wifi network|handle|degree"
    "|name day|anniversary|wifi|thesis|eye colou?r|lucky number|number plate|plate"
    "|student number|member number|customer number|flight number"
    "|booking reference|collar size|hat size|glove size|seat|locker|favou?rite|weight"
    "|birth name|birthplace|citizenship"
    "|allergy|diet|pronoun|gamertag|callsign|extension|work number"
)
DEVICES = (
    "car|bike|phone|laptop|computer|tablet|camera|motorbike|van|bicycle|boat|piano|guitar"
    "|house|flat|apartment"
)
SECRETS = re.compile(
    r"\b(?:password|passwort|passphrase|pin|pin code|secret|api key|token|cvv|cvc|card number"
    r"|credit card|iban"
    r"|account number|social security|ssn|mot de passe|contraseña|clave)\b",
    re.IGNORECASE,
)
_TAKEN_TESTS = (
    "driving theory blood eye hearing road citizenship fitness swimming forklift drug pregnancy maths math"
    " english spelling history chemistry language allergy stress smear"
)
_TAKEN_CLASSES = "yoga pottery cooking dance swimming art language spin evening welding sewing drawing"
_NO_SOFTWARE = "".join(f"(?<!{word} )" for word in f"{_TAKEN_TESTS} {_TAKEN_CLASSES}".split())
CODE_TALK = re.compile(
    rf"\b{_NO_SOFTWARE}(?:function|script|code|regex|sql|query|python|javascript|css|html|json|csv|column"
    r"|array|loop|class|method|api"
    r"|server|endpoint|database|dataset|table|variable|string|file|bug|commit|branch|test"
    r"|essay|paragraph|sentence|error"
    r"|module|package|repo|repository|container|cluster|prompt|version|schema|compiler|build"
    r"|pipeline)s?\b",
    re.IGNORECASE,
)
ERRANDS = (
    "buy|call|phone|ring|pay|book|renew|order|pick up|send|return|submit|water|email|e-mail"
    "|mail|schedule|cancel|visit"
    "|clean|wash|file|register|sign|hand in|collect|drop off|pack|finish|repair|replace|mow"
    "|paint|feed|post"
    "|reschedule|confirm|take out|get a|get some|fetch|drop|deliver|print|fill in|fill out"
    "|apply for|contact"
    "|make an appointment|make a reservation|arrange|organi[sz]e|reply to|write to|transfer|empty|iron"
    "|check in|pick|service|charge|study for|revise for|practise|practice|invoice|mend|fix"
    "|hang|vacuum|tidy|bake|cook"
    r"|get (?:the|my|our|his|her) [\w ]+? (?:serviced|fixed|repaired|cleaned|checked"
    r"|signed|printed|done|sorted|cut|tested|vaccinated|back)"
    "|rent|sell|invite|upload|book in|walk|text|go to|go shopping"
)
CARRIED = (
    "live|lives|work|works|love|loves|like|likes|hate|hates|have (?:a|an|two|three|to|been)"
    r"|has (?:a|an|two|three|four|five|six|\d+|no|been)|am"
    "|is|was|grew|moved|study|studies|speak|speaks|enjoy|enjoys|prefer|prefers|own|owns|drive"
    "|drives|teach|teaches|runs?"
    "|plays?|need to|must|do not|does not|can not stand|retired (?:in|from|at|last|after)|graduated"
    "|married|bought"
    "|started|collects?|goes|adore"
    r"|adores|detest|sing|sings|got|became|broke|sold|left(?! (?:side|hand|leg|arm|eye|ear|knee|hip"
    r"|foot)\b)|joined|won|lost|passed|failed"
    "|wears|uses|keeps|rides|makes"
    r"|gets? (?:the|our|my) \w+ on|can not (?:eat|have|swim|drive|stand)|had|moving"
    r"|breeds?|grows?|coach(?:es)?|volunteers?|commutes?"
)
"""With these a clause goes on about the subject of the one before."""
HABITS = "only ever|only|usually|normally|generally|typically|mostly|always"
MANNERS = (
    "really|absolutely|totally|much(?= prefer)|far(?= prefer)|just|also|still|currently|now|recently"
    "|already|actually|both"
    "|simply|truly|mainly"
    "|originally|finally|definitely|officially|especially|particularly|quite|very much|so"
    "|ever since"
    "|happily|proudly|permanently"
)


_AGENT = re.compile(r"\b\w{2,}(?:er|or|ist)$", re.IGNORECASE)
_NO_TRADE = re.compile(
    r"(?:loser|winner|lover|believer|stranger|newcomer|beginner|starter|sleeper|eater|owner"
    r"|user|customer|member|number|matter"
    r"|monster|disaster|fighter|survivor|sinner|dreamer|drinker|smoker|talker|thinker|listener"
    r"|learner|reader|follower|player"
    r"|walker|killer|sucker|goner|outsider|insider|foreigner|helper|mother|father|brother"
    r"|sister|daughter|other|power|letter"
    r"|order|partner|sufferer|donor|visitor|factor|error|minor|major|junior|senior|supporter"
    r"|hater|hoarder|worrier|quitter"
    r"|joker|planner|riser|bachelor|teenager|speaker|optimist|pessimist|perfectionist|realist"
    r"|idealist|feminist|minimalist"
    r"|terrorist|racist|narcissist|purist|list|tourist|newbie|caller|passenger|prisoner|voter"
    r"|subscriber|holder|poor|sober"
    r"|under|over|former|better|older|younger|later|latter|corner|computer|hamster|tiger"
    r"|spider|summer|winter|peer|volunteer"
    r"|offer|answer|trigger|finger|master|character|super|folder|server|docker|buffer|dealer"
    r"|breaker|sitter)$",
    re.IGNORECASE,
)


def is_role(phrase: str) -> bool:
    """Whether a phrase names what somebody is by trade or standing: its last noun decides."""
    head = _HEAD_END.split(phrase, maxsplit=1)[0]
    return bool(_ROLE.search(head)) or bool(_AGENT.search(head) and not _NO_TRADE.search(head))
