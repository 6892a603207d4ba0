"""The analyser of every keyword engine (S-18)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.analysis import MAX_TERM_BYTES, analyse, analyse_query
from services.memory.semantic.domain.words import STOP_WORDS


@pytest.fixture(scope="module")
def fts() -> Iterator[sqlite3.Connection]:
    """An FTS5 table as the embedded keyword channel has it, with a view of its tokens."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE docs USING fts5(terms, tokenize='unicode61')")
    connection.execute("CREATE VIRTUAL TABLE tokens USING fts5vocab(docs, 'instance')")
    yield connection
    connection.close()


def found(fts: sqlite3.Connection, text: str, query: str) -> bool:
    fts.execute("DELETE FROM docs")
    fts.execute("INSERT INTO docs(terms) VALUES (?)", (" ".join(analyse(text)),))
    expression = " OR ".join(f'"{term}"' for term in analyse_query(query))
    return (
        bool(expression)
        and fts.execute("SELECT 1 FROM docs WHERE docs MATCH ?", (expression,)).fetchone() is not None
    )


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The dogs were running", ["dog", "run"]),
        ("Anna's café isn't naïve", ["anna", "cafe", "naiv"]),
        ("parse_http_url", ["parsehttpurl", "pars", "http", "url"]),
        ("parseHttpUrl", ["parsehttpurl", "pars", "http", "url"]),
        ("getUserById", ["getuserbyid", "get", "user", "id"]),
        ("/usr/local/bin", ["usrlocalbin", "usr", "local", "bin"]),
        ("ann@mail.example", ["annmailexampl", "ann", "mail", "exampl"]),
        ("v3.11", ["v3p11", "3", "11"]),
        ("1,000 on the 15th", ["1000", "15"]),
        ("2024-03-15", ["2024p03p15", "2024", "03", "15"]),
        ("REST APIs on my iPhone", ["rest", "api", "iphon"]),
        ("C++ or C#?", ["cplusplus", "c", "csharp", "c"]),
        ("the U.S.A., e.g.", ["usa"]),
        ("Łódź Straße Ærø", ["lodz", "strass", "aero"]),
        ("ＦＵＬＬ ｗｉｄｔｈ", ["full", "width"]),
        ("Привет Ёлка", ["привет", "елка"]),
        ("日本", ["u65e5", "u65e5u672c", "u672c"]),
        ("カメラ", ["u30abu30e1", "u30e1u30e9"]),
        ("犬", ["u72ac"]),
        ("ดี", ["ue14ue35"]),
        ("👍🏽 🇫🇷", ["u1f44d", "u1f1ebu1f1f7"]),
        ("what is it?", []),
        ("... — !!", []),
    ],
)
def test_s18_terms_of_a_text(text: str, terms: list[str]) -> None:
    """S-18: fold, stem, stop words, identifiers whole and split, bigrams, numbers, emoji."""
    assert analyse(text) == terms


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("we keep parse_http_url in utils.py", "parseHttpUrl"),
        ("we keep parse_http_url in utils.py", "url parsing"),
        ("send an e-mail", "emails"),
        ("我喜欢喝茶", "茶"),
        ("昨日は東京タワーに行った", "東京"),
        ("책을 읽었다", "책"),
        ("ฉันชอบแมวมาก", "แมว"),
        ("she lives in Łódź", "lodz"),
        ("upgraded to 3.11.2", "3.11.2"),
        ("that made me 😀", "😀"),
        ("one zyzzyva among many ordinary words", "does anybody remember the zyzzyva"),
    ],
)
def test_s18_one_matching_word_is_enough(fts: sqlite3.Connection, text: str, query: str) -> None:
    """S-18: another spelling, one rare word, or a word inside unspaced text finds the message."""
    assert found(fts, text, query)
    assert not found(fts, text, "quokka")


def test_s18_a_version_is_not_the_number_without_its_points() -> None:
    assert "311" not in analyse("3.11")
    assert "311" in analyse("311")


def test_s18_query_terms_are_distinct_and_keep_their_order() -> None:
    assert analyse_query("Trains, train and planes training") == ["train", "plane"]


def test_s18_a_query_leaves_single_han_characters_to_the_index() -> None:
    """A query for 茶道 must not match every 道; the index holds both characters for those who ask so."""
    assert analyse_query("茶道") == ["u8336u9053"]
    assert {"u8336", "u9053"} <= set(analyse("茶道"))


def test_s18_long_urls_give_their_parts_only() -> None:
    terms = analyse("https://example.com/a-very-long/path/to/some/document/that/nobody/types")
    assert {"exampl", "document", "path"} <= set(terms)
    assert max(map(len, terms)) < 20


@given(st.text(max_size=60))
def test_s18_every_term_is_one_token_of_fts5(fts: sqlite3.Connection, text: str) -> None:
    """S-18: unicode61 neither splits nor drops a term, whatever the script."""
    terms = analyse(text)
    fts.execute("DELETE FROM docs")
    fts.executemany("INSERT INTO docs(terms) VALUES (?)", [(term,) for term in terms])
    counts = fts.execute("SELECT count(*) FROM tokens GROUP BY doc ORDER BY doc").fetchall()
    assert counts == [(1,)] * len(terms)


@given(st.text(max_size=200))
def test_s18_terms_are_bounded_and_repeatable(text: str) -> None:
    terms = analyse(text)
    assert terms == analyse(text)
    assert all(0 < len(term.encode()) <= MAX_TERM_BYTES for term in terms)
    assert not any(character.isspace() for term in terms for character in term)


@given(st.lists(st.from_regex(r"[a-z]{3,9}", fullmatch=True), min_size=1, max_size=8))
def test_s18_case_never_matters_in_plain_words(words: list[str]) -> None:
    text = " ".join(words)
    assert analyse(text) == analyse(text.upper()) == analyse(text.title())


@given(st.text(alphabet="abcXYZ019_-./ é日本카ไ😀'", max_size=40))
def test_s18_a_text_is_found_by_itself(text: str) -> None:
    """Every query term of a text is one of its index terms."""
    assert set(analyse_query(text)) <= set(analyse(text))


def test_s18_stop_words_hold_what_the_analyser_could_produce() -> None:
    assert all(word == word.casefold() and word.isalpha() for word in STOP_WORDS)
    assert "not" in STOP_WORDS
    assert "train" not in STOP_WORDS
