"""Words that say nothing of what a text is about: they part phrases, and don't count as shared. Pure.

English, German, French, Spanish; what is small talk or a verb of every day is among them. In other scripts
none is known, and phrases are found by repetition alone.
"""

from __future__ import annotations

_ENGLISH = """
    a able about above across actually after again against ago all almost already also although always
    am amazing an and another any anybody anymore anyone anything anyway are around as ask asked asking
    at away awesome back bad be became because become been before began behind being below best better
    between big both bring brought but by bye call called came can cannot cause change changed check
    come comes coming consider cool could course day days definitely did different do does doing done
    don down during each either else end enjoy enough especially etc even ever every everybody everyone
    everything exactly excited far feel feeling feels felt few find first for found friend from full fun
    gave get gets getting give given gives giving glad go goes going gone gonna good got gotta great
    guess guys had haha happen happened happy hard has have having he hear heard hello help helped helps
    her here hers herself hey hi him himself his hmm hope how however huge i idea if in instead into is
    it its itself just keep keeps kept kind knew know known knows last later least leave left less let
    lets like liked likely likes little lol long look looked looking looks lot lots love loved loves
    made main make makes making many may maybe me mean means meet mention mentioned might mine more
    morning most much must my myself name near need needed needs never new next nice night no nobody
    none nor not nothing now of off often oh ok okay old on once one ones only onto or other others
    otherwise our ours ourselves out over own part people perfect perhaps person place plan planned
    planning plans please point possible prefer pretty probably provide put quite rather re read ready
    real really recently remember right said same saw say saying says second see seem seems seen self
    send sent set several shall share she should show showed side since small so some somebody someone
    something sometimes soon sorry sort sounds special start started starting stay still stuff such sure
    take taken takes taking talk talked talking tell tells than thank thanks that the their theirs them
    themselves then there these they thing things think thinking this those though thought three through
    thus time times to today together told tomorrow tonight too took totally toward tried true try
    trying turn turned two under understand until up upon us use used useful uses using usually very via
    wait want wanted wants was way ways we week weeks welcome well went were what whatever when where
    whether which while who whole whom whose why will wish with within without won wonderful word words
    work worked working works would wow write wrote yeah year years yep yes yesterday yet you your yours
    yourself example following include includes including specific ensure create based current currently
    note step steps add added adding
"""
_GERMAN = """
    aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist
    bitte da dabei dafür damit danke dann daran darauf das dass dein deine dem den denn der des dich die
    dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines
    einfach er es etwas euch euer für gab ganz geht gemacht genau gern gibt gut habe haben hast hat
    hatte hätte hier ich ihm ihn ihnen ihr ihre im immer in ins ist ja jede jeder jetzt kann kannst kein
    keine können könnte machen mal man mehr mein meine mich mir mit morgen muss müssen nach nicht nichts
    noch nun nur ob oder ohne schon sehr sein seine seit sich sie sind so soll sollte sonst über um und
    uns unser unter viel vielleicht vom von vor wann war waren warum was weil weiß welche wenn wer
    werden wie wieder will wir wird wo wollen wurde zu zum zur
"""
_FRENCH = """
    ai ainsi alors après as au aucun aussi autre aux avant avec avez avoir avons beaucoup bien bon
    bonjour car ce cela ces cet cette chez comme comment contre dans de depuis des deux dit dois doit
    donc du elle elles en encore entre est et étais était été êtes être eu eux fait faire faut il ils je
    jour juste la là le les leur leurs lui ma mais me merci mes moi moins mon ne ni non nos notre nous
    on ont ou où oui par parce pas peu peut peux plus pour pourquoi pouvez quand que quel quelle qui
    quoi rien sa sans se sera ses si son sont sous suis sur ta te tes toi ton toujours tous tout toute
    très trop tu un une va vais vers veux vos votre vous voudrais
"""
_SPANISH = """
    a al algo alguien ahora así aunque bien bueno cada como con cosa cual cuando de del desde donde dos
    el él ella ellas ellos en entonces era eres es esa ese eso esta está están estar estas este esto
    estoy fue gracias ha había hace hacer han hasta hay he hola hoy la las le les lo los mañana más me
    mi mis mucho muy nada ni no nos nosotros nuestra nuestro o otra otro para pero por porque puede
    puedo que qué quien quiero se sea ser si sí sido sin sobre solo son soy su sus también tan tanto te
    tengo tiene toda todo todos tu tus un una uno unos usted vamos voy y ya yo
"""
_SHORTENED = "ain aren couldn didn doesn don hadn hasn haven isn ll mustn re shouldn ve wasn weren wouldn"

FUNCTION_WORDS = frozenset(" ".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _SHORTENED)).split())


def is_light(word: str) -> bool:
    """Whether a word in small letters says nothing by itself; "it's" and "I'll" are light as well."""
    stem, mark, rest = word.replace("’", "'").partition("'")
    return word in FUNCTION_WORDS or (
        bool(mark) and (stem in FUNCTION_WORDS or stem == "i") and len(rest) <= 3
    )
