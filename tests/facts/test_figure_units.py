"""A claim that changes the unit of a figure: by hand, figures that agree and that do not, in each language with units of its own."""

import random
from itertools import permutations

import pytest
from folding import each

from rag_core.facts import changed_facts
from rag_core.facts.sentence.figure_units import exact_units, figure_units
from rag_core.facts.sentence.lexicon import dimension, value_words
from rag_core.facts.sentence.numbers import plain_quantities, quantities
from rag_core.facts.sentence.units import units_in
from rag_core.language import LANGUAGES, any_language

SENTENCES = {
    "en": ("It is {}.", "So it is {}."),
    "de": ("Es sind {}.", "Der Wert ist {}."),
    "cs": ("Je to {}.", "Hodnota je {}."),
    "es": ("Son {}.", "El valor es {}."),
    "ru": ("Это {}.", "Значение {}."),
    "hi": ("यह {} है।", "मान {} है।"),
}
# Each row: what stands between two bars is another figure than the rest, and "=" joins what is the same.
ROWS = {
    "en": """
5 % = 5 percent = 5 per cent = 5 pct | 5 percentage points = 5 pp | 5 ‰ = 50 bp | 5 basis points = 5 bp
5 ppm = 5 parts per million | 5 ppb = 5 parts per billion | 5 ppt | 5 %
5 % per month = 5 % a month = 5 % monthly | 5 % per year = 5 % p.a. = 5 % per annum = 5 % annually | 5 % each week
5 km/h = 5 km per hour = 5 kph = 5 kmh = 5 kilometres per hour | 5 km = 5000 m | 5 m/s = 5 m s⁻¹
5 m/s = 5 metres per second | 5 mph = 5 miles an hour
5 m/s | 5 m/s² = 5 m/s^2 | 5 m/min
5 mg/kg = 5 mg per kilogram = 5 mg / kg | 5 mg/l = 5 mg per litre = 5 mg/L = 5 mg l⁻¹ | 5 mg/m³ = 5 mg per cubic metre | 5 mg/m²
5 mg/kg per day = 5 mg/kg/day | 5 mg/kg per hour
5 Mb = 5 Mbit = 5 megabits | 5 MB = 5 megabytes = 5000 kB | 5 Gb | 5 GB | 5 MiB = 5 mebibytes | 5 kB = 5 KB = 5 kilobytes
5 Mbps = 5 Mbit/s = 5 Mb/s = 5 megabits per second | 5 MBps = 5 MB/s | 5 Mbit
5 mHz = 5 millihertz | 5 MHz = 5 megahertz = 5000 kHz | 5 mPa | 5 MPa = 5 megapascals = 50 bar
5 mN = 5 millinewtons | 5 MN = 5000 kN | 5 million | 5 Nm = 5 newton metres = 5 N·m | 5 N/m
5 mM | 5 mm = 5 millimetres | 5 µM | 5 Mm
5 mg | 5 µg = 5 ug = 5 mcg = 5 micrograms | 5 pg | 5 Mg | 5 ng
5 mmol | 5 µmol = 5 umol = 5 micromoles | 5 mol = 5 moles
5 T = 5 tesla | 5 t = 5 tonnes = 5 metric tons = 5000 kg | 5 kt = 5 kilotonnes | 5 mT | 5 long tons | 5 short tons
5 pF | 5 nF | 5 µF | 5 mH | 5 µH | 5 mGy | 5 kBq | 5 MBq | 5 mAh = 5 milliamp hours | 5 mA
5 kWh = 5 kilowatt hours = 5000 watt-hours | 5 kW | 5 MWh = 5 megawatt hours | 5 kWp = 5 kW peak | 5 kvar | 5 kVA
$5 = US$5 = 5 USD = 5 US dollars = 5 dollars | C$5 = CA$5 = 5 Canadian dollars = 5 CAD
5 A$ = A$5 = 5 Australian dollars | HK$5 | US$5 | NZ$5 | R$5
€5m = €5 million = EUR 5m = 5 M€ | €5k = €5,000 = 5 k€ | €5bn = €5B | €5
$5M = $5 million | $5B = $5 billion | $5K = $5,000
5 square metres = 5 m² = 5 m2 = 5 m^2 = 5 sq m = 5 sq metres | 5 metres = 5 m | 5 m³ = 5 cubic metres = 5 cu m
5 feet | 5 square feet = 5 ft² = 5 sq ft
5 in = 5 inches = 5 inch | 5 cm | 5 ft = 5 feet | 5 sq in = 5 in² = 5 square inches | 5 yd = 5 yards | 5 cubic feet = 5 cu ft = 5 ft³
5 gal = 5 gallons = 5 gal. | 5 l = 5 litres | 5 pints | 5 quarts | 5 barrels = 5 bbl | 5 fl oz = 5 fluid ounces
5 cc = 5 cm³ = 5 ml | 5 cl | 5 dl = 500 ml | 5 µl
5 nautical miles = 5 nmi | 5 miles | 5 square miles = 5 sq mi | 5 knots
5 rpm = 5 revolutions per minute = 5 U/min | 5 revolutions | 5 Hz
5 px = 5 pixels | 5 pt | 5 IU = 5 international units | 5 dB = 5 decibels | 5 dBm | 5 dBA = 5 dB(A)
5 mmHg = 5 mm Hg | 5 mm | 5 hp = 5 horsepower
20 °C = 20 degrees Celsius = 20 ºC = 20 ° C = 20 degrees C = 20 degrees centigrade | 20 °F = 20 degrees F | 20 K = 20 kelvins
5 fortnights | 5 weeks = 5 wk = 35 days = 35 d | 5 months = 5 mo | 5 yrs = 5 years = 5 yr | 5 nights
5 per day = 5 a day | 5 per week = 5 each week
5 visits per day | 5 visits per week
five percent per month | five percent per year
5 l/100 km = 5 litres per 100 km | 5 l/km | 5 l/h
5 W/m² = 5 watts per square metre | 5 W/m³ | 5 W/m
5 to 10 km/h = 5-10 km per hour | 5 to 10 km per minute
5 kN | 5 dozen | 5 pairs per minute
""",
    "de": """
5 % = 5 Prozent = 5 v. H. = 5 v.H. | 5 Prozentpunkte = 5 Prozentpunkten | 5 Promille = 50 Basispunkte
5 % pro Monat = 5 % im Monat = 5 % monatlich = 5 % je Monat | 5 % pro Jahr = 5 % jährlich = 5 % p.a. | 5 % pro Quartal
5 Euro pro Monat = 5 € monatlich = 5 EUR/Monat | 5 Euro jährlich = 5 € im Jahr = 5 € je Jahr | 5 Euro täglich | 5 Euro wöchentlich
5 km/h = 5 Stundenkilometer = 5 Kilometer pro Stunde | 5 km = 5 Kilometer | 5 m/s = 5 Meter pro Sekunde
5 mg/l = 5 mg pro Liter = 5 Milligramm je Liter | 5 mg/kg = 5 mg pro Kilogramm
3 Sek. = 3 Sekunden = 3 s | 3 Min. = 3 Minuten | 3 Std. = 3 Stunden | 3 SEK
3 T€ = 3 TEUR = 3.000 Euro = 3 Tsd. Euro | 3 € | 3 Tonnen = 3 t | 3 Mio. € = 3 Mio. EUR
5 Quadratmeter = 5 m² = 5 qm | 5 Meter = 5 m | 5 Kubikmeter = 5 m³ = 5 cbm | 5 Quadratzentimeter = 5 cm² | 5 Kubikzentimeter = 5 cm³
5 Megawattstunden = 5 MWh = 5000 Kilowattstunden | 5 Megawatt = 5 MW | 5 Milliwatt = 5 mW | 5 GW = 5 Gigawatt
5 Kilobyte = 5 kB | 5 Megabyte = 5 MB | 5 Megabit = 5 Mb
5 Kilohertz = 5 kHz | 5 Megahertz = 5 MHz | 5 Dezibel = 5 dB
5 Deziliter = 5 dl | 5 Zentiliter = 5 cl | 5 Litern = 5 l
5 Newtonmeter = 5 Nm | 5 Newton = 5 N | 5 Kilonewton = 5 kN
5 Zentner | 5 Tonnen | 5 kg = 5 Kilo | 5 Ar | 5 Hektar
5 U/min = 5 Umdrehungen pro Minute = 5 rpm | 5 Umdrehungen pro Stunde
5 Cent = 5 Ct | 5 Euro | 5 Nächte | 5 Tage
""",
    "cs": """
5 % = 5 procent = 5 proc. | 5 procentních bodů = 5 p. b. | 5 promile = 50 bazických bodů
5 % za měsíc = 5 % měsíčně | 5 % za rok = 5 % ročně = 5 % p.a. | 5 % týdně
5 Kč za měsíc = 5 Kč měsíčně = 5 Kč/měsíc | 5 Kč za rok = 5 korun ročně | 5 Kč za m² = 5 Kč/m² = 5 Kč za metr čtvereční
5 km/h = 5 km za hodinu = 5 kilometrů za hodinu = 5 km/hod | 5 km | 5 metrů za sekundu = 5 m/s
5 mg/l = 5 mg na litr = 5 miligramů na litr | 5 mg/kg = 5 mg na kilogram
5 metrů čtverečních = 5 m² = 5 čtverečních metrů | 5 metrů = 5 m | 5 metrů krychlových = 5 m³ = 5 kubíků = 5 kubických metrů
3 metry čtvereční = 3 m² = 3 čtvereční metry | 3 metry | 3 km čtvereční = 3 km²
5 vteřin = 5 sekund = 5 s | 5 minut | 5 nocí | 5 dnů
5 megawattů = 5 MW | 5 mW = 5 miliwattů | 5 megawatthodin = 5 MWh | 5 kilowatthodin
5 megabajtů = 5 MB | 5 gigabajtů = 5 GB | 5 megabitů = 5 Mb
5 miliampérů = 5 mA | 5 ampérů = 5 A | 5 kilojoulů = 5 kJ | 5 megajoulů = 5 MJ
5 newtonů = 5 N | 5 newtonmetrů = 5 Nm | 5 kilonewtonů = 5 kN
5 stupňů Celsia = 5 °C | 5 stupňů Fahrenheita = 5 °F
5 ot/min = 5 otáček za minutu = 5 rpm | 5 otáček | 5 arů | 5 hektarů
5 prac. dnů = 5 pracovních dnů | 5 dnů | 5 kilo = 5 kg | 5 decilitrů = 5 dl
""",
    "es": """
5 % = 5 por ciento | 5 puntos porcentuales | 50 puntos básicos
5 % al mes = 5 % por mes = 5 % mensual | 5 % al año = 5 % anual | 5 % por semana
5 km/h = 5 kilómetros por hora | 5 km = 5 kilómetros | 5 m/s = 5 metros por segundo
5 metros cuadrados = 5 m² | 5 metros = 5 m | 5 metros cúbicos = 5 m³
5 kilogramos = 5 kg | 5 gramos = 5 g | 5 miligramos = 5 mg | 5 toneladas = 5 t
5 megavatios = 5 MW | 5 milivatios = 5 mW | 5 hectáreas = 5 ha
""",
    "ru": """
5 % = 5 процентов | 5 процентных пунктов = 5 п.п.
5 % в месяц = 5 % ежемесячно | 5 % в год = 5 % годовых
5 км/ч = 5 км в час = 5 километров в час | 5 км = 5 километров | 5 м/с = 5 метров в секунду
5 квадратных метров = 5 м² = 5 кв. м | 5 метров = 5 м | 5 кубических метров = 5 м³
5 МВт = 5 мегаватт | 5 мВт = 5 милливатт | 5 МГц | 5 мГц
5 кг = 5 килограммов | 5 г = 5 граммов | 5 мг = 5 миллиграммов | 5 тонн = 5 т
""",
    "hi": """
5 प्रतिशत = 5 % | 5 प्रतिशत अंक
5 % प्रति माह = 5 % मासिक | 5 % प्रति वर्ष = 5 % वार्षिक
5 किमी प्रति घंटा = 5 किलोमीटर प्रति घंटा | 5 किमी = 5 किलोमीटर
5 वर्ग मीटर = 5 m² | 5 मीटर | 5 घन मीटर
5 किलोग्राम | 5 मिलीग्राम | 5 मेगावाट = 5 MW | 5 मेगाबाइट = 5 MB
""",
}
FIGURES = {lang: [[row.split(" = ") for row in line.split(" | ")] for line in text.strip().splitlines()] for lang, text in ROWS.items()}
EQUAL = [
    (lang, *pair)
    for lang, rows in FIGURES.items()
    for row in rows
    for first, *rest in row
    for one in rest
    for pair in ((first, one), (one, first))
]
# an amount without what it is counted by is no other one
OTHER = [
    (lang, mine, theirs)
    for lang, rows in FIGURES.items()
    for row in rows
    for one, other in permutations(row, 2)
    for mine, theirs in {(one[0], other[-1]), (one[-1], other[0])}
]

