"""Spanish words by kind, and verbs by sense (SPEC J-8)."""

from __future__ import annotations

KIN = (
    r"(?:bis|tatara)?(?:abuel[ao]s?|nieto|nieta|nietos|nietas|abuelita|abuelito)|padres|papás|suegros"
    r"|herman[oa]s?"
    r"|madre|mamá|ma|padre|papá|mujer|marido|espos[oa]|hij[oa]s?|tí[oa]s?|prim[oa]s?|sobrin[oa]s?|novi[oa]"
    r"|amig[oa]s?"
    r"|pareja|vecin[oa]s?|compañer[oa]s?(?: de (?:piso|trabajo|clase|cuarto))?|jef[ea]|suegr[oa]"
    r"|cuñad[oa]s?|ahijad[oa]"
    r"|madrina|padrino|viej[oa]|parienta|hermanastr[oa]|madrastra|padrastro|nuera|yerno|colega|caser[oa]"
    r"|peque|pequeñ[oa]|niñ[oa]"
    r"|ex(?:novi[oa]|marido|mujer)?|compi|roomie|entrenador|entrenadora|profe(?:sora?)?(?: de [a-zñ]+)?"
    r"|soci[oa]|tutora?|dentista|médic[oa] de cabecera|doctora|doctor|psicólog[oa]|ginecólog[oa]|nene|nena"
    r"|gemel[oa]s?|chic[oa]"
    r"|perr[oa]s?|perrit[oa]s?|gat[oa]s?|gatit[oa]s?|conejo|loro|caballo|yegua|tortuga|burr[oa]|hámster"
    r"|canario|cachorr[oa]"
)
AFTER = r"mayor|menor|pequeñ[oa]|grande|mellizo|melliza|gemel[oa]|polític[oa]|median[oa]|chic[oa]"
_ILLNESS = (
    r"(?:\w*(?:itis|osis|emia|algia|fobia|lepsia|plejia)|diabetes|asma|migrañas?|celiaquía|hipertensión"
    r"|cáncer"
    r"|acúfenos|eczema|tdah|dislexia|la tensión alta|alzhéimer|párkinson|esclerosis múltiple"
    r"|apnea(?: del sueño)?"
    r"|(?:el |la )?(?:síndrome|enfermedad) .+|(?:una |mucha )?(?:alergia|intolerancia) .+"
    r"|(?:un )?marcapasos|vértigo"
    r"|insomnio|escoliosis|fibromialgia|hernia.*|(?:el )?colesterol.*|hipotiroidismo|ansiedad|gota"
    r"|psoriasis|epilepsia)"
)
_TRADE = (
    r"(?:(?!(?:content|segur|primer|feliz|list|nuev|verdader|enter|solter|caser|ser|mayor|peor|mejor"
    r"|consciente|madrugador"
    r"|solitari|necesari|voluntari|contrari|diferente|dueñ|impaciente|sincer|torpe)\w*)[\w]*(?:ero|era|or"
    r"|ora|ista|ólogo|óloga|ario|aria|grafo|grafa|triz|(?:mecán|méd|técn|informát|electrón|farmacéut|fís"
    r"|quím|matemát|polít)ic[oa]"
    r"|(?:estudi|cant|comerci|ayud|vigil|practic|represent)ante|(?:ger|ag|asist|doc|depend|presid"
    r"|ten)i?ent[ea])s?|médic[oa]|abogad[oa]|chef|juez|jueza|policía|piloto|guía|arquitect[oa]|maestr[oa]"
    r"|jubilad[oa]"
    r"|psicólog[oa]|profe|marino|albañil|taxista|maquinista|músic[oa]|sastre|actor|actriz|funcionari[oa]"
    r"|militar|matron[oa]"
    r"|ama de casa|opositor|opositora|biólog[oa]|geólog[oa]|químic[oa]|físic[oa]|matemátic[oa]|soldador"
    r"|socorrista|pastor)"
)
_LANGUAGES = (
    r"(?:español|castellano|inglés|francés|alemán|italiano|portugués|catalán|valenciano|gallego|euskera"
    r"|vasco|ruso|chino"
    r"|japonés|árabe|rumano|quechua|aimara|guaraní|náhuatl|twi|coreano|griego|polaco|ucraniano|neerlandés"
    r"|hebreo|turco"
    r"|maya|zapoteco|mixteco|mapudungun|wolof|lengua de signos|latín|sueco|danés|noruego|bable|asturiano"
    r"|mandarín|hindi"
    r"|persa|búlgaro|húngaro|checo|suajili)"
)
_NATIONS = (
    r"(?:rumano|rumana|española?|argentin[oa]|chilen[oa]|peruan[oa]|mexican[oa]|colombian[oa]|venezolan[oa]"
    r"|ecuatorian[oa]"
    r"|cuban[oa]|bolivian[oa]|uruguay[oa]|paraguay[oa]|italian[oa]|frances[a]?|francés|alemana?|alemán"
    r"|portugues[a]?|portugués"
    r"|inglesa?|inglés|rus[oa]|ucranian[oa]|polac[oa]|marroquí|senegales[a]?|japones[a]?|japonés|chin[oa]"
    r"|brasileñ[oa]"
    r"|gallego|gallega|andaluza?|catalana?|catalán|vasc[oa]|asturian[oa]|canari[oa]|madrileñ[oa]"
    r"|sevillan[oa]|valencian[oa]"
    r"|donostiarra|bilbaín[oa]|zaragozan[oa]|porteñ[oa]|limeñ[oa]|extremeñ[oa]|murcian[oa]|maños?"
    r"|aragones[a]?|navarr[oa]"
    r"|cántabr[oa]|rioplatense|hondureñ[oa]|salvadoreñ[oa]|guatemaltec[oa]|nicaragüense|costarricense"
    r"|panameñ[oa]|dominican[oa]"
    r"|griega?|griego|turc[oa]|búlgar[oa]|suec[oa]|norueg[oa]|dan[eé]sa?|irlandesa?|estadounidense"
    r"|canadiense|indi[oa]|paquistaní)"
)
DAYS = r"(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)"
WHEN = (
    rf"(?:ayer|anteayer|anoche|hoy|mañana|pasado mañana|(?:el|este) (?:próximo )?{DAYS}(?: (?:pasado"
    rf"|que viene|próximo|\d{{1,2}}(?: de \w+)?))?"
    r"|el \d{1,2}(?: de \w+(?: de \d{4})?)?|en \w+ (?:días|semanas|meses)|dentro de \w+ \w+|hace \w+ \w+"
    r"|en \d{4}"
    r"|la semana (?:pasada|que viene)|el (?:mes|año) (?:pasado|que viene)|esta (?:tarde|noche|mañana"
    r"|semana))"
    r"(?: por la (?:mañana|tarde|noche)| a las \d{1,2}(?:[:.]\d\d)?(?: y media)?| a mediodía)?"
)
_BLOCK = (
    r"(?:eso|esto|ese|esa|este|esta|estos|estas|tu|tus|lo|cómo|como|que|qué|mucho|más|bien|nada|todo|si"
    r"|tanto|te|así"
    r"|aquello|algo|ya|la idea|el (?:plan|texto|diseño)|con(?:tigo| eso| esto))\b"
)
WORDS = {
    "very": r"(?:muy|súper|super|bastante|algo|también|un poco)",
    "span": r"(?:desde (?:hace )?\S+(?: años| meses)?|ahora|actualmente|todavía|aún|también|oficialmente"
    r"|originalmente"
    r"|hace \w+ (?:años|meses)|de toda la vida|aquí|de momento)",
    "years": r"(?:ya |casi )?(?P<o>(?:\d{1,3}|\w+ta(?: y \w+)?|veinti\w+|veinte|dieci\w+|cinco|seis|siete"
    r"|ocho|nueve|diez|once"
    r"|doce|trece|catorce|quince) (?:años|añitos)(?: ya)?)",
    "allergic": r"(?P<o>(?:alérgic[oa]|intolerante) (?:a|al) .+)",
    "diet": r"(?:vegetarian[oa]|vegan[oa]|flexitarian[oa]|pescetarian[oa])",
    "worn": r"(?:gafas|lentillas|lentes|audífonos?|marcapasos|brackets|peluca|prótesis|bastón)\b.*",
    "school": r"(?:en|a) .*(?:primaria|eso|bachillerato|secundaria|preescolar|infantil|guardería|instituto"
    r"|universidad|cole\w*|fp|kínder|prepa|grado)\b.*",
    "medicine": r"(?:un |una |mi |la )?(?:\w*(?:pastillas?|insulina|anticoagulantes?|antidepresivos?"
    r"|cortisona|ritalina|metformina|warfarina|sintrom"
    r"|levotiroxina|eutirox|píldora|betabloqueantes?|ventolín|medicación|tratamiento))\b.*",
    "state": r"(?:voluntari[oa] (?:en|de) .+|zurd[oa]|diestr[oa]|(?:re)?casad[oa]|divorciad[oa]|separad[oa]"
    r"|solter[oa]|viud[oa]|jubilad[oa]|daltónic[oa]"
    r"|diabétic[oa]|sord[oa]|cieg[oa]|celíac[oa]|asmátic[oa]|hipertens[oa]|autista|miope|epiléptic[oa]"
    r"|embarazada|prometid[oa]"
    r"|en paro|en el paro|en silla de ruedas|de baja|huérfan[oa]|hij[oa] únic[oa]|hipertens[oa]"
    r"|hipocondríac[oa]|ate[oa]"
    r"|musulmana?|musulmán|católic[oa]|budista|judí[oa]|evangélic[oa]|madre solter[oa]|autónom[oa]|bilingüe"
    r"|abstemi[oa]"
    r"|disléxic[oa]|insomne|ambidiestr[oa]|(?:padre|madre|abuel[oa]) de .+|del (?:Athletic|Barça|Betis"
    r"|Atleti|Madrid"
    r"|Boca|River|Racing|Sevilla|América|Pumas|Chivas|Cádiz|Celta)\b|muy madrugador\w*)",
    "from": r"(?:originalmente |natural |originari[oa] )?(?P<o>(?:de(?: la| el)?|del) (?-i:[A-ZÁÉÍÓÚÑ]).+"
    rf"|{_NATIONS}\b(?:,? .+)?)",
    "trade": rf"(?:una? )?(?P<o>{_TRADE}(?: .+)?)",
    "illness": rf"(?:un |una )?(?P<o>{_ILLNESS})",
    "fear": r"(?:(?:mucho |un )?(?:miedo|pánico|terror|vértigo|fobia) (?:a|al) .+)",
    "count": r"(?:una?|dos|tres|cuatro|cinco|seis|siete|ocho|diez|\d{1,4})",
    "number": r"(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|veinte|treinta|\d{1,4})",
    "thing": rf"{KIN}|gemel[oa]s|casa|piso|coche|carro|auto|moto|bici|tienda|taller|barco|huerto|niños"
    r"|niñas|gallinas|vacas"
    r"|ovejas|cabras|colmenas|finca|bar|restaurante|panadería|ferretería|peluquería|farmacia|kiosko|quiosco"
    r"|puesto|estudio"
    r"|furgoneta|caravana|guitarra|piano|acordeón|acuario|peces|tatuajes?|máquina de coser|tractor"
    r"|apartamento|terreno|parcela|viñedo|granja|librería|scooter|furgo|seat|renault|peugeot|fiat|toyota"
    r"|ford|volvo|citroën|dacia|chevrolet|nissan|autocaravana",
    "passing": r"(?:preguntas?|dudas?|ideas?|problemas?|minutos?|horas?|ratos?|días?|semanas?|meses|años"
    r"|opciones|versiones"
    r"|archivos?|errores|cosas?|euros|pesos|páginas?|textos?|correos?|exámenes|examen|cita|citas|reuni\w+"
    r"|hambre|sed|sueño"
    r"|prisa|suerte|razón|ganas|tareas?|entradas?|billetes?|fiebre|kilos|veces|km|kilómetros|cuestiones"
    r"|planes|puntos)\b",
    "title": r"(?:don|doña|el señor|la señora|señora?)",
    "plainly": r"(?!(?:el|la|los|las|un|una|mi|mis|tu|esto|eso)\b)\w+s\b(?! y\b$)",
    "placed": r"(?:en|al lado|cerca|junto|frente|a \d+|a \w+ (?:minutos|kilómetros)|detrás|por) (?!marcha"
    r"|camino|obras|crisis|peligro)\w*",
    "made": r"(?:de|del) \d{4}|\d+",
    "judged": r"(?:verdader[oa] |autentic[oa] )?(?:desastre|caos|problema|sueño|pesadilla|pregunta|broma"
    r"|drama|joya|amor|cielo|caso|horror)\b",
    "period": r"\b(?:(?:19|20)\d\d|\d+ años|durante|a los \d+|como|hasta|el año pasado|diez años"
    r"|veinte años|el verano pasado|de joven|de niñ[oa])\b|\ben (?-i:[A-ZÁÉÍÓÚ])\w+",
    "regular": r"\b(?:tod[oa]s l[oa]s \w+|cada \w+|los (?:lunes|martes|miércoles|jueves|viernes|sábados"
    r"|domingos))\b",
    "verb": r"(?:es|son|está|están|era|fue|tiene|tengo|soy|va|hay)",
    "none": r"\w+.*",
    "before": r"(?:durante [\w ]+?|antes|toda la vida|muchos años)",
    "training": r"(?:un curso|un máster|la carrera|un grado|una fp|el doctorado|las prácticas"
    r"|la residencia) (?:de|en)\b",
    "and": "[ye]",
    "fan": r"(?:un |una )?(?:gran |muy |súper )?(?P<o>(?:fan|fanátic[oa]|aficionad[oa]|forof[oa]|hincha"
    r"|adict[oa]) (?:de|del|a|al) .+|muy de .+|más de .+ que de .+)",
    "usual": r"(?:mi |el |un )?(?:café|té|mate|cortado|cerveza|tinto|chocolate|cola cao)\b.*",
    "it": r"(?:eso|esto|te|lo)\b",
    "where": r"(?P<o>(?:ahora |actualmente |todavía |aquí |también |ya )*(?:(?:en|con|cerca|desde|entre"
    r"|al lado|a las afueras|sol[oa]s?"
    r"|junt[oa]s?|de alquiler|por|a \d+|a \w+ (?:minutos|kilómetros)|frente|fuera|junto) ?.*))",
    "employed": r"(?P<o>(?:como|de|en|para|con|por|desde|a) .+)",
    "hours": r"(?:noches?|media jornada|turnos?|fines de semana|autónom[oa]|freelance|remoto"
    r"|a jornada completa)",
    "language": rf"(?P<o>{_LANGUAGES})",
    "this": _BLOCK,
    "now": r"\b(?:ahora mismo|hoy|ahorita|(?<!cada )(?<!la )(?<!las )mañana|esta (?:semana|tarde|noche"
    r"|mañana)|este (?:fin|finde|lunes|martes|viernes|sábado"
    r"|domingo)|ayer|en este momento|pronto)\b",
    "gladly": r"\b(?:siempre|solo|sólo|nunca|sin|amarg[oa]|únicamente)\b",
    "habit": r"\b(?:tod[oa]s l[oa]s \w+|cada|siempre|nunca|a menudo|un \w+ sí y otro no|desde (?:el|la|mi"
    r"|hace|los|niñ[oa]|pequeñ[oa]|chic[oa]|\d{4})|(?:una|dos|tres"
    r"|cuatro|cinco|\d) veces|diari[oa]|a diario|normalmente|los (?:lunes|martes|miércoles|jueves|viernes"
    r"|sábados|domingos|fines)"
    r"|por las (?:mañanas|tardes|noches)|al día|a la semana|entre semana|de toda la vida"
    r"|en mis ratos libres)\b",
    "lacked": r"(?P<o>(?:hij[oa]s|herman[oa]s|coche|carro|carné|carnet|tele|televisión|whatsapp|móvil"
    r"|mascotas)\b.*)",
    "article": r"(?:una?|dos|tres|cuatro|cinco|su|sus)",
    "option": r"\b(?:opción|versión|primer[ao]|segund[ao]|hambre|ganas|archivo)\b",
    "appointment": r"(?:(?:una? |mi |el |la |otra |otro )*(?:cita|examen|entrevista|reunión|vuelo|concierto"
    r"|operación|boda|clase|viaje"
    r"|médico|dentista|oculista|tutoría|turno|guardia|ensayo|partido|entreno|revisión|juicio|cena|bautizo"
    r"|comunión|mudanza|parcial"
    r"|final|función|oposición|oposiciones|torneo|maratón|ecografía|análisis|presentación|defensa|ponencia"
    r"|curso|taller|visita"
    r"|consulta|ginecólog[oa]|podólog[oa]|fisio|endodoncia|funeral|fiesta|graduación|cumpleaños|resonancia"
    r"|vacuna|carrera"
    r"|recital|festival|coro|obras|tribunal|simulacro|competición|asamblea|junta|itv|notario))",
    "arranged": r"(?P<o>(?:el |la |mi |un |una |las |los )?(?:examen|carné|carnet|curso|máster|clases"
    r"|trabajo|prácticas|dieta|oposición"
    r"|vacaciones|rehabilitación|tesis|parcial|final|álgebra|fiesta|barbacoa|cena|expo\w*|concierto"
    r"|media maratón|maratón)\b.*)",
    "looked": r"^(?:visto|leído|oído|pensado|soñado|dicho|preguntado|intentado|buscado|encontrado|querido"
    r"|sido|estado|dormido|comido"
    r"|ido|olvidado|hablado|podido|sabido|creído|trabajado|tenido|entendido|probado|pasado (?:el|la|un|una"
    r"|todo|toda)"
    r"|que|mal|bien|un sueño)\b",
    "mere": r"(?:decir|reconocer|admitir|irme|irnos|confesar|ser|estar|haber|tener|pensar|dormir|esperar"
    r"|trabajar|reír|llorar|vivir"
    r"|parar|ver|saber|entender|aguantar|hablar|dejar|ir(?:me|nos)?(?: ya)?$|seguir|estudiar(?: más)?$"
    r"|te)\b.*",
    "errand": r"(?:volver a |ir a |pasar a |pasar por )?(?:comprar|llamar|pagar|reservar|renovar|pedir"
    r"|enviar|mandar|devolver|regar|cancelar|limpiar|lavar"
    r"|recoger|entregar|llevar|preparar|terminar|acabar|reparar|firmar|escribir|rellenar|sacar|buscar"
    r"|cambiar|presentar|imprimir|arreglar|avisar|inscribir"
    r"|solicitar|tramitar|encargar|vacunar|podar|coser|pintar|vaciar|corregir|dar de comer|dar de baja"
    r"|hacer (?:la compra|la declaración|la transferencia))"
    r"(?:me|le|les|lo|la|los|las)?\b.*",
}
RELATIVE = (
    r"(?:mi|mis|nuestr[oa]s?) (?:dos |tres |cuatro )?(?P<relation>(?:(?:mejor|nuev[oa]|gran|vieja"
    rf"|viejo) )?(?:{KIN})(?: (?:{AFTER}|de (?:abajo|arriba|al lado|enfrente)))?)"
)
SENSES = """
call: llamar
be: ser estar
have: tener
live: vivir residir
work: trabajar dedicar
like: gustar encantar chiflar flipar molar apasionar fascinar adorar amar querer
hate: odiar detestar aburrir horrorizar
prefer: preferir
bear: soportar aguantar tolerar poder
eat: comer
drink: beber tomar
smoke: fumar
drive: conducir manejar
speak: hablar chapurrear
study: estudiar cursar
learn: aprender
go: mudar volar viajar ir partir salir venir llegar
marry: casar
make: reparar arreglar vender fabricar diseñar programar transportar cuidar alquilar traducir elaborar
make: confeccionar
lie: quedar
get: recibir cumplir celebrar rendir
start: empezar comenzar estrenar
sit: examinar operar quedar caer
carry: llevar
born: nacer
grow: crecer criar
decide: decidir
choose: elegir escoger
die: morir fallecer
practise: tocar jugar coleccionar cultivar enseñar dirigir cantar bailar nadar tejer restaurar practicar
practise: regentar pescar pintar correr cazar usar entrenar gestionar coser montar escalar patinar
practise: remar bordar
do: hacer leer escribir dormir cocinar cuidar caminar desayunar cenar masticar pasear oír
do: reunir ensayar planchar roncar madrugar repartir limpiar atender administrar presidir liderar
do: predicar ensayar coleccionar
do: comprar ordeñar barrer levantar acostar ayudar recoger
life: apuntar jubilar divorciar graduar fundar estudiar licenciar doctorar adoptar emigrar heredar
life: publicar casar
life: vender renunciar
once: torcer abrir montar romper perder ganar terminar aprobar comprar firmar
once: correr dejar poner operar trabajar
once: vivir
once: enseñar construir empezar jugar
think: creer pensar saber ver decir preguntar buscar esperar intentar soñar sentir necesitar pedir dar
think: suponer
think: imaginar parecer seguir entender recordar olvidar deber deberse haber notar mirar encontrar
"""
"""A verb in two senses has the first one now, the last one of the past."""
IRREGULAR = """
ser soy es somos son fui fue fuimos
estar estoy está estamos están estuve estuvo estuvimos
tener tengo tiene tenemos tienen tuve tuvo tuvimos
ir voy va vamos van fui fue fuimos
venir vengo viene venimos vienen vine vino vinimos
hacer hago hace hacemos hacen hice hizo hicimos
poder puedo puede podemos pueden pude pudo pudimos
querer quiero quiere queremos quieren quise quiso quisimos
preferir prefiero prefiere preferimos prefieren preferí prefirió preferimos
jugar juego juega jugamos juegan jugué jugó jugamos
empezar empiezo empieza empezamos empiezan empecé empezó empezamos
comenzar comienzo comienza comenzamos comienzan comencé comenzó comenzamos
volar vuelo vuela volamos vuelan volé voló volamos
conducir conduzco conduce conducimos conducen conduje condujo condujimos
nacer nazco nace nacemos nacen nací nació nacimos
crecer crezco crece crecemos crecen crecí creció crecimos
dormir duermo duerme dormimos duermen dormí durmió dormimos
morir muero muere morimos mueren morí murió morimos
rendir rindo rinde rendimos rinden rendí rindió rendimos
elegir elijo elige elegimos eligen elegí eligió elegimos
escoger escojo escoge escogemos escogen escogí escogió escogimos
recoger recojo recoge recogemos recogen recogí recogió recogimos
salir salgo sale salimos salen salí salió salimos
dar doy da damos dan di dio dimos
decir digo dice decimos dicen dije dijo dijimos
saber sé sabe sabemos saben supe supo supimos
ver veo ve vemos ven vi vio vimos
oír oigo oye oímos oyen oí oyó oímos
pensar pienso piensa pensamos piensan pensé pensó pensamos
entender entiendo entiende entendemos entienden entendí entendió entendimos
encontrar encuentro encuentra encontramos encuentran encontré encontró encontramos
soñar sueño sueña soñamos sueñan soñé soñó soñamos
sentir siento siente sentimos sienten sentí sintió sentimos
pedir pido pide pedimos piden pedí pidió pedimos
seguir sigo sigue seguimos siguen seguí siguió seguimos
recordar recuerdo recuerda recordamos recuerdan recordé recordó recordamos
leer leo lee leemos leen leí leyó leímos
perder pierdo pierde perdemos pierden perdí perdió perdimos
aprobar apruebo aprueba aprobamos aprueban aprobé aprobó aprobamos
poner pongo pone ponemos ponen puse puso pusimos
haber he ha hemos han hube hubo hubimos
suponer supongo supone suponemos suponen supuse supuso supusimos
parecer parezco parece parecemos parecen parecí pareció parecimos
dirigir dirijo dirige dirigimos dirigen dirigí dirigió dirigimos
"""
PARTICIPLE = (
    r"(?:\w+(?:ado|ido|ída|ído)|hecho|puesto|roto|escrito|muerto|vuelto|abierto|dicho|visto"
    r"|descubierto|cubierto)"
)
LEAD = (
    r"sí(?=,)|no(?=,)|pues(?: mira)?|mira|oye|vale|bueno|hola|buenas|buenos días|gracias|por cierto"
    r"|la verdad(?: es que)?|che|y|pero"
    r"|de paso|y de paso|anotá|anota|apunta|toma nota|para que (?:lo )?sepas|por si acaso"
    r"|te cuento(?: que)?|que sepas que|nada"
    r"|entonces|además|o sea|es que|al final|finalmente|ahora|actualmente|a ver|ey|hey|jo|uf|ay|en fin"
    r"|resulta que|eso sí"
    r"|dato|dato importante|importante|ojo|aviso|recuerda que|ten en cuenta que|por aquí|total|sinceramente"
    r"|personalmente"
    r"|yo es que|fíjate|perdona|perdón|ah|de hecho|para tu información|como dato|ps|luego|así que|ni modo"
)
