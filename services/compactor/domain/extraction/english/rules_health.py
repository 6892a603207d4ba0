"""Rules about health and body (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.rules import ADJ, NOW, State, state
from services.compactor.domain.extraction.english.verbs import forms
from services.compactor.domain.extraction.facts import Category

_FLAGS = re.IGNORECASE
_ITEMS = (
    r"(?:wheelchair|walker|hearing aids?|cane|screen reader|insulin pump|inhaler|pacemaker|prosthe\w+"
    r"|stick|guide dog|cpap\w*|walking stick|white cane)"
)
_CONDITIONS = (
    r"(?:\w+(?:itis|osis|aemia|emia|algia|pathy|phobia|plegia|lepsy|thyroidism|lexia|praxia)"
    r"|\w+ (?:syndrome|disease|disorder|palsy|sclerosis|apnoea|apnea|deficiency|bifida|fibrillation)"
    r"|(?:type [12]|gestational) diabetes|diabetes|asthma|adhd|add|ocd|ptsd|ibs|pcos|ms|copd|hiv|autism"
    r"|asperger'?s|coeliac|celiac|crohn'?s|parkinson'?s|alzheimer'?s|dementia|tourette'?s|migraines?"
    r"|tinnitus|insomnia|vertigo|hay ?fever|eczema|gout|glaucoma|cataracts|cancer|lupus|sciatica"
    r"|narcolepsy|anxiety|depression|(?:high|low) (?:blood pressure|blood sugar|cholesterol|iron)"
    r"|hypertension|vitiligo|synaesthesia|synesthesia|(?:low|poor|partial|impaired) (?:vision|sight"
    r"|hearing)|a (?:heart|thyroid|kidney|back|knee|hip|lung) (?:condition|problem)|an? (?:bad|dodgy|trick"
    r"|weak|artificial|replaced|new|fake|plastic|titanium|prosthetic) (?:knee|back|hip|heart|shoulder"
    r"|ankle|leg|wrist|foot|eye)|an? (?:pacemaker|stoma|stutter|stammer|lisp|limp|cochlear implant"
    r"|criminal record|heart murmur|hernia))"
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
        r"(?P<v>have|has) (?P<o>(?:type [12] )?(?:diabetes|asthma|adhd|dyslexia|epilepsy|coeliac disease"
        r"|celiac disease|arthritis|migraines|tinnitus|insomnia|hay fever|autism|endometriosis|crohn's"
        r"|hypertension|high blood pressure|low blood pressure|synaesthesia|perfect pitch)\b.*)",
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
        r"(?:have |has )?(?P<v>quit|gave up|given up|stopped) (?P<o>(?:smoking|drinking|coffee|alcohol"
        r"|sugar|meat|gluten|dairy)\b.*)",
        Category.FACT,
        "gave-up",
        plural=True,
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:(?:severe|mild|bad|chronic|a bit of|some|early|late-stage|stage \w+"
        r"|terrible) )?"
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
        r"|fire|top|vacation)(?:[\w-]+(?: and)? ){1,4}(?:for my|for the|since|every|daily|because of) .+))",
        Category.FACT,
        "takes",
        plural=True,
    ),
    state(
        r"(?P<v>am|is|are) (?P<o>on (?:[\w-]+ )?(?:\w*(?:formin|farin|insulin|statins?|pril|traline|pine"
        r"|tine|olol|azole|mab|xate|zepam|codone|profen|amol|thyroxine|setine|pram)|antidepressants"
        r"|antibiotics|blood thinners|beta[- ]?blockers|steroids|the pill|hrt|dialysis|chemo|meds"
        r"|medication|painkillers|a (?:[\w-]+ )?diet|benefits|parental leave|maternity leave"
        r"|paternity leave)\b.*)",
        Category.FACT,
        "takes",
        plural=True,
    ),
    state(
        r"(?P<v>take|takes) (?P<o>(?:\d+ ?(?:mg|mcg|g|ml)|.+ (?:pills|tablets|drops|injections|medication"
        r"|meds|supplements)|\w*(?:formin|farin|insulin|statins?|traline|olol|thyroxine|setine|pram"
        r"|xate))\b.*)",
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
        r"(?P<v>get|gets) (?P<o>(?:\w+ ){0,2}(?:migraines|headaches|panic attacks|nosebleeds|hay fever"
        r"|heartburn|cold sores|car ?sick|sea ?sick|travel ?sick|motion sickness|vertigo|dizzy spells"
        r"|cramps|seizures|flashbacks|insomnia|hives)\b.*)",
        Category.FACT,
        "has",
        plural=True,
    ),
    state(
        rf"{NOW} (?P<o>(?:recovering from|undergoing|being treated for|having (?:chemo"
        r"|radiotherapy|dialysis)|waiting for (?:a|an|my|his|her) (?:\w+ )?(?:transplant|operation|surgery"
        r"|diagnosis|replacement)).*)",
        Category.FACT,
        "health",
        plural=True,
    ),
)