STAND = [  # (claim, evidence, language)
    ("The rate is 5 % a month.", "The monthly rate is 5 %.", "en"),
    ("Die Miete beträgt 500 Euro im Monat.", "Die monatliche Miete beträgt 500 Euro.", "de"),
    ("Úrok je 5 % ročně.", "Roční úrok je 5 %.", "cs"),
    ("It covers 5 km per hour.", "Each hour it covers 5 km.", "en"),
    ("Each hour it covers 5 km.", "It covers 5 km per hour.", "en"),
    ("The dose is 5 mg/kg/day.", "The daily dose is 5 mg/kg.", "en"),
    ("The fee is 5 EUR.", "The fee is 5 EUR per month.", "en"),
    ("The monthly fee is 5 EUR.", "The fee is 5 EUR per month.", "en"),
    ("He drinks 5 litres.", "He drinks 5 litres per day.", "en"),
    ("It takes 5 minutes.", "It takes 5 minutes per page.", "en"),
    ("It runs at 5 km/h.", "Speed (km/h) | 5", "en"),
    ("It is 5 percentage points.", "Rise in percentage points | 5", "en"),
    ("Es stieg von 5 um 3 Prozent.", "Von 5 stieg es um 3 Prozent.", "de"),
    ("It uses 6 l per 100 km.", "On 100 km it uses 6 l.", "en"),
    ("On 100 km it uses 6 l.", "It uses 6 l per 100 km.", "en"),
    ("There were 5 calls.", "There were 5 calls per minute.", "en"),
    ("It takes 5 minutes.", "It takes 5 minutes per kilogram.", "en"),
    ("The sum is 5 m² + 3 m².", "So the sum is 5 m² + 3 m² in all.", "en"),
    ("There are two of 5.", "Of 5 there are two.", "en"),
    ("There are 5 in stock.", "In the shop there are 5 in stock.", "en"),
    ("It rose by 5 in 2020.", "In 2020 it rose by 5.", "en"),
    ("It pays 5 EUR every second month.", "Every second month it pays 5 EUR.", "en"),
    ("Zaplatil 5 Kč za rok 2020.", "Za rok 2020 zaplatil 5 Kč.", "cs"),
    ("The speed is 3 m² per hour.", "So the speed is 3 square metres per hour.", "en"),
    ("It is 5 in wide.", "So it is 5 inches wide.", "en"),
    ("The sum is 5 MN EUR.", "So the sum is 5 million euros.", "en"),
    ("It is 5 million euros.", "Sum in MN EUR | 5", "en"),
    ("It is x = 5 m/s.", "The speed x = 5 metres per second.", "en"),
]
CHANGED = [
    ("The rate is 5 % per month.", "The interest that they charge is 5 % per year.", "en"),
    ("The salary is 5000 EUR a week.", "The monthly salary is 5000 EUR.", "en"),
    ("The monthly salary is 5000 EUR.", "The salary is 5000 EUR a week.", "en"),
    ("Unemployment rose by 3 percent.", "Unemployment rose by 3 percentage points last year.", "en"),
    ("The bond pays 5 % interest per year.", "The bond pays 5 % interest per month.", "en"),
    ("It runs at 5 km/h.", "The route is 5 km in all.", "en"),
    ("The route is 5 km.", "It runs at 5 km/h on this route.", "en"),
    ("The plan is $5F.", "So the plan is $5.", "en"),
    ("The room is 5B.", "So the room is 5.", "en"),
    ("It is 5 in long.", "The rod is 5 cm long.", "en"),
    ("Die Quote stieg um 5 Prozent.", "Die Quote stieg im Jahr um 5 Prozentpunkte.", "de"),
    ("Plocha je 30 metrů čtverečních.", "Délka je 30 metrů.", "cs"),
]

