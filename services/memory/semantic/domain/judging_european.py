"""Phrases that are cues in Italian, Portuguese, Dutch, Polish, Russian and Turkish (SPEC S-7, S-18).

As `judging_latin`. Languages that inflect their verbs give the stem and any ending.
"""

from __future__ import annotations

from services.memory.semantic.domain.judging_types import Cue

ITALIAN: dict[Cue, str] = {
    Cue.END: (
        r"(?:ho|ha|abbiamo|hanno) (?:smesso|lasciato|venduto|chiuso|abbandonato|rinunciato|disdetto|"
        r"annullato|"
        r"cancellato|buttato|regalato|perso|finito|rotto)|(?:si (?:e|sono)|mi sono|ci siamo) (?:lasciat\w|"
        r"separat\w|dimess\w|licenziat\w|ritirat\w|dimenticat\w|rott\w|stancat\w)|non(?=\b.{1,40}\bpiu\b)|"
        r"annullat\w|cancellat\w|mort\w|decedut\w|divorziat\w|licenziat\w|in pensione|niente piu|guarit\w|"
        r"scadut\w|sospes\w|abolit\w|chius\w per sempre|saltat\w|venduto|venduta|smesso di|lasciato"
    ),
    Cue.CHANGE: (
        r"trasferit\w|traslocat\w|spostat\w|cambiat\w|passat\w (?:a|al|alla|ai)|sostituit\w|"
        r"rimandat\w|rinviat\w|"
        r"posticipat\w|anticipat\w|aumentat\w|salit\w (?:a|da)|sces\w (?:a|da)|ridott\w|invece (?:di|"
        r"che|del\w*)|"
        r"al posto d\w+|diventat\w|promoss\w|rinominat\w|aggiornat\w|migrat\w|prorogat\w|alzat\w|abbassat\w|"
        r"preso il posto|mi sono sposat\w|si (?:e|sono) sposat\w"
    ),
    Cue.NOW: (
        r"ora|adesso|ormai|oggi|attualmente|d'ora in (?:poi|avanti)|a partire da\w*|ultimamente|di recente|"
        r"da (?:oggi|domani|quando|poco|qualche|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|"
        r"settembre|ottobre|novembre|dicembre|lunedi|quest\w+)|dal(?=la\b| )|nuov[oa]"
    ),
    Cue.ADD: r"anche|inoltre|pure|neanche|nemmeno|un altro|un'altra|ancora|oltre a\w*|a volte",
    Cue.WISH: (
        r"vorrei|vorrebbe\w*|sogn\w+|sper\w+ di|pens\w+ di|forse|magari|un giorno|potrebb\w+|potrei|"
        r"(?:mi|gli|le) piacerebbe|se|dovrei|chiss\w+|valuta\w*"
    ),
    Cue.PAST: r"una volta|in passato|un tempo|precedentemente",
    Cue.CORRECTION: (
        r"in realta|correzione|rettifica|sbagliat\w|errore|anzi|volevo dire|bensi|mi correggo|"
        r"non .{1,25}, ma"
    ),
    Cue.PENDING: (
        r"devo|deve|dobbiamo|bisogna|in attesa|aspett[oai]\w*|non(?=\b.{1,20}\bancora\b)|da fare|cerc[oa]|"
        r"previst\w|incinta|fidanzat\w|vorrei|vuole"
    ),
    Cue.DONE: (
        r"fatt[oa]|ricevut\w|trovat\w|comprat\w|pagat\w|ottenut\w|consegnat\w|spedit\w|inviat\w|"
        r"arrivat\w|gia|"
        r"superat\w|prenotat\w|ritirat\w|riparat\w|nat[oa]|sposat\w|rinnovat\w"
    ),
    Cue.AGAIN: r"di nuovo|ha ripreso|nuovamente|tornat\w a|torna a",
    Cue.LONG_AGO: r"da (?:bambin\w|piccol\w|ragazz\w|giovane|student\w+)|\w+ anni fa|ai tempi|all'epoca",
    Cue.NEGATION: r"non|mai|senza|niente|nessun\w*|ne",
}
PORTUGUESE: dict[Cue, str] = {
    Cue.END: (
        r"ja nao|nao(?=\b.{1,30}\bmais\b)|deix(?:ou|ei|aram|amos)|par(?:ou|ei|aram) de|larg(?:ou|uei)|"
        r"vend(?:eu|i|emos)|"
        r"vendid\w|morreu|faleceu|demit\w+|desped\w+|termin(?:ou|ei|aram)|acab(?:ou|aram)|separ(?:ou|"
        r"aram|ei)|"
        r"divorci\w+|cancel\w+|anul\w+|desist\w+|fech(?:ou|aram)|reform(?:ou|ei)-?\w*|aposent\w+|"
        r"sai(?:u)? d\w+|"
        r"perd(?:eu|i)|abandon\w+|curad\w|extint\w|encerr\w+"
    ),
    Cue.CHANGE: (
        r"mud(?:ou|ei|aram|amos|ada|ado)(?:-\w+)*|transfer\w+|troc(?:ou|ei|aram|amos)|pass(?:ou|ei|"
        r"aram) (?:a|para)|"
        r"adi(?:ou|ad\w)|antecip\w+|substitu\w+|aument\w+|subiu|baix(?:ou|aram)|desceu|em vez d\w+|"
        r"(?:no|em) lugar d\w+|promovid\w|tornou-se|alter\w+|renomead\w|atualiz\w+|migr(?:ou|ad\w)|remarc\w+|"
        r"reduz\w+|casou\w*|casei\w*"
    ),
    Cue.NOW: r"agora|atualmente|desde|a partir d\w+|hoje|ultimamente|daqui em diante|nov[oa]",
    Cue.ADD: r"tambem|alem d\w+|outr[oa]|ainda(?! nao)|tampouco|as vezes",
    Cue.WISH: (
        r"gostari\w+|gostava de|sonh\w+|talvez|quer\w*|pens\w+ em|esper[ao]|um dia|sera que|se|poderia|"
        r"tencion\w+|hesit\w+|ponder\w+"
    ),
    Cue.PAST: r"antigamente|costumava|no passado|antes",
    Cue.CORRECTION: (
        r"na verdade|correcao|engan\w+|errei|errad\w|afinal|alias|mas sim|quis dizer|retifico|"
        r"nao .{1,25}, mas"
    ),
    Cue.PENDING: (
        r"precis[oa]|tenho (?:de|que)|tem (?:de|que)|falta|a espera|ainda nao|por fazer|procur[oa]|gravida|"
        r"noiv[oa]|previst\w"
    ),
    Cue.DONE: (
        r"ja|feit\w|receb\w+|encontr\w+|compr\w+|pagu?e?i?|pagou|entreg\w+|cheg\w+|envi\w+|consegu\w+|"
        r"marqu?\w+|"
        r"pass(?:ou|ei)|nasceu|renov\w+|casou"
    ),
    Cue.AGAIN: r"de novo|outra vez|novamente|volt(?:ou|ei) a|voltou",
    Cue.LONG_AGO: r"em (?:crianca|pequen\w)|quando era|na (?:infancia|juventude)|ha \w+ anos",
    Cue.NEGATION: r"nao|nunca|sem|nem|nada|nenhum\w*|jamais",
}
DUTCH: dict[Cue, str] = {
    Cue.END: (
        r"niet meer|geen(?=\b.{1,30}\bmeer\b)|gestopt|stopte|opgezegd|verkocht|overleden|gestorven|ontslagen|"
        r"ontslag|gescheiden|uit elkaar|afgelast|geannuleerd|geschrapt|afgeschaft|opgegeven|opgeheven|"
        r"weggedaan|"
        r"weggegeven|verlaten|vertrokken|met pensioen|gesloten|beeindigd|kwijt|afgebroken|genezen|kapot|"
        r"afgezegd|gaat niet door|weg bij|uitgezet|verlopen"
    ),
    Cue.CHANGE: (
        r"verhuis\w+|gewisseld|overgestapt|verplaatst|verzet|verschoven|uitgesteld|vervangen|"
        r"veranderd|gewijzigd|"
        r"hernoemd|verhoogd|verlaagd|gestegen|gedaald|in plaats van|omgeruild|geruild|ingeruild|bevorderd|"
        r"opgevolgd|overgenomen|vervroegd|verlengd|ingekort|gemigreerd|geworden|getrouwd"
    ),
    Cue.NOW: r"nu|tegenwoordig|inmiddels|sinds\w*|voortaan|vanaf|momenteel|intussen|de laatste tijd|nieuwe?",
    Cue.ADD: r"ook|daarnaast|bovendien|evenmin|nog een|soms|naast",
    Cue.WISH: (
        r"zou|zouden|wil(?:len)?|misschien|droomt?|hoopt?|overweegt?|van plan|denkt eraan|ooit|"
        r"twijfelt?"
    ),
    Cue.PAST: r"vroeger|voorheen|voormalig\w*",
    Cue.CORRECTION: (
        r"eigenlijk|correctie|vergist|vergissing|fout|verkeerd|niet .{1,25},? maar|klopt niet|bedoelde|"
        r"rechtzetting"
    ),
    Cue.PENDING: r"moet\w*|wacht\w*|nog (?:niet|geen)|zoekt?|te doen|gepland|zwanger|verloofd",
    Cue.DONE: (
        r"gekregen|ontvangen|gevonden|gekocht|betaald|geregeld|gedaan|ingeleverd|verstuurd|opgestuurd|"
        r"geslaagd|"
        r"klaar|afgerond|opgehaald|geboren|gerepareerd|getrouwd|binnen"
    ),
    Cue.AGAIN: r"weer|opnieuw|terug",
    Cue.LONG_AGO: (
        r"als (?:kind|student|studente|tiener|jongen|meisje)|destijds|jaar geleden|in (?:zijn|haar|"
        r"mijn) jeugd"
    ),
    Cue.NEGATION: r"niet|geen|nooit|zonder|niemand|niets",
}
POLISH: dict[Cue, str] = {
    Cue.END: (
        r"juz nie|nie(?=\b.{1,30}\bjuz\b)|wiecej nie|przesta[lł]\w*|rzuci[lł]\w*|sprzeda[lł]\w*|"
        r"sprzedan\w+|zmar[lł]\w*|"
        r"umar[lł]\w*|zrezygnowa[lł]\w*|odesz[lł]\w*|odszed[lł]\w*|zwolni[lł]\w*|zwolnion\w*|"
        r"rozwi[oeo]d\w+|rozwied\w+|"
        r"rozsta[lł]\w*|rozstali|zerwa\w+|odwo[lł]\w+|anulowa\w+|zamkn\w+|zlikwidowa\w+|zakonczy\w+|"
        r"skonczy\w+|"
        r"odda[lł]\w*|porzuci[lł]\w*|wyprowadzi\w+|wyrzuci[lł]\w*|na emerytur\w+|wyleczy\w+|"
        r"nie ma juz|utraci[lł]\w*"
    ),
    Cue.CHANGE: (
        r"przeprowadzi\w+|przenie\w+|przenios\w+|przesiad\w+|zmieni\w+|zamieni\w+|zamiast|zastapi\w+|"
        r"przesuni\w+|"
        r"przesun\w+|prze[lł]oz\w+|wzros[lł]\w*|podnie\w+|podnios\w+|obniz\w+|awansowa\w+|przeszed\w*|"
        r"przesz[lł]\w+|"
        r"wymieni[lł]\w*|przemianowa\w+|ozeni\w+|wysz[lł]a za"
    ),
    Cue.NOW: r"teraz|obecnie|odtad|ostatnio|aktualnie|od(?= \w+)|now[yae]",
    Cue.ADD: r"tez|takze|rowniez|oprocz|poza tym|inn\w+|jeszcze(?! nie)|czasem",
    Cue.WISH: r"chcia[lł]\w*|chce|marz\w+|moze|planuj\w+|zastanawia\w+|gdyby\w*|jesli|mysli o|mysle o",
    Cue.PAST: r"dawniej|kiedys|wczesniej|niegdys|by[lł][ya]?m?",
    Cue.CORRECTION: (
        r"w[lł]asciwie|sprostowanie|poprawka|pomyli\w+|pomy[lł]k\w+|b[lł]ad|b[lł]ednie|tak naprawde|"
        r"nie .{1,25},? (?:lecz|tylko|ale)"
    ),
    Cue.PENDING: r"musze|musi|trzeba|czeka\w*|jeszcze nie|szuka\w*|do zrobienia|zareczon\w+|w ciazy",
    Cue.DONE: (
        r"dosta[lł]\w*|otrzyma\w+|znalaz[lł]\w*|kupi[lł]\w*|zap[lł]aci[lł]\w*|odebra[lł]\w*|"
        r"zrobi[lł]\w*|wys[lł]a[lł]\w*|"
        r"zda[lł]\w*|za[lł]atwi\w+|gotow\w+|naprawi\w+|urodzi[lł]\w*"
    ),
    Cue.AGAIN: r"znowu|znow|ponownie|z powrotem|wroci[lł]\w*",
    Cue.LONG_AGO: r"w dziecinstwie|jako (?:dziecko|student\w*|nastolat\w+)|lat temu|za m[lł]odu",
    Cue.NEGATION: r"nie|nigdy|bez|nic|nikt|zad\w+",
}
RUSSIAN: dict[Cue, str] = {
    Cue.END: (
        r"больше не|уже не|больше нет|перестал\w*|бросил\w*|продал\w*|продан\w*|умер\w*|уволил\w+|"
        r"ушел|ушла|ушли|расстал\w+|"
        r"развел\w+|отменил\w*|отменен\w*|отменя\w+|закрыл\w*|закончил\w*|отказал\w+|отдал\w*|"
        r"выбросил\w*|на пенси\w+|съехал\w*|"
        r"завязал\w*|покинул\w*|вылечил\w*|сломал\w+|потерял\w*|прекратил\w*"
    ),
    Cue.CHANGE: (
        r"переехал\w*|переезжа\w+|перешел|перешла|перешли|сменил\w*|поменял\w*|заменил\w*|перенес\w*|"
        r"вместо|стал[аио]?|"
        r"повысил\w*|повышен\w*|вырос\w*|снизил\w*|подорожал\w*|переименова\w+|пересел\w*|изменил\w*|"
        r"перевел\w*|"
        r"подняли|поднял\w*|обновил\w*|женил\w+|вышла замуж"
    ),
    Cue.NOW: r"теперь|сеичас|отныне|недавно|нынче|в последнее время|с(?= (?!\d)\w+)|нов\w{2,3}",
    Cue.ADD: r"тоже|также|еще(?! не)|кроме|иногда",
    Cue.WISH: r"хоте\w+|хочет|хочу|мечта\w+|может быть|возможно|дума\w+|планиру\w+|если|когда-нибудь|бы",
    Cue.PAST: r"раньше|прежде|когда-то|бывш\w+|был[аио]?",
    Cue.CORRECTION: (
        r"на самом деле|поправка|ошиб\w+|исправ\w+|неправильно|неверно|вернее|точнее|не .{1,25}, а"
    ),
    Cue.PENDING: r"нужно|надо|должен|должна|жд\w+|еще не|ищ\w+|беременна|помолвлен\w*",
    Cue.DONE: (
        r"получил\w*|нашел|нашла|купил\w*|оплатил\w*|сделал\w*|отправил\w*|забрал\w*|сдал\w*|готов\w*|"
        r"появил\w+|родил\w+|"
        r"починил\w*"
    ),
    Cue.AGAIN: r"снова|опять|вернул\w+|заново",
    Cue.LONG_AGO: r"в детстве|в юности|лет назад|студент\w+|в молодости",
    Cue.NEGATION: r"не|нет|никогда|без|ничего|никто|ни",
}
TURKISH: dict[Cue, str] = {
    Cue.END: (
        r"artık(?=.{1,50}(?:m[ıiu]yor\w*|maz|mez|yok|degil))|bıraktı\w*|sattı\w*|satıldı|oldu(?=\.?$)|"
        r"vefat etti|ayrıldı\w*|"
        r"bosandı\w*|iptal\w*|vazgecti\w*|emekli oldu\w*|istifa\w*|kovuldu\w*|kapandı|kapattı\w*|"
        r"bitti|sona erdi|kesti\w*|"
        r"kaldırıldı|iyilesti\w*|bozuldu"
    ),
    Cue.CHANGE: (
        r"tasındı\w*|degisti\w*|degistirdi\w*|gecti\w*|ertelen\w+|yerine|cıktı|cıkardı\w*|yukseldi|"
        r"yukselt\w+|dustu|"
        r"indirdi\w*|terfi\w*|alındı|evlendi\w*|guncellendi"
    ),
    Cue.NOW: (
        r"artık|simdi|bundan (?:sonra|boyle)|su (?:an|anda|aralar)|beri|itibaren|son zamanlarda|"
        r"bu aralar|yeni"
    ),
    Cue.ADD: r"(?<!')(?:da|de)|ayrıca|bir de|hem|bazen",
    Cue.WISH: (
        r"ist(?:iyor|er|erdi|erim)\w*|belki|hayal\w*|dusun\w+|keske|umuyor\w*|planlı\w+|bir gun|"
        r"\w+(?:irse|ırsa|urse|arsa|erse)|"
        r"\w+(?:abil|ebil)\w+"
    ),
    Cue.PAST: r"eskiden|onceden|bir zamanlar|onceki",
    Cue.CORRECTION: r"aslında|duzelt\w+|yanlıs\w*|degil(?= \w+)|hata\w*|pardon",
    Cue.PENDING: r"lazım|gerek\w*|bekl\w+|henuz|arıyor\w*|\w+(?:meli|malı)\w*|nisanlı\w*|hamile",
    Cue.DONE: (
        r"aldı\w*|buldu\w*|odedi\w*|gonderdi\w*|yaptı\w*|tamam\w*|teslim\w*|geldi|halletti\w*|"
        r"evlendi\w*|dogdu|yenile\w+"
    ),
    Cue.AGAIN: r"tekrar|yeniden|yine",
    Cue.LONG_AGO: r"cocukken|kucukken|gencken|ogrenciyken|yıl once",
    Cue.NEGATION: r"degil|yok|\w+m[ıiu]yor\w*|\w+maz|\w+mez|hic|asla|\w+(?:madı|medi)\w*",
}
