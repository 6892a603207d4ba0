"""Rules about health and body (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_rules import ADJ, NOW, State, state
from services.compactor.domain.extracting_types import Category
from services.compactor.domain.extracting_verbs import forms

_FLAGS = re.IGNORECASE
_ITEMS = (
    r"(?:wheelchair|walker|hearing aids?|cane|screen reader|insulin pump|inhaler|pacemaker"
    r"|prosthe\w+|stick|guide dog"
    r"|cpap\w*|walking stick|white cane)"
)
_CONDITIONS = (
    r"(?:\w+(?:itis|osis|aemia|emia|algia|pathy|phobia|plegia|lepsy|thyroidism|lexia"
    r"|praxia)|\w+ (?:syndrome|disease"
    r"|disorder|palsy|sclerosis|apnoea|apnea|deficiency|bifida|fibrillation)|(?:type [12]"
    r"|gestational) diabetes|diabetes"
    r"|asthma|adhd|add|ocd|ptsd|ibs|pcos|ms|copd|hiv|autism|asperger'?s|coeliac|celiac"
    r"|crohn'?s|parkinson'?s|alzheimer'?s"
    r"|dementia|tourette'?s|migraines?|tinnitus|insomnia|vertigo|hay ?fever|eczema|gout"
    r"|glaucoma|cataracts|cancer|lupus"
    r"|sciatica|narcolepsy|anxiety|depression|(?:high|low) (?:blood pressure|blood sugar"
    r"|cholesterol|iron)|hypertension"
    r"|vitiligo|synaesthesia|synesthesia|(?:low|poor|partial|impaired) (?:vision|sight"
    r"|hearing)|a (?:heart|thyroid|kidney|back|knee"
    r"|hip|lung) (?:condition|problem)"
    r"|an? (?:bad|dodgy|trick|weak|artificial|replaced|new|fake|plastic|titanium|prosthetic) "
    r"(?:knee|back|hip|heart|shoulder|ankle|leg|wrist|foot|eye)"
    r"|an? (?:pacemaker|stoma|stutter|stammer|lisp|limp|cochlear implant|criminal record"
    r"|heart murmur|hernia))"
)
HEALTH: tuple[State, ...] = (
    state(
        rf"{NOW} (?P<o>(?:(?:severely|very|highly|badly|mildly|deathly|slightly"
        r"|quite) )?(?:allergic|intolerant) to .+)",
        Category.FACT,
        "allergy",
        plural=True,
        accepts=lambda o: (
            not re.search(
                r" to (?:mondays|work|people|stupidity|nonsense|bullshit|mornings|you|this|that|it)\b",
                o,
                _FLAGS,
            )
        ),
    ),
    state(
        rf"(?P<v>have|has) (?:got )?(?P<o>(?:a|an) {ADJ}(?:allergy|intolerance)\b.*)",
        Category.FACT,
        "allergy",
        plural=True,
    ),
    state(rf"{NOW} (?P<o>(?:{words.TRAITS}))", Category.FACT, "is", plural=True),
    state(
        rf"{NOW} (?P<o>(?:afraid|scared|terrified) of .+)",
        Category.FACT,
        "fear",
        plural=True,
        accepts=lambda o: not re.search(r"\bof (?:it|that|this|what|him|her|them|losing|the)\b", o),
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:type [12] )?(?:diabetes|asthma|adhd|dyslexia|epilepsy"
        r"|coeliac disease|celiac disease|arthritis|migraines|tinnitus"
        r"|insomnia|hay fever|autism|endometriosis|crohn's|hypertension|high blood pressure"
        r"|low blood pressure|synaesthesia|perfect pitch)\b.*)",
        Category.FACT,
        "has",
        plural=True,
    ),
    state(rf"(?P<v>{forms('use')}) (?P<o>(?:a|an) {ADJ}{_ITEMS}\b.*)", Category.FACT, "uses", plural=True),
    state(
        rf"(?P<v>{forms('use')}) (?P<o>(?-i:[A-Z])[\w.+#-]*(?: [\w.+#-]+){{0,3}} (?:for|as|on"
        r"|at) .+)",
        Category.FACT,
        "uses",
        plural=True,
    ),
    state(
        rf"(?P<v>{forms('wear')}) (?P<o>(?:reading )?(?:glasses|contact lenses|contacts"
        r"|a hearing aid|hearing aids|size .+|braces|dentures)\b.*)",
        Category.FACT,
        "wears",
        plural=True,
    ),
    state(rf"(?P<v>{forms('weigh')}) (?P<o>(?:about |around )?\d.+)", Category.FACT, "weight"),
    state(
        rf"{NOW} (?P<o>\d[\d.,]* ?(?:m|cm|metres|meters|feet|foot|ft)\b.*|\d'\d{{1,2}}(?: tall)?)",
        Category.FACT,
        "height",
        accepts=lambda o: "away" not in o and "from" not in o,
    ),
    state(
        rf"(?P<v>{forms('take')}) (?P<o>[\w -]+? (?:for my .+|(?:once|twice|three times) (?:a"
        r"|per) (?:day|week)|daily|every (?:day|morning|evening|night)))",
        Category.FACT,
        "takes",
        plural=True,
    ),
    state(r"was (?P<o>diagnosed with .+)", Category.FACT, "diagnosis", plural=True),
    state(
        r"(?:have |has )?(?P<v>quit|gave up|given up|stopped) (?P<o>(?:smoking|drinking|coffee"
        r"|alcohol|sugar|meat|gluten|dairy)\b.*)",
        Category.FACT,
        "gave-up",
        plural=True,
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:(?:severe|mild|bad|chronic|a bit of|some|early|late-stage"
        r"|stage \w+|terrible) )?"
        rf"{_CONDITIONS}\b.*)",
        Category.FACT,
        "has",
        plural=True,
        says=lambda m: re.sub(
            r"\b(c(?:o)?eliac|crohn's|parkinson's|alzheimer's)$", r"\1 disease", f"has {m['o']}"
        ),
        accepts=lambda o: not re.search(r"\b(?:about|over) (?:this|that|it|the)\b", o),
    ),
    state(
        rf"{NOW} (?P<o>(?:about |nearly )?[\w-]+ (?:weeks|months) (?:pregnant|along|sober"
        r"|clean)(?: with \w+)?)",
        Category.FACT,
        "pregnancy",
    ),
    state(
        rf"{NOW} (?P<o>(?:on (?!it\b|my|the|holiday|leave|a\b|an\b|hold|board|time|call|track"
        r"|fire|top|vacation)"
        r"(?:[\w-]+(?: and)? ){1,4}(?:for my|for the|since|every|daily|because of) .+))",
        Category.FACT,
        "takes",
        plural=True,
    ),
    state(
        r"(?P<v>am|is|are) (?P<o>on (?:[\w-]+ )?(?:\w*(?:formin|farin|insulin|statins?|pril"
        r"|traline|pine|tine|olol|azole|mab|xate|zepam|codone|profen"
        r"|amol|thyroxine|setine|pram)|antidepressants|antibiotics|blood thinners"
        r"|beta[- ]?blockers|steroids|the pill|hrt|dialysis|chemo|meds|medication"
        r"|painkillers|a (?:[\w-]+ )?diet|benefits|parental leave|maternity leave"
        r"|paternity leave)\b.*)",
        Category.FACT,
        "takes",
        plural=True,
    ),
    state(
        r"(?P<v>take|takes) (?P<o>(?:\d+ ?(?:mg|mcg|g|ml)|.+ (?:pills|tablets|drops|injections"
        r"|medication|meds|supplements)|\w*(?:formin|farin|insulin|statins?"
        r"|traline|olol|thyroxine|setine|pram|xate))\b.*)",
        Category.FACT,
        "takes",
        plural=True,
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:a|an) (?:\w+ )?(?:fear|phobia|terror) of .+)",
        Category.FACT,
        "fear",
        plural=True,
    ),
    state(
        r"(?P<v>get|gets) (?P<o>(?:\w+ ){0,2}(?:migraines|headaches|panic attacks|nosebleeds"
        r"|hay fever|heartburn|cold sores|car ?sick|sea ?sick|travel ?sick|motion sickness"
        r"|vertigo|dizzy spells|cramps|seizures|flashbacks|insomnia|hives)\b.*)",
        Category.FACT,
        "has",
        plural=True,
    ),
    state(
        rf"{NOW} (?P<o>(?:recovering from|undergoing|being treated for|having (?:chemo"
        r"|radiotherapy|dialysis)|waiting for (?:a|an|my|his|her) (?:\w+ )?(?:transplant"
        r"|operation|surgery|diagnosis|replacement)).*)",
        Category.FACT,
        "health",
        plural=True,
    ),
)