READ = [  # (text, language, value, unit, what it is counted by)
    ("5 km an hour", "en", "5", "km", "hour"),
    ("5 kph", "en", "5", "km", "hour"),
    ("5 EUR every second month", "en", "5", "eur", ""),
    ("5 Kč za rok 2020", "cs", "5", "czk", ""),
    ("5 Kč za rok", "cs", "5", "czk", "year"),
    ("5 mg/kg per day", "en", "5", "mg", "kg/day"),
    ("5 l per 100 km", "en", "5", "l", "100 km"),
    ("5 Kč za metr čtvereční", "cs", "5", "czk", "m2"),
    ("5 W per square metre", "en", "5", "w", "m2"),
    ("5 % interest of any kind per year", "en", "5", "%", ""),
    ("5 % interest per year", "en", "5", "%", "year"),
    ("5 to 6 km/h", "en", "5", "km", "hour"),
    ("five litres per day", "en", "5", "l", "day"),
    ("3 mal pro Tag", "de", "3", "", "day"),
    ("5 metres square", "en", "5", "m", ""),
    ("5 metros cuadrados", "es", "5", "m2", ""),
    ("5 in stock", "en", "5", "", ""),
    ("5 in wide", "en", "5", "inch", ""),
    ("5 in.", "en", "5", "inch", ""),
    ("5 m long", "en", "5", "m", ""),
    ("€5 m", "en", "5000000", "eur", ""),
    ("€5 m²", "en", "5", "eur", ""),
    ("5 T€", "de", "5000", "eur", ""),
    ("5 T", "de", "5", "tesla", ""),
    ("5 MN", "en", "5", "1000000 newton", ""),
    ("5 MN EUR", "en", "5000000", "eur", ""),
    ("$5 MN", "en", "5000000", "usd", ""),
    ("5 mn", "en", "5000000", "", ""),
    ("3 SEK.", "de", "3", "sek", ""),
    ("3 Sek.", "de", "3", "second", ""),
    ("20 ºF", "en", "20", "°f", ""),
    ("two of them", "en", "2", "", ""),
]


