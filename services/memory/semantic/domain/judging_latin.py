"""Phrases that are cues in languages of Latin script (SPEC S-7, S-18).

Alternatives of a regular expression over folded text (`judging_cues.fold_case`): no accents, lower case.
Each stands as whole words. They are ordinary phrases of their language; none belongs to one statement.
"""

from __future__ import annotations

from services.memory.semantic.domain.judging_types import Cue

ENGLISH: dict[Cue, str] = {
    Cue.END: (
        r"no longer|no more|any ?more(?! than)|any longer|never again|ceased|quit(?:s|ting)?|"
        r"(?:has|have|was|were|is|are|had)? ?(?:stopped|ended|finished|discontinued|abandoned|"
        r"dissolved|abolished|retired|expired|lapsed)|"
        r"(?:gave|given|gives|giving) (?:up|away|back|notice)|got rid of|sold|died|passed away|"
        r"deceased|resigned|divorced|broke up|broken up|split up|separated from|"
        r"(?:has|was|were) (?:fired|sacked|laid off|let go|dismissed)|dropped out|moved (?:out|away)|"
        r"(?:closed|shut) down|closed for good|outgr[eo]wn?|recovered from|is over|got over|"
        r"(?:is|was|are|were|been) (?:off|cancell?ed|called off|closed(?! (?:on|for|last|over|during))|"
        r"deleted|removed|revoked|"
        r"withdrawn|scrapped|dropped|lifted|gone|over|cured|healed|stolen|lost)|cancell?ed|called off|"
        r"lost (?:his|her|their|the) (?:job|post|licence|license|seat|contract)|unsubscribed|deleted|"
        r"scrapped|retired from|turned (?:\w+ )?back on|done with|had enough of|dropped|(?:went|"
        r"gone|going) off|"
        r"written off|packed in|jacked in|called time on|came to a close|bowed out|walked away from|"
        r"went bust|"
        r"closed (?:its|their) doors|no longer together|finished with|through with|put to sleep|passed on|"
        r"sold off|struck off|kicked out|expelled|evicted|(?:was|were|been) released|cut ties with|"
        r"hung up (?:his|her|my|their)|shut off|turned off|(?:pulled|knocked|burnt|burned) down|bulldozed|"
        r"closed (?:my|his|her|our|their) account|used up|donated|auctioned|rehomed|"
        r"not (?:been )?renewed|wasn't renewed|(?:a thing|things) of the past|"
        r"days are over|out of the picture|(?:was|were|been) voided|recalled|ended up without|"
        r"went under|fizzled out|petered out|"
        r"(?:was|were|been) discharged|(?:is|are) history|"
        r"it's over|handed (?:\w+ ){0,3}back|let (?:\w+ ){1,4}(?:run out|expire)|cleared out|"
        r"gave(?= (?:\w+ ){1,5}(?:away|back)\b)|went out of business|went bankrupt|laid down|"
        r"stepped down|decommissioned|phased out|"
        r"switched off|shut|(?:is|are|was) back from|returned from|"
        r"^(?:please )?(?:stop|drop|forget|scrap|never mind|don't|do not|avoid|skip|omit|leave out)|"
        r"left(?! (?:hand|side|arm|leg|foot|eye|ear|knee|wing|lane|bank|school|home))|came off|"
        r"comes off|weaned off|withdrew|has withdrawn|pulled out|backed out|overcame|overcome|"
        r"swore off|ditched|(?:threw|thrown) (?:away|out)|parted with|"
        r"handed in (?:his|her|their) notice|put(?= (?:\w+ ){1,3}aside)|let go of|fell out with|"
        r"has(?:n't| not)(?= \w+ (?:\w+ ){0,4}since)|graduated|was acquired|ran out|came to an end|"
        r"shelved|axed|repealed|suspended|disbanded|wound up|cut out|opted out|deactivated|"
        r"uninstalled|disconnected|fell through|broke off|lost interest|grew out of|fed up with|"
        r"kicked the habit|no further|went into administration|is no more|fired|sacked|dismissed|"
        r"gave(?= (?:\w+ ){1,3}to\b)|(?:quitting|leaving|selling|giving up|stopping)(?= )|after all|\w+-free|"
        r"free of|(?:paid|paying) (?:\w+ )?(?:back|off)|(?:gave|threw|sent|given|"
        r"thrown)(?= (?:\w+ ){1,3}(?:away|out|back)\b)|(?:i'm|came|come|went|got) off(?= \w)|"
        r"torn (?:out|down)|ripped out|binned|(?:is|was|are|were) off|"
        r"called (?:it|\w+|the \w+(?: \w+)?) off|went (?:their )?separate ways|parted ways|walked out on|"
        r"on hold|let (?:\w+ ){1,3}(?:go|lapse)|took down|tore down|broke down|shaved off|(?:ran|"
        r"run) away|cut off|broke(?! (?:the|a|an|"
        r"his|her|my|our|their|into|in|out|through|up|off)\b)|smashed|"
        r"(?:is|was) (?:wrong|false|mistaken)|healed|cured|off the (?:menu|table|list)"
    ),
    Cue.CHANGE: (
        r"(?:has |have |had |was |were |been |is )*(?:switched|swapped|traded|changed|converted|"
        r"migrated|upgraded|downgraded|renamed|rescheduled|postponed|replaced|relocated|transferred|"
        r"promoted|demoted|appointed|ported|rewritten|reassigned|rebranded|shifted|raised|lowered|"
        r"increased|decreased|reduced|extended|shortened|doubled|halved|updated|revised|amended|"
        r"remarried)|got engaged|opted for|settled on|plumped for|went with|came round to|warmed to|"
        r"(?:was|were|been) (?:made|voted|elected|appointed)(?= \w)|"
        r"(?:jumped|soared|slid|slipped|crept up|eased) to|"
        r"(?:is|are|now) (?:up|down) (?:to|at)|stands? at|upped|hiked|trimmed|deferred|resized|resettled|"
        r"tripled|"
        r"(?:was|were|been) (?:altered|modified|edited|realigned)|(?:has |have )?(?:learnt|learned) to|"
        r"push (?:\w+ )?(?:back|forward)|"
        r"(?:has |have |was |were |been |is being |are being )*(?:moved|moves|move|moving) (?:in|to|"
        r"into|from|over|on|up|down|across|back|forward|house)|moved|push(?:ed|es) (?:back|forward|"
        r"to)|pushed|"
        r"put (?:off|back)|brought forward|delayed|set back|"
        r"(?:went|gone|goes|go|going) (?:up|down|over|back) (?:to|from)|"
        r"(?:rose|risen|sank|sunk|fell|fallen|grew|grown|climbed|dropped|shrank|cut) (?:to|from|by)|"
        r"(?:took|taken|takes|taking) over|"
        r"took (?:his|her|their|the) (?:room|place|post|job|role|seat)|handed (?:\w+ )?(?:over|to)|"
        r"succeeded|steps? in|instead(?: of)?|rather than|in place of|in favou?r of|became|has become|"
        r"turned into|(?:has )?turned(?= (?:\d|\w+ty\b|vegan|vegetarian))|signed up with|goes by|"
        r"is called .{1,30} now|bought (?:a|another) new|got a new|got married|is married now|"
        r"found a new|cut (?:down|back)|handed(?= (?:\w+ ){1,4}to)|"
        r"(?:was |were |been )?(?:renewed|prolonged|relicensed|reworked|reopened|reelected|elected)|"
        r"relegated|turned (?:up|down) to|moved on to|went (?:vegan|vegetarian|part-time|freelance)|"
        r"exchanged|renumbered|repainted|made way for|gave way to|(?:switch|change) to|retitled|"
        r"rebooked|slashed|bumped (?:up )?to|rolled back|reverted|went over to|has since|enlarged|"
        r"expanded|adjusted|overtaken|superseded|remodelled|reinstalled|reconfigured|refinanced|refixed|"
        r"refurnished|reorgani[sz]ed|redesigned|rewired|rearranged|repriced|rebuilt|rehoused|retrained|"
        r"(?:gone|going|go|went|turned) (?:\w+ )?(?:vegan|vegetarian|freelance|part-time|full-time|remote)|"
        r"(?:come|came|grown|grew|learned|learnt) to(?= (?:love|like|hate|enjoy|prefer|appreciate|loathe))|"
        r"(?:was|were|been) (?:enabled|disabled|activated|set to|turned o(?:n|ff))|"
        r"started (?:at|as|with|"
        r"working|in|on)|joined|(?:up|down) to|cut(?= (?:my|his|her|our|their|the) \w+ (?:to|by))|"
        r"hired(?: as)?|took (?:on |up )?(?:a|the) (?:new )?(?:job|"
        r"position|post|role|flat)|settled in|bought(?= (?:a|an|our|my|their|his|"
        r"her) (?:\w+ )?(?:house|flat|home|"
        r"apartment))|found (?:a|an) (?:\w+ )?(?:job|flat|house|apartment)|married|taken to|turned to|"
        r"(?:moved|put|brought|pushed|shifted) (?:it |the \w+ )?(?:forward|back|up)|stepped up|passed to|"
        r"put (?:up|down) to|(?:brought|driven) down|refused|refitted|retired|pushed (?:\w+ ){1,2}off"
    ),
    Cue.NOW: (
        r"now|nowadays|these days|currently|at present|by now|from now on|as of|as from|effective|"
        r"starting(?: from)?|since|"
        r"from (?:january|february|march|april|may|june|july|august|september|october|november|"
        r"december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{4})"
        r"(?! (?:to|till|until|through) \w)|"
        r"from (?:today|next \w+|this \w+)|recently|lately|in the meantime|meanwhile|"
        r"ever since|this (?:year|month|spring|summer|autumn|winter)|finally|at last|eventually|in the end|"
        r"new(?= \w+)|for the (?:past|last) \w+|for (?:\w+ )?(?:months|weeks|years) now|the latest|"
        r"after(?= the| his| her| their| my| our)|has been \w+ing|henceforth|going forward|today|for good"
    ),
    Cue.ADD: (
        r"also|too(?=[.,;!]|$)|as well|in addition|additionally|besides|another(?! \w+ from)|either|"
        r"just as much|"
        r"equally|likewise|sometimes|occasionally|second (?:job|home|house|car|flat|phone|hobby)|"
        r"on the side|apart from|plus|one of|additional|still|extra|alongside|more(?= than one)"
    ),
    Cue.WISH: (
        r"dreams? (?:of|about)|dreaming|wish(?:es)?|hopes?(?: to)?|hoping|"
        r"would (?:like|love|prefer|rather)|'d (?:like|love)|might|"
        r"may (?!\d)(?=[a-z]+ (?:in|to|at|the|a|one)\b)|could|considers?|considering|"
        r"thinking (?:of|about)|thinks? (?:of|about)|thought (?:of|about)|wants? to|wanted to|"
        r"intends?|plans? to|planning to|is tempted|maybe|perhaps|one day|someday|if|almost|nearly|"
        r"toying|wonders?|wondering|ponders?|considered|trying to|tries to|tried to|asked|"
        r"was asked|would|'d|should i|unless|in case|jok(?:es|ed|ing)|quoted|imagine|"
        r"was offered|has an offer|looks? at|for now|temporarily|(?:only|just) this week|"
        r"for a (?:week|month|day|while)|once(?= in)|suggest\w*|propos(?:ed|es|al)|recommend\w*|advis\w+|"
        r"rumou?r\w*|to be discussed|in theory|supposedly"
    ),
    Cue.PAST: (
        r"used to|formerly|previously|in the past|once(?! (?:a|per|every))|until (?=\d{4}|then|last)|"
        r"had been|former"
    ),
    Cue.CORRECTION: (
        r"actually|correction|in fact|in reality|by mistake|mistaken(?:ly)?|was wrong|is wrong|"
        r"wrongly|misspelled|misspelt|misheard|misread|typo|not .{1,25}, but|sorry|i meant|turns out|"
        r"turned out|my mistake|my bad|misremembered|misspoke|mistook|mixed (?:\w+ )?up|mix-up|scratch that|"
        r"strike that|(?:got|had|have) (?:that|it|this|them) wrong|the wrong|on second thoughts?|oops|"
        r"apologies|let me correct|to correct|not true|contrary to|was an error|erroneous\w*|"
        r"the correct|corrected|to be precise|"
        r"and not|not \S+ as|rather,"
    ),
    Cue.PENDING: (
        r"waiting(?: for)?|waits?|awaiting|awaits|not yet|yet|pending|applied for|has applied|"
        r"applying|looking for|searching for|seeking|saving (?:up )?for|pregnant|expecting|expects|"
        r"in progress|ongoing|undecided|unknown|open|to be (?:decided|announced|confirmed|determined)|"
        r"engaged(?= to)|on order|ordered|training to|(?:need|needs|have|has|had) to|must|to.?do|"
        r"remember to|remind me to|should|yet to|don't forget to|still (?:has|have|not|need|needs|"
        r"to)|owes?|unpaid|overdue|wants? to|"
        r"plans? to|plans|planning|intends? to|going to|out of (?:order|service)|broken|offline|not working|"
        r"(?:is|are) (?:off|down)|on (?:\w+ )?(?:leave|holiday|vacation)|off sick|in hospital|"
        r"unfinished|unanswered|unsolved|in a cast|"
        r"studying (?:for|to)|for sale|on the market|up for"
    ),
    Cue.DONE: (
        r"received|got|has arrived|arrived|found|bought|named|gave birth|was born|passed|"
        r"completed|obtained|was granted|granted|approved|rejected|refused|was accepted|decided|chose|"
        r"chosen|delivered|released|launched|was signed|signed|opened|confirmed|took place|"
        r"has taken place|is done|finished|graduated|won|were married|married|resolved|fixed|closed|"
        r"merged|repaired|(?:is|was) (?:called|named)|done|paid|sent|submitted|handed (?:in|over)|renewed|"
        r"returned|booked|picked up|collected|posted|mailed|gone out|went out|sorted|settled|repaid|came|"
        r"started|began|enrolled|signed up|landed|back (?:at|from|in|to)|written|wrote|cleaned|"
        r"filed|installed|uploaded|deployed|shipped|"
        r"works? again|works? fine|back up|"
        r"switched on|turned on|enabled|is in|over|off|sold|met|gave up|given up"
    ),
    Cue.AGAIN: (r"again|back (?:to|at|on|in|from)|is back|resumed|started up|took up"),
    Cue.LONG_AGO: (
        r"as a (?:child|student|teenager|boy|girl|kid|young \w+|trainee)|at (?:school|university|college)|"
        r"(?:in|during) (?:his|her|their|my) (?:childhood|student days|twenties|teens|school days)|"
        r"back then|in those days|at the time|"
        r"years ago|grew up|in (?:his|her|their|my) youth|long ago"
    ),
    Cue.NEGATION: (r"not|no|never|none|nothing|nobody|without|cannot|\w+n't|neither|nor|refuses to|avoids?"),
}
GERMAN: dict[Cue, str] = {
    Cue.END: (
        r"nicht mehr|aufgehort|aufgegeben|gekundigt|verkauft|gestorben|verstorben|beendet|abgeschafft|"
        r"abgesagt|geschieden|entsorgt|verschrottet|eingeschlafert|ausgemustert|fallt aus|fiel aus|"
        r"auf eis gelegt|getrennt|ausgezogen|abgebrochen|verlassen|aufgelost|eingestellt|"
        r"abgemeldet|stillgelegt|entfallt|kein\w*(?=\b.{0,30}\bmehr)|weggezogen|losgeworden|"
        r"weggegeben|verschenkt|ausgetreten|ausgestiegen|pensioniert|in rente gegangen|ausgelaufen|"
        r"abgestellt|abgesetzt|abgegeben|hingeschmissen|geplatzt|gestrichen|(?:aus|von) (?:\w+ ){1,2}weg|"
        r"getrennte wege|"
        r"schluss gemacht|abgeschaltet|vorbei|geheilt|losgelassen|geschlossen|weggeworfen|abgelegt|"
        r"uberwunden|abgeklungen"
    ),
    Cue.CHANGE: (
        r"umgezogen|zieht|zog|gezogen|gewechselt|wechselt\w*|umgestiegen|verschoben|verlegt|geandert|"
        r"ersetzt|umgesattelt|ausgewechselt|aufgestockt|angepasst|gekurzt|verdoppelt|halbiert|umbenannt|"
        r"abgelost|stattdessen|statt|anstatt|anstelle|erhoht\w*|gesenkt|gestiegen|"
        r"gesunken|umgestellt|ubernommen|ubernimmt|befordert|jetzt statt|neuerdings|getauscht|"
        r"eingetauscht|ausgetauscht|zieht um|verlangert|verkurzt|vorgezogen|umgeschult|umgeschrieben|"
        r"neu heisst|heisst jetzt|angefangen (?:als|bei)|umgebucht|umgebaut|umgeschrieben|umgetauft|"
        r"heraufgesetzt|"
        r"herabgesetzt|angehoben|migriert|aktualisiert|geheiratet|vegan geworden|geworden"
    ),
    Cue.NOW: (
        r"jetzt|nun|inzwischen|mittlerweile|seit|seitdem|ab sofort|"
        r"ab (?:heute|morgen|januar|februar|marz|april|mai|juni|juli|august|september|oktober|"
        r"november|dezember|montag|\d)|"
        r"von jetzt an|von nun an|neu\w*(?= \w)|seit \w+|letztlich|endlich|neuerdings|kunftig|ab jetzt|heute"
    ),
    Cue.ADD: (r"auch|ausserdem|zusatzlich|ebenfalls|daneben|noch (?:ein\w*)|weiterhin|nebenbei|zudem"),
    Cue.WISH: (
        r"mochte|wunscht|wenn|falls|ob|irgendwann|eines tages|wurde gern\w*|traumt|uberlegt|"
        r"vielleicht|will|hofft|plant|vorubergehend|"
        r"denkt daran"
    ),
    Cue.PAST: (r"fruher|einst|ehemal\w+|war bis"),
    Cue.CORRECTION: (
        r"eigentlich|korrektur|verbesserung|berichtigung|verwechselt|vertan|geirrt|stimmt nicht|"
        r"in wirklichkeit|richtig ist|falsch|irrtum\w*|tatsachlich|sondern|"
        r"versehentlich"
    ),
    Cue.PENDING: (
        r"muss|mussen|soll|zu erledigen|schuldet|verlobt|kaputt|will|mochte|wartet|noch (?:nicht|"
        r"kein\w*)|sucht|geplant|beantragt|schwanger"
    ),
    Cue.DONE: (
        r"erhalten|bekommen|gefunden|gekauft|bestanden|geboren|genehmigt|abgeschlossen|erledigt|"
        r"bezahlt|abgegeben|abgeholt|"
        r"geschickt|gemacht|gebucht|repariert|verlangert|fertig|da|zuruckgezahlt"
    ),
    Cue.AGAIN: (r"wieder"),
    Cue.LONG_AGO: (r"damals|als (?:kind|student|studentin|jugendliche\w*)|in der kindheit|vor \w+ jahren"),
    Cue.NEGATION: (r"nicht|kein\w*|nie|niemals|ohne|niemand|nichts"),
}
FRENCH: dict[Cue, str] = {
    Cue.END: (
        r"n['’ ]?\w+ plus|plus (?:de|d['’])|a arrete|ont arrete|arrete de|a quitte|ont quitte|a cesse|"
        r"vendu\w*|est mort\w*|decede\w*|a demissionne|divorce\w*|annule\w*|renonce|a abandonne|"
        r"a ferme|est fini\w*|s['’]est separee?|ne(?=\b.{1,30}\bplus)|a pris sa retraite|ont rompu|"
        r"a rompu|a resilie|a vendu|ont vendu|est parti\w*|sont partis|a retire|a supprime|"
        r"(?:a|ai|ont) (?:fini|termine)|a (?:laisse|jete|perdu|rendu|resilie|rompu|plaque)|"
        r"j'ai (?:quitte|arrete|vendu|laisse|perdu|"
        r"demissionne)|"
        r"tombe a l'eau|(?:se sont|s'est|nous sommes) (?:separe\w*|quitte\w*)|n['’]existe plus|"
        r"est gueri\w*|a cede"
    ),
    Cue.CHANGE: (
        r"a demenage|ont demenage|s['’]est install\w+|a change|ont change|est passe\w*|sont passe\w*|"
        r"a remplace|remplace\w*|est reporte\w*|reporte\w*|deplace\w*|au lieu d\w*|a la place|"
        r"est devenu\w*|renomme\w*|augmente\w*|baisse\w*|avance\w*|a troque|echange|prolonge\w*|"
        r"s'eleve a|passe[rs]? (?:a|de)|(?:j'ai|nous avons) (?:demenage|change|emmenage|rejoint|"
        r"remplace)|marie\w*|"
        r"promu\w*|mis\w* a jour|migre\w*|decale\w*|a emmenage|ont emmenage|a rejoint|transfere\w*|modifie\w*"
    ),
    Cue.NOW: (
        r"desormais|maintenant|depuis|dorenavant|a partir d\w+|actuellement|a present|aujourd['’]hui|"
        r"depuis peu|nouve\w+(?= \w)|enfin|recemment"
    ),
    Cue.ADD: (r"aussi|egalement|en plus|toujours|encore un\w*|parfois|par ailleurs|un\w* autre"),
    Cue.WISH: (
        r"voudrai\w+|aimerai\w+|pourrai\w+|si|un jour|reve|envisage|pense a|peut-etre|espere|veut|"
        r"souhaite|hesite|songe"
    ),
    Cue.PAST: (r"autrefois|auparavant|avant|dans le passe"),
    Cue.CORRECTION: (
        r"en fait|correction|je me suis trompee?|pardon|pas \w+, mais|en realite|par erreur|"
        r"rectification|erreur|se trompait"
    ),
    Cue.PENDING: (
        r"doi[st]|devons|il faut|a faire|doit encore|fiancee?s?|en panne|veut|attend|pas encore|"
        r"cherche|prevu\w*|enceinte"
    ),
    Cue.DONE: (
        r"a recu|a trouve|a obtenu|a achete|a reussi|est nee?|envoyee?|payee?|fait|rendue?|regle\w*|"
        r"repare\w*|renouvele\w*|"
        r"deja|recu\w*|arrive\w*|trouve\w*"
    ),
    Cue.AGAIN: (r"de nouveau|a nouveau|repris"),
    Cue.LONG_AGO: (
        r"jadis|(?:quand|lorsqu).{1,12}(?:petite?|enfant)|dans son enfance|il y a \w+ ans|a l'epoque"
    ),
    Cue.NEGATION: (r"ne|n['’](?=\w)|pas|jamais|sans|aucune?|rien"),
}
SPANISH: dict[Cue, str] = {
    Cue.END: (
        r"deje|vendi|renuncie|termine|me separe|me divorcie|perdi|(?:se|nos|me) (?:rompio|separamos|"
        r"estropeo)|"
        r"suspendid[oa]|despid\w+|me jubile|ya no|dejo|ha dejado|han dejado|dejaron|vendio|ha vendido|"
        r"murio|fallecio|ha muerto|renuncio|"
        r"se divorcio|abandono|cancelo|cancelaron|cancelad[oa]|ha cancelado|se jubilo|cerro|"
        r"ha cerrado|se separo|termino|se acabo|rompio|rompieron|se retiro|se deshizo|ha terminado|"
        r"se fue de|dado de baja|se dio de baja|se desapunto|se curo|elimino|anulo|anularon"
    ),
    Cue.CHANGE: (
        r"me mude|nos mudamos|me cambie|me pase|cambie|paso (?:a|al)|pase (?:a|al)|me case|se cas\w+|"
        r"ascend\w+|"
        r"migr\w+|pospuest\w+|pospus\w+|rebaj\w+|se mud\w+|se ha mudado|mudado|cambi[oa]\w*|"
        r"ha cambiado|subieron|ha subido|subio|bajaron|"
        r"bajo a|ha bajado|aplaz\w+|se paso|se ha pasado|pasado a|en (?:vez|lugar) de|reemplaz\w+|"
        r"sustitu\w+|trasladad\w+|traslado|se traslad\w+|ascendi\w+|se convirtio|adelant\w+|retras\w+|"
        r"se paso a|ha pasado a|prorrog\w+|se cambio|reubic\w+|actualiz\w+|renombr\w+|aument\w+|"
        r"redujo|redujeron"
    ),
    Cue.NOW: (
        r"ahora|desde|actualmente|a partir de\w*|de ahora en adelante|en adelante|hoy|ultimamente|"
        r"nuev[oa](?= \w)|por fin"
    ),
    Cue.ADD: (r"tambien|ademas|tampoco|asimismo|otr[oa]|a veces|sigue\w*|todavia|aun"),
    Cue.WISH: (
        r"quisiera|gustaria|si|algun dia|iria|quiere|suena|piensa|quizas?|tal vez|le gustaria|planea|"
        r"podria"
    ),
    Cue.PAST: (r"antes|solia|antiguamente|en el pasado"),
    Cue.CORRECTION: (
        r"en realidad|correccion|me equivoque|perdon|error|quise decir|por error|de hecho|"
        r"equivocad\w+|se equivoc\w+|sino"
    ),
    Cue.PENDING: (
        r"tengo que|tiene que|debo|debe|hay que|falta|pendiente|prometid\w+|averiad\w+|espera(?:ndo)?|"
        r"todavia no|aun no|busca\w*|previst[oa]|embarazada"
    ),
    Cue.DONE: (
        r"recibio|ha recibido|encontro|ha encontrado|obtuvo|aprobo|compro|nacio|compre|pague|envie|"
        r"entregue|recogi|hech[oa]|pagad[oa]|enviad[oa]|ya|listo|"
        r"renovad[oa]|arreglad[oa]|reparad[oa]|llego|recibi|encontre|aprobe|saque"
    ),
    Cue.AGAIN: (r"de nuevo|otra vez|volvio a|vuelve a|vuelto a"),
    Cue.LONG_AGO: (r"de nin[oa]|de joven|en su infancia|hace \w+ anos|en aquella epoca"),
    Cue.NEGATION: (r"no|nunca|sin|jamas|nadie|nada|ningun\w*"),
}
