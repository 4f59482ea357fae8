"""A thousand invented titles in eight scripts, and what becomes of a name when it is typed in haste."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Script:
    """Parts of which names are made, and the rows of the keyboard on which they are typed."""

    first: str
    last: str
    phrases: tuple[str, ...]
    """With {} for a name."""
    rows: tuple[str, ...] = ()


QWERTY = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SCRIPTS = {
    "Latin": Script(
        "Bel Cor Dra Eis Fen Gal Hro Ilm Jor Kal Lor Mer Nor Osk Pel Quen",
        "dan ethil gard iane korr lund mira noth orim rask stead thys una wick",
        ("{}", "The {} Gate", "House {}", "{}, the Grey", "Battle of {}"),
        QWERTY,
    ),
    "Latin with accents": Script(
        "Ár Bé Ção Dún Él Fóg Guê Ílh Jão Lú Mê Nó Ór Pê Qué Ré",
        "baço çador dália fênix gônia lém mária nhão próspe rião sândalo têmis vão",
        ("{}", "Porta de {}", "O Véu de {}", "A Ordem {}"),
        QWERTY,
    ),
    "Cyrillic": Script(
        "Бел Вер Гор Дра Жар Зим Йор Кол Лад Мор Нев Ост Пер Рус Сол Чер",
        "бор вин град дар жан зень кан лот мир ница польг рев стан тынь хов",
        ("{}", "Врата {}", "Дом {}", "Битва при {}"),
        ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    ),
    "Greek": Script(
        "Αργ Βελ Γορ Δελ Ερμ Ζεφ Θελ Ιλι Καλ Λυκ Μελ Νικ Ορφ Πελ Ροδ Χρυσ",
        "ανδρος βία γόνη δωνα εύς ηίς θεα κλής λώνη μένη ναξ πολις ρία στος",
        ("{}", "Η Πύλη {}", "Οίκος {}"),
        ("ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),
    ),
    "Arabic": Script(
        "بر تم جل حم خل دم رض زه سل شم صخ طي عم غر فر قص",
        "دان ران سيف شاد عون غار فوز قيم كوت لام مود نور هاد وين يار",
        ("{}", "بوابة {}", "بيت {}", "معركة {}"),
        ("ضصثقفغعهخحجد", "شسيبلاتنمكط", "ئءؤرىةوزظ"),
    ),
    "Hangul": Script(
        "강 나 단 라 만 벽 서 온 자 천 큰 태 평 해 검 은",
        "가람 나루 도성 라온 미르 별하 산채 아라 재하 청운 토림 풍월 하늘 금강",
        ("{}", "{}의 문", "{} 가문", "{} 전투"),
    ),
    "kana and kanji": Script(
        "青 赤 銀 霧 塩 潮 星 月 雪 風 雷 影 森 砂 鉄 竜",
        "ノ門 ヶ原 の都 姫 騎士 の塔 神殿 砦 大橋 の谷 ギルド 街道 海峡 の書",
        ("{}", "古い{}", "{}の戦い", "最後の{}"),
    ),
    "Devanagari": Script(
        "अमर इन्द्र उदय कमल गगन चन्द जय तारा देव नील पवन भीम मधु रत्न वीर सूर्य",
        "गढ़ पुर नगर वन सागर द्वार कुण्ड लोक शिखर मण्डल घाट ग्राम कोट तीर्थ",
        ("{}", "{} का द्वार", "{} वंश", "{} का युद्ध"),
        ("टेरतुयिोप", "ासदगहजकल", "षचवबनम"),
    ),
}


def titles(number: int, rng: Random) -> list[str]:
    """Different titles, as many of each script."""
    found: dict[str, None] = {}
    scripts = list(SCRIPTS.values())
    while len(found) < number:
        script = scripts[len(found) % len(scripts)]
        name = rng.choice(script.first.split()) + rng.choice(script.last.split())
        found.setdefault(rng.choice(script.phrases).format(name))
    return list(found)


def neighbour(title: str, rng: Random) -> str | None:
    """One letter typed on the key beside its own; None where no keyboard is known."""
    rows = next(
        (s.rows for s in SCRIPTS.values() if s.rows and any(c in row for row in s.rows for c in title.lower())), ()
    )
    spots = [(at, row) for at, letter in enumerate(title) for row in rows if letter.lower() in row]
    if not spots:
        return None
    at, row = rng.choice(spots)
    place = row.index(title[at].lower())
    near = row[place + 1] if place == 0 or (place + 1 < len(row) and rng.random() < 0.5) else row[place - 1]
    return title[:at] + (near.upper() if title[at].isupper() else near) + title[at + 1 :]


def transposed(title: str, rng: Random) -> str | None:
    """Two letters side by side in the wrong order."""
    spots = [at for at in range(len(title) - 1) if title[at] != title[at + 1]]
    at = rng.choice(spots)
    return title[:at] + title[at + 1] + title[at] + title[at + 2 :]


def dropped(title: str, rng: Random) -> str | None:
    """One letter missing."""
    at = rng.choice([at for at, letter in enumerate(title) if not letter.isspace()])
    return title[:at] + title[at + 1 :]


def case(title: str, rng: Random) -> str | None:
    """In capitals, or with the capitals the other way round; None in a script that has none."""
    other = rng.choice((title.upper(), title.swapcase(), title.lower()))
    return other if other != title else None


def width(title: str, rng: Random) -> str | None:
    """In the width of East Asian typesetting; None where no letter has another."""
    other = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in title)
    return other if other != title else None


def normal_form(title: str, rng: Random) -> str | None:
    """With its accents, vowel signs or jamo apart; None where nothing can be taken apart."""
    other = unicodedata.normalize("NFD", title)
    return other if other != title else None


WAYS: dict[str, Callable[[str, Random], str | None]] = {
    way.__name__: way for way in (neighbour, transposed, dropped, case, width, normal_form)
}


def misspelt(names: list[str], number: int, rng: Random) -> Iterator[tuple[str, str, str]]:
    """Title, way and what was typed, the ways in turn; never what is another title."""
    known = set(names)
    done = 0
    for title in rng.sample(names, len(names)):
        way = list(WAYS)[done % len(WAYS)]
        typed = WAYS[way](title, rng)
        if typed is None or typed in known:
            continue
        yield title, way, typed
        done += 1
        if done == number:
            return