def changed(lang: str, mine: str, theirs: str) -> tuple[tuple[str, str], ...]:
    claim, evidence = SENTENCES[lang]
    return changed_facts(claim.format(mine), evidence.format(theirs), lang)


def keeps(lang: str, mine: str, theirs: str) -> bool:
    """Whether a claim only leaves out by what the evidence counts an amount, or a day, a month or the like."""
    one, other = (quantities(text, lang)[0] for text in (mine, theirs))
    left, more = ({*here.by.split("/")} - {*there.by.split("/"), ""} for here, there in ((other, one), (one, other)))
    counted = one.unit == "" or dimension(one.unit) in ("currency", "share", "time") or left <= {*any_language().calendar}
    return one.value == other.value and one.exact == other.exact and bool(left) and not more and counted


@each("lang, mine, theirs", EQUAL)
def test_given_one_figure_in_two_wordings_then_nothing_is_changed(lang: str, mine: str, theirs: str) -> None:
    assert changed(lang, mine, theirs) == ()


@each("lang, mine, theirs", [row for row in OTHER if not keeps(*row)])
def test_given_another_unit_then_the_claim_is_caught(lang: str, mine: str, theirs: str) -> None:
    assert changed(lang, mine, theirs)


def test_given_two_figures_with_units_then_their_comparison_is_symmetric() -> None:
    drawn = random.Random(5)
    for lang, rows in FIGURES.items():
        read = {one: quantities(one, lang) for row in rows for same in row for one in same}
        known = sorted(text for text, found in read.items() if len(found) == 1 and found[0].unit)
        for mine, theirs in (drawn.sample(known, 2) for _ in range(60)):
            if not keeps(lang, mine, theirs) and not keeps(lang, theirs, mine):
                assert bool(changed(lang, mine, theirs)) == bool(changed(lang, theirs, mine)), (lang, mine, theirs)


