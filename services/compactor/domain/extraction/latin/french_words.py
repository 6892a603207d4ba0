"""French words by kind, and verbs by sense (SPEC J-8)."""

from __future__ import annotations

KIN = (
    r"prof d[e'] ?[a-z]\w+|médecin traitant|directrice de thèse|directeur de thèse|(?:arrière-)?(?:grands?"
    r"|beaux?|belles?|demi|petite?s?|ex)-(?:parents|mère|père|frère|sœur|soeur|fils|fille"
    r"|mari|femme|copine|copain|enfants)|parents|sœurs?|soeurs?|frères?|mère|maman|père|papa|femme|mari"
    r"|épouse|époux"
    r"|filles?|fils|enfants?|tante|oncle|cousine|cousin|nièce|neveu|copine|copain|amie|ami|compagne"
    r"|compagnon|fiancée"
    r"|fiancé|filleule|filleul|marraine|parrain|mamie|mamy|papi|papy|mémé|pépé|aînée|aîné|cadette|cadet"
    r"|benjamine"
    r"|benjamin|petite(?: dernière)?|petit(?: dernier)?|grande|coloc|colocataire|pote|propriétaire|voisine"
    r"|voisin|collègue|cheffe|chef|patronne|patron|gendre"
    r"|belle-doche|kiné|prof|nourrice|stagiaire|associée?|jumelle|jumeau|gosse|gamine|gamin|ado|bébé"
    r"|médecin|dentiste|coach|tutrice|tuteur|psy|nounou|kiné"
    r"|chienne|chien|chatte|chat|lapine|lapin|jument|cheval|poney|perroquet|tortue|hamster|ânesse|âne"
    r"|chèvre"
)
_FEMININE = """
    sœur soeur mère maman femme épouse fille grand-mère tante cousine nièce copine amie compagne fiancée
    voisine cheffe patronne belle-mère belle-sœur belle-soeur chienne chatte filleule marraine mamie
    mamy mémé demi-sœur belle-fille ex-femme petite-fille aînée cadette benjamine lapine jument tortue
    ânesse chèvre jumelle gamine arrière-grand-mère nourrice associée ex-copine demi-soeur
"""
FEMININE = frozenset(_FEMININE.split())
BEFORE = r"petite?s?|grande?s?|meilleure?|vieille|vieux|jeune|nouvelle|nouveau"
AFTER = r"aînée?|cadette?|jumeau|jumelle"
_ILLNESS = (
    r"(?:\w*(?:ite|ose|émie|algie|phobie|lepsie|plégie)\b|(?:du |de l'|le |la |une? |des |de la )?(?:gros "
    r"|grosse |forte "
    r"|légère )?(?:diabète|asthme|migraines?|arthrite|arthrose|cancer|maladie \w+.*|syndrome .+|allergie .+"
    r"|intolérance .+|hypertension|acouphènes|eczéma|psoriasis|tdah|dyslexie|épilepsie|stomie|pacemaker"
    r"|sclérose en plaques|parkinson|alzheimer|vertige|apnée du sommeil|endométriose|rhume des foins"
    r"|thyroïde.*"
    r"|prothèse .+|sciatique|scoliose|fibromyalgie|appareil auditif))"
)
_TRADE = (
    r"(?:(?!\w*(?:solitaire|nécessaire|populaire|ancien\b|content|heureux|malheur|inquiét|premier|première"
    r"|dernier|dernière|fier|fière|entier|bien|moyen|meilleur|extérieur|intérieur"
    r"|contraire)\w*)(?:[\w-]*(?:eur|euse|ier|ière|iste|ien|ienne|logue|ecte|aire"
    r"|trice|graphe|thécaire|péd\w+|gogue)s?|médecin|avocate?|prof|professeure?|chef|cheffe|juge"
    r"|agente? (?:de|d'|im)\w+"
    r"|sage-femme|maire|notaire|kiné|ingé|étudiante?|peintre|poète|militaire|maçon|menuisière?|caissière?"
    r"|apprentie?"
    r"|ébéniste|gendarme|vétérinaire|interprète|architecte|garde\W\w+|instit|assistante? \w+|agricultrice"
    r"|apicultrice"
    r"|aide-soignante?|éleveuse|interne|intermittente?|pilote|femme au foyer|commerçante?|gérante?"
    r"|consultante?"
    r"|enseignante?|soignante?|cadre|chercheu\w+|surveillante?|luthière?|vigneronn?e?|boulang\w+|cuisini\w+"
    r"|pompi\w+))"
)
_LANGUAGES = (
    r"(?:français|anglais|allemand|espagnol|italien|portugais|arabe|russe|chinois|japonais|néerlandais"
    r"|polonais|breton"
    r"|turc|peul|wolof|créole|occitan|basque|corse|alsacien|catalan|kabyle|berbère|lingala|bambara"
    r"|vietnamien|grec"
    r"|roumain|coréen|hébreu|persan|flamand|suédois|ukrainien|hindi|tamoul|malgache|swahili|mandarin|darija"
    r"|latin"
    r"|hongrois|tchèque|danois|norvégien|finnois|lsf|langue des signes|dioula|éwé|luxembourgeois)"
)
DAYS = r"(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
WHEN = (
    rf"(?:hier|avant-hier|demain|après-demain|aujourd'hui|ce soir|(?:le )?{DAYS}(?: (?:prochain|dernier"
    rf"|\d{{1,2}} \w+))?"
    r"|la semaine (?:prochaine|dernière)|l'an dernier|l'année dernière|en \d{4}|il y a \w+ \w+"
    r"|dans \w+ (?:jours?|semaines?)"
    r"|le \d{1,2}(?:er)? \w+)(?: (?:matin|soir|midi|après-midi))?(?: à \d{1,2} ?h(?: ?\d\d)?)?"
)
_BLOCK = (
    r"(?:ça|cela|ce|ceci|te|toi|vous|ton|ta|tes|cette|ces|tout|que|quand|comment|rien|pas|trop|quoi"
    r"|bien (?:ça|ce|cette|ton|ta))\b"
)
WORDS = {
    "day": DAYS,
    "very": r"(?:\w+ment|très|super|hyper|assez)",
    "span": r"(?:depuis (?:\d+|\w+) (?:ans|mois|années)|toujours|encore|maintenant|actuellement|aussi"
    r"|en fait|officiellement)",
    "years": r"(?:déjà |maintenant |bientôt )?(?P<o>(?:\d{1,3}|\w+(?:-\w+)+|trente|quarante|cinquante"
    r"|soixante|vingt) ans)",
    "allergic": r"(?P<o>(?:allergique|intolérante?) (?:à|au|aux) .+)",
    "diet": r"(?:végétarienn?e?|végane?|vegan|végétalienn?e?|flexitarienn?e?|pescétarienn?e?|sans gluten)",
    "school": r"(?:en|au|à) .*(?:maternelle|primaire|collège|lycée|fac\b|université|cp|ce1|ce2|cm1|cm2"
    r"|sixième|cinquième|quatrième|troisième|seconde"
    r"|première|terminale|crèche|prépa|apprentissage|bts|licence|master)\b.*",
    "medicine": r"(?:de l'|du |des |de la |mon |un |une )?(?:\w*(?:comprimés?|insuline|anticoagulants?"
    r"|antidépresseurs?|cortisone|ritaline|metformine|warfarine"
    r"|levothyrox|pilule|bêtabloquants?|ventoline|traitement|somnifères?))\b.*",
    "state": r"(?:sous (?:\w+)|bénévole (?:à|au|aux|dans|chez|pour) .+|(?:re)?mariée?s?|pacsée?s?"
    r"|divorcée?s?|séparée?s?|célibataire|veuf|veuve|fiancée?|enceinte|gaucher|gauchère"
    r"|daltonienn?e?|diabétique|sourde?|aveugle|malentendante?|malvoyante?|asthmatique|cœliaque|coeliaque"
    r"|épileptique"
    r"|autiste|dyslexique|myope|à la retraite|retraitée?|au chômage|en arrêt maladie|en congé (?:mat\w*"
    r"|parental)"
    r"|insomniaque|orphelin|orpheline|fils unique|fille unique|ambidextre|migraineu\w+|hypertendue?"
    r"|claustrophobe|athée"
    r"|musulmane?|catholique|juif|juive|protestante?|bouddhiste|intolérante? .+|(?:maman|papa|mère"
    r"|père) (?:de|d'|solo"
    r"|célibataire).*|non-fumeu\w+|en fauteuil(?: roulant)?|bilingue.*|trilingue.*|lève-tôt|couche-tard)",
    "from": r"(?:originaire |natif |native )?(?P<o>(?:de |du |des |d')(?:la |l')?(?-i:[A-ZÉÈÎ]).+)",
    "trade": rf"(?:(?:une?|simple|jeune|ancienne?|futur|future|devenue?) )*(?P<o>{_TRADE}(?: .+)?)",
    "illness": rf"(?P<o>{_ILLNESS})",
    "fear": r"(?:\w+ )?(?:peur|horreur|phobie) (?:de|du|des|d').*",
    "count": r"(?:une?|deux|trois|quatre|cinq|six|sept|huit|dix|\d{1,4})",
    "number": r"(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douze|vingt|\d{1,4})",
    "thing": rf"{KIN}|jumeaux|jumelles|chiens|chats|lapins|poules|vaches|chèvres|ruches|chevaux|maison"
    r"|appart\w*|voiture"
    r"|bateau|jardin|potager|atelier|boutique|camping-car|vélo|moto|piano|guitare|camion|ferme|gîte"
    r"|restaurant|bar|verger"
    r"|aquarium|salon|studio|épicerie|chambre d'hôtes?|machine|tracteur|scooter|twingo|clio|kangoo|peugeot"
    r"|renault|citroën|volvo|fiat|toyota|dacia|golf|frangins?|frangines?|potes|collègues|tatouages?|permis"
    r"|enfants|petits-enfants",
    "passing": r"(?:questions?|idées?|problèmes?|soucis?|minutes?|heures?|jours?|semaines?|mois|ans|années"
    r"|options?|versions?"
    r"|fichiers?|erreurs?|choses?|trucs?|euros?|pages?|textes?|mails?|examens?|rdv|rendez-vous|peu|coup"
    r"|impression|envie"
    r"|faim|soif|mal|chance|raison|tort|points?|fois|places?|billets?|fièvre|rhume|km|kilos?)\b",
    "title": r"(?:M\.|Mme|madame|monsieur|maître)",
    "plainly": r"(?:des|du|de la|de l') ?\w+",
    "placed": r"(?:à|au|aux|en|dans|sur|près|chez|rue|derrière|juste|en face) (?!panne|cours|retard|train"
    r"|jour|point)\w+",
    "made": r"(?:de|d'|du) ?\d{4}|\d+",
    "judged": r"(?:vrai |vraie |gros |grosse )?(?:catastrophe|enfer|bordel|problème|rêve|cauchemar|question"
    r"|blague|drame|perle|amour|cas)\b",
    "period": r"\b(?:(?:19|20)\d\d|\d+ ans|pendant|à \d+ ans|comme|jusqu'|l'an dernier|l'année dernière"
    r"|dix ans|vingt ans|l'été dernier|autrefois)\b|\bà (?-i:[A-ZÉ])\w+",
    "regular": r"\b(?:tous les \w+|toutes les \w+|chaque \w+|le (?:premier|dernier) \w+ du mois|le (?:lundi"
    r"|mardi|mercredi|jeudi|vendredi|samedi|dimanche))\b",
    "verb": r"(?:est|sont|était|a|ont|va|fait|c'est|je|j'ai|doit)",
    "none": r"(?:de |d')\w+.*",
    "before": r"(?:longtemps|toujours|autrefois|avant|(?:pendant|avant|jusqu'en) [\w' ]+?)",
    "training": r"(?:une formation|un apprentissage|une alternance|des études|une licence|un master"
    r"|une thèse|un bts|un cap) (?:de |d'|en |sur )",
    "and": "et",
    "fan": r"(?:pas )?(?:une? )?(?:grande? |gros(?:se)? |très |super )?(?P<o>(?:fane?|accro|dingue"
    r"|passionnée?|amateur|folle|fou|fana) (?:de|du|des|d'|à|aux?) ?.+)",
    "usual": r"(?:mon |le |du )?(?:café|thé|bière|expresso|chocolat chaud|steak)\b.*",
    "it": r"(?:ça|cela|ce|te|vous)\b",
    "where": r"(?P<o>(?:toujours |maintenant |actuellement |désormais |aussi |encore |juste "
    r"|plutôt )*(?:(?:à|au|aux|en|dans|chez"
    r"|près|avec|depuis|rue|entre|sur|sous|hors|loin|seule?s?|ensemble|vers|derrière|non loin|tout"
    r"|du côté)\b.*"
    r"|(?-i:[A-ZÉ]).+))",
    "employed": r"(?P<o>(?:comme|chez|pour|dans|à|au|aux|en|en tant que|avec|sur|depuis|de|d'|la|le) .+)",
    "hours": r"(?:nuit|temps partiel|mi-temps|plein temps|équipe|week-ends?|indépendante?|freelance"
    r"|télétravail|3x8|2x8)",
    "language": rf"(?P<o>{_LANGUAGES})",
    "this": _BLOCK,
    "now": r"\b(?:en ce moment|aujourd'hui|ce (?:soir|matin|midi|week-end)|demain|tout de suite"
    r"|cette semaine|bientôt"
    r"|en train)\b",
    "gladly": r"\b(?:toujours|jamais|sans|uniquement|que d[eu])\b",
    "habit": r"\b(?:tous les (?!deux\b|trois\b)\w+|toutes les \w+|chaque|toujours|souvent|jamais"
    r"|un \w+ sur deux|depuis (?:(?:le|la|mon|ma) \w+|l'\w+|\w+ (?:ans|années"
    r"|mois)|\d{4}|toujours|l'enfance|tout petit|toute petite|que je)|(?:une|deux|trois|quatre|cinq"
    r"|\d) fois par"
    rf"|le {DAYS}(?! (?:\d|prochain|dernier))|le (?:matin|soir|week-end|dimanche)\b|les week-ends?"
    r"|le (?:premier|dernier|deuxième) \w+ du mois|régulièrement|d'habitude|\w+ jours sur sept|par (?:jour"
    r"|semaine|an|mois)|à mes heures|bénévole\w*)",
    "lacked": r"(?P<o>(?:le permis|(?:d'|de )(?:enfants?|frères?(?: et sœurs?)?|sœurs?|permis|voiture|télé"
    r"|smartphone))\b.*)",
    "article": r"(?:une?|deux|trois|quatre|cinq|son|sa|ses|des)",
    "option": r"\b(?:option|version|première|deuxième|seconde|temps|peine|risque|fichier)\b",
    "appointment": r"(?:(?:un |une |mon |ma |le |la |l'|notre |d'autres )*(?:petit |gros )?(?:rendez-vous"
    r"|rdv|examen|entretien"
    r"|réunion|vol|concert|opération|mariage|train|cours|partiels?|oral|contrôle|partie?l|visite|match"
    r"|audition|répétition"
    r"|séance|consultation|dentiste|ophtalmo|kiné|gynéco|scanner|irm|échographie|prise de sang|conseil"
    r"|soutenance"
    r"|anniversaire|baptême|communion|enterrement|déménagement|garde|permanence|audience|formation|stage"
    r"|gala|spectacle"
    r"|tournoi|course|semi|marathon|brocante|vide-grenier|fête|pot de départ|crémaillère|remise|rentrée"
    r"|avion|ag|travaux|école|vacances|festival|pièce))",
    "arranged": r"(?P<o>(?:mon |ma |le |la |l'|une? |mes |son |sa )?(?:oral|examen|permis|bac|code|concours"
    r"|entretien|partiel\w*"
    r"|marathon|semi|formation|stage|boulot|poste|opération|soutenance|rentrée|nouveau|nouvelle|irm"
    r"|audition|cdi|soirée|fête|anniversaire|barbecue|apéro|expo\w*|concert|vide-grenier)\b.*)",
    "looked": r"^(?:rêvé|pensé|cru|vu|lu|entendu|demandé|dit|essayé|cherché|trouvé|regardé|voulu|eu (?!mon "
    r"|ma |son |sa |le |un (?:accident|bébé|enfant|poste)|une (?:fille|promotion|place|bourse))"
    r"|été (?!opérée?|embauchée?|licenciée?|promue?)|mangé|bu|dormi"
    r"|oublié|attendu|parlé|compris|hésité|failli|pu|dû|su|aimé|adoré|travaillé|passé (?:la|ma|une"
    r"|mon) (?:journée|nuit"
    r"|soirée|après-midi|matinée))\b",
    "mere": r"(?:dire|avouer|admettre|reconnaître|être|avoir|partir|filer|savoir|comprendre|penser|rêver"
    r"|attendre|dormir"
    r"|travailler|vivre|arrêter|faire attention|voir|me (?:coucher|lever|calmer|reposer)|y aller|rire"
    r"|pleurer|te|vous)\b.*",
    "errand": r"(?:(?:passer|aller) )?(?:(?:lui|leur|y|en|me|m'|se|s')\s?)?(?:acheter|appeler|rappeler"
    r"|téléphoner|payer|réserver|renouveler|commander"
    r"|envoyer|rendre|arroser|annuler|nettoyer|laver|chercher|récupérer|déposer|poster|préparer|terminer"
    r"|finir|réparer|rapporter|ranger|remplir|signer"
    r"|écrire|nourrir|purger|changer|résilier|corriger|imprimer|inscrire|régler|tondre|vider|prévenir"
    r"|amener|emmener|livrer|coudre|repeindre|prendre rendez-vous"
    r"|prendre rdv|faire (?:réviser|vacciner|réparer|le plein|les courses|la déclaration|renouveler))\b.*",
}
RELATIVE = (
    rf"(?P<relation>(?:mon|ma|mes|notre|nos) (?:(?:deux|trois|quatre) )?(?:(?:{BEFORE}) )?(?:{KIN})"
    rf"(?: (?:{AFTER}|du dessous|du dessus|d'à côté|d'en face))?)"
)
SENSES = """
call: appeler
be: être
have: avoir
live: vivre habiter loger crécher résider
work: travailler bosser taffer
like: aimer adorer kiffer
hate: détester haïr
prefer: préférer
bear: supporter digérer tolérer accrocher
eat: manger
drink: boire
smoke: fumer
drive: conduire
speak: parler comprendre
study: étudier
learn: apprendre
come: venir
must: devoir
make: réparer fabriquer vendre concevoir développer transporter garder soigner importer louer brasser
make: traduire restaurer
lie: trouver
go: partir déménager voyager aller
marry: marier
get: arriver retrouver recevoir fêter récupérer accueillir emménager
start: commencer démarrer attaquer
sit: passer
practise: collectionner jouer cultiver élever enseigner diriger tenir chanter danser nager tricoter
practise: pratiquer
practise: porter posséder gérer pêcher peindre courir rouler
think: penser croire espérer savoir vouloir pouvoir chercher trouver voir sentir dire demander attendre
think: hésiter rêver
think: finir falloir essayer regarder craindre sembler comprendre oublier perdre sortir rester promettre
do: faire prendre mettre lire écrire dormir suivre traire coudre
"""
"""A verb in two senses has the later one."""
IRREGULAR = """
être suis est sont sommes
avoir ai a ont avons
vivre vis vit vivent vivons
boire bois boit boivent buvons
conduire conduis conduit conduisent conduisons
comprendre comprends comprend comprennent comprenons
apprendre apprends apprend apprennent apprenons
prendre prends prend prennent prenons
venir viens vient viennent venons
tenir tiens tient tiennent tenons
devoir dois doit doivent devons
partir pars part partent partons
aller vais va vont allons
recevoir reçois reçoit reçoivent recevons
accueillir accueille accueille accueillent accueillons
haïr hais hait haïssent haïssons
courir cours court courent courons
peindre peins peint peignent peignons
faire fais fait font faisons
mettre mets met mettent mettons
lire lis lit lisent lisons
écrire écris écrit écrivent écrivons
dormir dors dort dorment dormons
traire trais trait traient trayons
coudre couds coud cousent cousons
vendre vends vend vendent vendons
élever élève élève élèvent élevons
préférer préfère préfère préfèrent préférons
posséder possède possède possèdent possédons
gérer gère gère gèrent gérons
digérer digère digère digèrent digérons
tolérer tolère tolère tolèrent tolérons
appeler appelle appelle appellent appelons
suivre - - suivent suivons
pouvoir peux peut peuvent pouvons
vouloir veux veut veulent voulons
savoir sais sait savent savons
voir vois voit voient voyons
croire crois croit croient croyons
dire dis dit disent disons
attendre attends attend attendent attendons
sentir sens sent sentent sentons
sortir sors sort sortent sortons
finir finis finit finissent finissons
perdre perds perd perdent perdons
promettre promets promet promettent promettons
craindre crains craint craignent craignons
falloir - faut - -
"""
PARTICIPLE = (
    r"(?:\w+(?:é|ée|és|ées)|fini|choisi|grandi|parti|partie|sorti|sortie|reçu|lu|vu|eu|vendu|perdu|rendu"
    r"|tenu|tenue|obtenu"
    r"|couru|vécu|venu|venue|devenu|devenue|battu|tombée?|mis|pris|appris|compris|acquis|fait|refait|écrit"
    r"|inscrite?|conduit"
    r"|offert|ouvert|découvert|souffert|peint|rejoint|suivi|réussi|vieilli|dormi|servi|subi|investi|adopté"
    r"|mort|morte|née?"
    r"|construit|détruit|cuit|traduit|élu|bu|cru|su|dû|pu|voulu|connu|repris|promis|permis|descendue?"
    r"|attendu|répondu)"
)
MOVED = (
    r"(?:allée?s?|partie?s?|arrivée?s?|rentrée?s?|devenue?s?|tombée?s?|venue?s?|revenue?s?|née?s?|morte?s?"
    r"|décédée?s?|passée?s?"
    r"|montée?s?|descendue?s?|sortie?s?|entrée?s?|retournée?s?|restée?s?)"
)
LEAD = (
    r"oui|non|bon|ben|bah|alors|en fait|au fait|bonjour|bonsoir|salut|coucou|hello|merci|et|d'ailleurs"
    r"|actuellement|maintenant"
    r"|pour info|s'il te plaît|s'il vous plaît|dis|perso|moi|voilà|hé|hey|stp|sinon|note(?: que| bien que"
    r"|-le)?|prends note"
    r"|pour (?:te situer|ton info|information|que tu saches)|sache que|figure-toi que|vu que|comme|du coup"
    r"|bref|tiens|petite info"
    r"|franchement|honnêtement|personnellement|ouais|ok|en vrai|en ce qui me concerne|de mon côté"
    r"|autant te dire que|ps"
    r"|à noter(?: que)?|retiens que|retiens bien|rappelle-toi que|ah|oh|eh bien|finalement|au final"
    r"|mine de rien|puis|nous"
    r"|c'est que|chez nous|hop|info"
)
_SUBJUNCTIVE = """
    rende=rendre achète=acheter prenne=prendre fasse=faire aille=aller finisse=finir écrive=écrire
    remplisse=remplir mette=mettre vende=vendre rappelle=rappeler appelle=appeler envoie=envoyer
    paie=payer paye=payer nettoie=nettoyer reçoive=recevoir sorte=sortir parte=partir lise=lire
    réponde=répondre emmène=emmener amène=amener lève=lever inscrive=inscrire choisisse=choisir
    descende=descendre tonde=tondre recouse=recoudre conduise=conduire prévienne=prévenir dise=dire
    voie=voir repeigne=repeindre règle=régler récupère=récupérer jette=jeter essuie=essuyer
"""
SUBJUNCTIVE = dict(pair.split("=") for pair in _SUBJUNCTIVE.split())
"""The infinitive of a subjunctive."""
