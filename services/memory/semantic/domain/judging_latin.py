"""Phrases that are cues in languages of Latin script (SPEC S-7, S-18).

Alternatives of a regular expression over folded text (`judging_cues.fold_case`): no accents, lower case.
Each stands as whole words. They are ordinary phrases of their language; none belongs to one statement.
"""

from __future__ import annotations

from services.memory.semantic.domain.judging_types import Cue

ENGLISH: dict[Cue, str] = {
    Cue.END: (
        r"no longer|no more|any ?more(?! than)|never again|ceased|quit(?:s|ting)?|"
        r"(?:has|have|was|were|is|are|had)? ?(?:stopped|ended|finished|discontinued|abandoned|"
        r"dissolved|abolished|retired|expired|lapsed)|"
        r"(?:gave|given|gives|giving) (?:up|away|back|notice)|got rid of|sold|died|passed away|"
        r"deceased|resigned|divorced|broke up|broken up|split up|separated from|"
        r"(?:has|was|were) (?:fired|sacked|laid off|let go|dismissed)|dropped out|moved (?:out|away)|"
        r"(?:closed|shut) down|closed for good|outgr[eo]wn?|recovered from|is over|got over|"
        r"(?:is|was|are|were|been) (?:off|cancell?ed|called off|closed(?! on)|deleted|removed|revoked|"
        r"withdrawn|scrapped|dropped|lifted|gone|over|cured|healed|stolen|lost)|cancell?ed|called off|"
        r"lost (?:his|her|their|the) (?:job|post|licence|license|seat|contract)|unsubscribed|deleted|"
        r"scrapped|retired from|turned (?:\w+ )?back on|done with|had enough of|dropped|went off|"
        r"went out of business|went bankrupt|laid down|stepped down|decommissioned|phased out|"
        r"switched off|shut|(?:is|are|was) back from|returned from|"
        r"^(?:please )?(?:stop|don't|do not|avoid|skip|omit|leave out)|"
        r"left(?! (?:hand|side|arm|leg|foot|eye|ear|knee|wing|lane|bank|school|home))|came off|"
        r"comes off|weaned off|withdrew|has withdrawn|pulled out|backed out|overcame|overcome|"
        r"swore off|ditched|(?:threw|thrown) (?:away|out)|parted with|"
        r"handed in (?:his|her|their) notice|put(?= (?:\w+ ){1,3}aside)|let go of|fell out with|"
        r"has(?:n't| not)(?= \w+ (?:\w+ ){0,4}since)|graduated|was acquired|ran out|came to an end|"
        r"shelved|axed|repealed|suspended|disbanded|wound up|cut out|opted out|deactivated|"
        r"uninstalled|disconnected|fell through|broke off|lost interest|grew out of|fed up with|"
        r"kicked the habit|no further|went into administration|is no more|fired|sacked|dismissed|"
        r"gave(?= (?:\w+ ){1,3}to\b)"
    ),
    Cue.CHANGE: (
        r"(?:has |have |had |was |were |been |is )*(?:switched|swapped|traded|changed|converted|"
        r"migrated|upgraded|downgraded|renamed|rescheduled|postponed|replaced|relocated|transferred|"
        r"promoted|demoted|appointed|ported|rewritten|reassigned|rebranded|shifted|raised|lowered|"
        r"increased|decreased|reduced|extended|shortened|doubled|halved|updated|revised|amended|"
        r"remarried)|"
        r"(?:has |have |was |were |been |is being |are being )*(?:moved|moves|move|moving) (?:in|to|"
        r"into|from|over|on|up|back|forward|house)|moved|push(?:ed|es) (?:back|forward|to)|pushed|"
        r"put (?:off|back)|brought forward|delayed|set back|"
        r"(?:went|gone|goes|go|going) (?:up|down|over|back) (?:to|from)|"
        r"(?:rose|risen|fell|fallen|grew|grown|climbed|dropped|shrank|cut) (?:to|from|by)|"
        r"(?:took|taken|takes|taking) over|"
        r"took (?:his|her|their|the) (?:room|place|post|job|role|seat)|handed (?:\w+ )?(?:over|to)|"
        r"succeeded|steps? in|instead(?: of)?|rather than|in place of|in favou?r of|became|has become|"
        r"turned into|(?:has )?turned (?=\d|\w+ty\b|vegan|vegetarian)|signed up with|goes by|"
        r"is called .{1,30} now|bought (?:a|another) new|got a new|got married|is married now|"
        r"found a new|cut (?:down|back)|handed(?= (?:\w+ ){1,4}to)|(?:has|have|got|gets) a new|"
        r"(?:was |were |been )?(?:renewed|prolonged|relicensed|reworked|reopened|reelected|elected)|"
        r"relegated|turned (?:up|down) to|moved on to|went (?:vegan|vegetarian|part-time|freelance)|"
        r"exchanged|renumbered|repainted|made way for|gave way to|(?:switch|change) to|retitled|"
        r"rebooked|slashed|bumped (?:up )?to|rolled back|reverted|went over to|has since|enlarged|"
        r"expanded|adjusted|overtaken|superseded|remodelled"
    ),
    Cue.NOW: (
        r"now|nowadays|these days|currently|at present|by now|from now on|as of|as from|effective|"
        r"starting(?: from)?|since|"
        r"from (?:january|february|march|april|may|june|july|august|september|october|november|"
        r"december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{4})|"
        r"from (?:today|next \w+|this \w+)|recently|lately|in the meantime|meanwhile|"
        r"after(?= the| his| her| their)|has been \w+ing|henceforth|going forward|today|for good"
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
        r"toying|wonders?|wondering|ponders?|considered|trying to|tries to|tried to|was asked|"
        r"was offered|has an offer|looks? at|for now|temporarily|this week|"
        r"for a (?:week|month|day|while)|once(?= in)"
    ),
    Cue.PAST: (
        r"used to|formerly|previously|in the past|once(?! (?:a|per|every))|until (?=\d{4}|then|last)|"
        r"had been|former"
    ),
    Cue.CORRECTION: (
        r"actually|correction|in fact|in reality|by mistake|mistaken(?:ly)?|was wrong|is wrong|"
        r"wrongly|misspelled|misspelt|misheard|misread|typo|not .{1,25}, but|sorry|i meant|turns out|"
        r"turned out|contrary to|was an error|erroneous\w*|the correct|corrected|to be precise|"
        r"and not|not \S+ as|rather,"
    ),
    Cue.PENDING: (
        r"waiting(?: for)?|waits?|awaiting|awaits|not yet|yet|pending|applied for|has applied|"
        r"applying|looking for|searching for|seeking|saving (?:up )?for|pregnant|expecting|expects|"
        r"in progress|ongoing|undecided|unknown|open|to be (?:decided|announced|confirmed|determined)|"
        r"is engaged|on order|ordered|training to|"
        r"studying (?:for|to)"
    ),
    Cue.DONE: (
        r"received|got|gets|has arrived|arrived|found|bought|named|gave birth|was born|passed|"
        r"completed|obtained|was granted|granted|approved|rejected|refused|was accepted|decided|chose|"
        r"chosen|delivered|released|launched|was signed|signed|opened|confirmed|took place|"
        r"has taken place|is done|finished|graduated|won|were married|married|resolved|fixed|closed|"
        r"merged|repaired|(?:is|was) (?:called|named)"
    ),
    Cue.AGAIN: (r"again|back to|resumed"),
    Cue.LONG_AGO: (
        r"as a (?:child|student|teenager|boy|girl|kid)|back then|in those days|at the time|"
        r"years ago|grew up|in (?:his|her|their|my) youth|long ago"
    ),
    Cue.NEGATION: (r"not|no|never|none|nothing|nobody|without|cannot|\w+n't|neither|nor|refuses to|avoids?"),
}
GERMAN: dict[Cue, str] = {
    Cue.END: (
        r"nicht mehr|aufgehort|aufgegeben|gekundigt|verkauft|gestorben|verstorben|beendet|abgeschafft|"
        r"abgesagt|geschieden|getrennt|ausgezogen|abgebrochen|verlassen|aufgelost|eingestellt|"
        r"abgemeldet|stillgelegt|entfallt|kein\w*(?=\b.{0,30}\bmehr)|weggezogen|losgeworden|"
        r"weggegeben|verschenkt|ausgetreten|ausgestiegen|pensioniert|in rente gegangen|ausgelaufen|"
        r"abgestellt|geschlossen|weggeworfen|abgelegt|uberwunden|abgeklungen"
    ),
    Cue.CHANGE: (
        r"umgezogen|zieht|zog|gezogen|gewechselt|wechselt\w*|umgestiegen|verschoben|verlegt|geandert|"
        r"ersetzt|umbenannt|abgelost|stattdessen|statt|anstatt|anstelle|erhoht\w*|gesenkt|gestiegen|"
        r"gesunken|umgestellt|ubernommen|ubernimmt|befordert|jetzt statt|neuerdings|getauscht|"
        r"eingetauscht|ausgetauscht|zieht um|verlangert|verkurzt|vorgezogen|umgeschult|umgeschrieben|"
        r"neu heisst|heisst jetzt"
    ),
    Cue.NOW: (
        r"jetzt|nun|inzwischen|mittlerweile|seit|seitdem|ab sofort|"
        r"ab (?:heute|morgen|januar|februar|marz|april|mai|juni|juli|august|september|oktober|"
        r"november|dezember|montag|\d)|"
        r"von jetzt an|von nun an|neuerdings|kunftig|ab jetzt|heute"
    ),
    Cue.ADD: (r"auch|ausserdem|zusatzlich|ebenfalls|daneben|noch (?:ein\w*)|weiterhin|nebenbei|zudem"),
    Cue.WISH: (
        r"mochte|wunscht|wurde gern\w*|traumt|uberlegt|vielleicht|will|hofft|plant|vorubergehend|"
        r"denkt daran"
    ),
    Cue.PAST: (r"fruher|einst|ehemal\w+|war bis"),
    Cue.CORRECTION: (
        r"eigentlich|korrektur|in wirklichkeit|richtig ist|falsch|irrtum\w*|tatsachlich|sondern|"
        r"versehentlich"
    ),
    Cue.PENDING: (r"wartet|noch (?:nicht|kein\w*)|sucht|geplant|beantragt|schwanger"),
    Cue.DONE: (r"erhalten|bekommen|gefunden|gekauft|bestanden|geboren|genehmigt|abgeschlossen"),
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
        r"n['’]existe plus|est gueri\w*|a cede"
    ),
    Cue.CHANGE: (
        r"a demenage|ont demenage|s['’]est install\w+|a change|ont change|est passe\w*|sont passe\w*|"
        r"a remplace|remplace\w*|est reporte\w*|reporte\w*|deplace\w*|au lieu d\w*|a la place|"
        r"est devenu\w*|renomme\w*|augmente\w*|baisse\w*|avance\w*|a troque|echange|prolonge\w*|"
        r"a emmenage|ont emmenage|a rejoint|transfere\w*|modifie\w*"
    ),
    Cue.NOW: (r"desormais|maintenant|depuis|dorenavant|a partir d\w+|actuellement|a present|aujourd['’]hui"),
    Cue.ADD: (r"aussi|egalement|en plus|toujours|encore un\w*|parfois|par ailleurs|un\w* autre"),
    Cue.WISH: (r"voudrait|aimerait|reve|envisage|pense a|peut-etre|espere|veut|souhaite|hesite|songe"),
    Cue.PAST: (r"autrefois|auparavant|avant|dans le passe"),
    Cue.CORRECTION: (r"en fait|correction|en realite|par erreur|rectification|erreur|se trompait"),
    Cue.PENDING: (r"attend|pas encore|cherche|prevu\w*|enceinte"),
    Cue.DONE: (r"a recu|a trouve|a obtenu|a achete|a reussi|est nee?"),
    Cue.AGAIN: (r"de nouveau|a nouveau|repris"),
    Cue.LONG_AGO: (
        r"jadis|(?:quand|lorsqu).{1,12}(?:petite?|enfant)|dans son enfance|il y a \w+ ans|a l'epoque"
    ),
    Cue.NEGATION: (r"ne|n['’](?=\w)|pas|jamais|sans|aucune?|rien"),
}
SPANISH: dict[Cue, str] = {
    Cue.END: (
        r"ya no|dejo|ha dejado|han dejado|dejaron|vendio|ha vendido|murio|fallecio|ha muerto|renuncio|"
        r"se divorcio|abandono|cancelo|cancelaron|cancelad[oa]|ha cancelado|se jubilo|cerro|"
        r"ha cerrado|se separo|termino|se acabo|rompio|rompieron|se retiro|se deshizo|ha terminado|"
        r"se fue de|dado de baja|se dio de baja|se desapunto|se curo|elimino|anulo|anularon"
    ),
    Cue.CHANGE: (
        r"se mud\w+|se ha mudado|mudado|cambi[oa]\w*|ha cambiado|subieron|ha subido|subio|bajaron|"
        r"bajo a|ha bajado|aplaz\w+|se paso|se ha pasado|pasado a|en (?:vez|lugar) de|reemplaz\w+|"
        r"sustitu\w+|trasladad\w+|traslado|se traslad\w+|ascendi\w+|se convirtio|adelant\w+|retras\w+|"
        r"se paso a|ha pasado a|prorrog\w+|se cambio|reubic\w+|actualiz\w+|renombr\w+|aument\w+|"
        r"redujo|redujeron"
    ),
    Cue.NOW: (r"ahora|desde|actualmente|a partir de\w*|de ahora en adelante|en adelante|hoy|ultimamente"),
    Cue.ADD: (r"tambien|ademas|tampoco|asimismo|otr[oa]|a veces|sigue\w*|todavia|aun"),
    Cue.WISH: (r"quisiera|quiere|suena|piensa|quizas?|tal vez|le gustaria|planea|podria"),
    Cue.PAST: (r"antes|solia|antiguamente|en el pasado"),
    Cue.CORRECTION: (r"en realidad|correccion|por error|de hecho|equivocad\w+|se equivoc\w+|sino"),
    Cue.PENDING: (r"espera(?:ndo)?|todavia no|aun no|busca\w*|previst[oa]|embarazada"),
    Cue.DONE: (r"recibio|ha recibido|encontro|ha encontrado|obtuvo|aprobo|compro|nacio"),
    Cue.AGAIN: (r"de nuevo|otra vez|volvio a|vuelve a"),
    Cue.LONG_AGO: (r"de nin[oa]|de joven|en su infancia|hace \w+ anos|en aquella epoca"),
    Cue.NEGATION: (r"no|nunca|sin|jamas|nadie|nada|ningun\w*"),
}