@each("text, lang, value, unit, by", READ)
def test_given_a_figure_then_its_unit_is_read_with_what_it_is_counted_by(text: str, lang: str, value: str, unit: str, by: str) -> None:
    found = quantities(text, lang)[0]

    assert (found.value, found.unit, found.by) == (value, unit, by)


@each("claim, evidence, lang", STAND)
def test_given_a_unit_or_rate_that_stands_elsewhere_in_the_evidence_then_nothing_is_changed(claim: str, evidence: str, lang: str) -> None:
    assert changed_facts(claim, evidence, lang) == ()


@each("claim, evidence, lang", CHANGED)
def test_given_a_sentence_with_another_unit_or_rate_then_it_is_caught(claim: str, evidence: str, lang: str) -> None:
    assert changed_facts(claim, evidence, lang)


@pytest.mark.parametrize("lang", SENTENCES)
def test_given_the_units_of_questions_then_they_are_read_without_these(lang: str) -> None:
    """A calibrated score rests on how a question is read."""
    read = plain_quantities("5 gal, 5 mN, C$5 and 5 km per hour", lang)

    assert [(one.text, one.value, one.unit, one.by) for one in read][2:] == [("$5", "5", "usd", ""), ("5 km", "5", "km", "")]
    assert read[0].unit == ""


