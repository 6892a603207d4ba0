"""Closed word classes of Italian, Portuguese, Dutch, Polish, Russian and Turkish (SPEC S-7).

Fewer than in `judging_grammar`: what tells a subject from a verb in short statements.
"""

from __future__ import annotations

from services.memory.semantic.domain.judging_words import Grammar, words

ITALIAN = Grammar(
    determiners=words("il lo la gli i le l un uno una mio mia miei mie suo sua suoi sue nostro nostra loro"),
    pronouns=words("io lui lei noi loro mi si ci che chi lo ne"),
    prepositions=words(
        """di a da in con su per tra fra del dello della dei delle al allo alla ai alle dal dalla nel nella
        sul sulla e o ma d sotto sopra dopo prima verso senza come"""
    ),
    fillers=words("non mai piu anche molto solo sempre ancora gia poi quasi"),
    copulas=words("e sono era erano sei siamo"),
    having=words("ha ho hanno abbiamo aveva possiede"),
    verbs=words(
        """lavora lavoro mangia mangio beve bevo va vado viene fa faccio parla parlo gioca gioco suona suono
        legge leggo scrive scrivo studia studio usa uso ama amo odia fuma fumo dorme prende prendo
        insegna guarda compra cucina nuota piace piacciono crescono viveva abitava lavorava"""
    ),
    single=words(
        """vive vivo abita abito costa costo inizia comincia finisce preferisce preferisco chiama apre chiude
        pesa"""
    ),
)
PORTUGUESE = Grammar(
    determiners=words("o a os as um uma uns umas meu minha meus minhas seu sua seus suas nosso nossa"),
    pronouns=words("eu ele ela eles elas nos me se lhe que quem"),
    prepositions=words(
        """de do da dos das em no na nos nas num numa com por para pelo pela ao e ou mas sem sob sobre entre
        desde ate apos depois como"""
    ),
    fillers=words("nao nunca mais tambem muito so sempre ainda ja ai"),
    copulas=words("e sao era eram sou esta estao estou fica"),
    having=words("tem tenho temos tinha possui"),
    verbs=words(
        """trabalha trabalho come como bebe bebo vai vou vem faz faco fala falo joga jogo toca toco le leio
        escreve estuda estudo usa uso gosta gosto adora adoro odeia fuma fumo dorme toma tomo ensina
        treina treino corre abri trabalhava morava vivia preciso precisa"""
    ),
    single=words("mora moro vive vivo custa comeca termina acaba prefere prefiro chama abre fecha pesa"),
)
DUTCH = Grammar(
    determiners=words("de het een mijn zijn haar ons onze hun dit dat deze die"),
    pronouns=words("ik jij je hij zij ze wij we zich er hem mij me"),
    prepositions=words(
        """in op aan van voor met bij naar uit over om te tot door tegen onder sinds als en of maar tijdens
        zonder dan per"""
    ),
    fillers=words("niet geen nooit ook nog al heel erg alleen altijd meestal graag meer wel"),
    copulas=words("is was zijn waren ben blijft staat ligt"),
    having=words("heeft heb hebben had bezit"),
    verbs=words(
        """werkt werk werkte eet drinkt drink gaat ga komt doet maakt neemt neem speelt speel spreekt leest
        schrijft studeert leert gebruikt gebruik houdt hou haat rookt rook slaapt fietst loopt zingt
        woonde leefde wordt kan moet kookt rijdt"""
    ),
    single=words("woont woon leeft kost begint eindigt heet betaalt verkiest opent sluit weegt"),
)
POLISH = Grammar(
    determiners=words("moj moja moje jego jej nasz nasza ich ten ta to te"),
    pronouns=words("ja on ona oni my mi mu sie go kto ktory ktora"),
    prepositions=words("w we na z ze do od po przy pod nad dla o u i lub ale a oraz przez bez przed za jako"),
    fillers=words("nie nigdy tez juz jeszcze bardzo tylko zawsze prawie"),
    copulas=words("jest sa byl byla bylo jestem"),
    having=words("ma mam maja mial miala posiada"),
    verbs=words(
        """pracuje jem je pije idzie jezdzi gra gram mowi mowie czyta pisze uczy ucze uzywa uzywam lubi lubie
        kocha nienawidzi pali pale spi chodzi chodze studiuje studiuje bierze trenuje gotuje mieszkal
        mieszkala jadam"""
    ),
    single=words("mieszka mieszkam kosztuje zaczyna konczy woli wole nazywa otwiera zamyka wazy zarabia"),
)
RUSSIAN = Grammar(
    determiners=words("мои моя мое мои его ее наш наша их этот эта это"),
    pronouns=words("я он она они мы мне меня ему себя кто"),
    prepositions=words(
        "в во на с со из от до по при под над для о об у и или но а за без через после перед как к ко"
    ),
    fillers=words("не никогда тоже уже еще очень только всегда почти ли"),
    copulas=words("есть был была было были"),
    having=words("имеет имею"),
    verbs=words(
        """работает работаю ест ем пьет пью ходит хожу ездит езжу играет играю говорит говорю читает
        пишет учит
        учу использует любит люблю ненавидит курит курю спит занимается преподает готовит учится"""
    ),
    single=words(
        "живет живу стоит начинается заканчивается предпочитает зовут называется открывается весит платит"
    ),
)
TURKISH = Grammar(
    determiners=words("bir bu su o"),
    pronouns=words("ben sen biz siz onlar bana ona benim onun"),
    prepositions=words("ve ile icin gibi kadar ama sonra once gore icinde"),
    fillers=words("cok daha da de her sadece hep yok var degil hic"),
    copulas=words("var vardı idi"),
    having=words(""),
    verbs=words(
        """calısıyor calısıyorum seviyor seviyorum iciyor iciyorum yiyor gidiyor konusuyor biliyor kullanıyor
        oynuyor"""
    ),
    single=words("yasıyor yasıyorum oturuyor oturuyorum"),
)