def test_given_a_mistyped_row_of_units_then_it_is_known_here() -> None:
    known = {*any_language().prefixes}
    assert all(set(row.split()[1:]) <= known for row in any_language().prefixed.values())
    for info in LANGUAGES.values():
        rows = info.figure_units
        if rows:
            assert set(rows.prefixes.values()) <= known, info.code
            assert not {*rows.metric} - {unit.replace(" ", "_") for unit in (*exact_units(), *rows.metric)}, info.code


def test_given_prefixes_then_a_unit_has_one_name() -> None:
    english = figure_units("en")

    assert english.symbols["MHz"] == english.units["megahertz"] == value_words("en").units["mhz"]
    assert english.symbols["mHz"] == english.units["millihertz"]
    assert english.symbols["hPa"] == value_words("en").units["hpa"]  # and no millibar, which is as much
    assert exact_units()[english.symbols["mHz"]] == ("hz", exact_units()["millivolt"][1])


def test_given_a_header_then_its_units_are_named_and_a_word_that_is_one_behind_figures_only_is_not() -> None:
    assert {"km", "hour", "percentage point", "mbit"} <= units_in("Speed (km/h), rise in percentage points, Mb", "en")
    assert "inch" not in units_in("in the shop", "en")
    assert "usd" not in units_in("C$ million", "en")
