"""How a text is cut into pieces and windows."""

from collections.abc import Sequence
from time import process_time

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from embeddings.windows import cut, sentences, windows_of

SCRIPTS = st.text(alphabet=st.sampled_from("ab อก漢。. !\n\u0301👩\u200d🚀é"), max_size=300)


def count_words(texts: Sequence[str]) -> list[int]:
    """One token a word of at most four letters, as a model would: long words cost more."""
    return [sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def squeezed(texts: Sequence[str]) -> str:
    return "".join("".join(text.split()) for text in texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left! Why? Nobody knows.", ["He left!", "Why?", "Nobody knows."]),
        ("Mr. Smith paid 3.14 coins, i.e. a lot. “Really?” she asked.", None),
        ("他走了。「真的吗？」她问。然后！没有了", ["他走了。", "「真的吗？」", "她问。", "然后！", "没有了"]),
        ("वह गया। क्या? हाँ॥ ठीक", ["वह गया।", "क्या?", "हाँ॥", "ठीक"]),
        ("هل رأيت؟ نعم۔ حسنا.", ["هل رأيت؟", "نعم۔", "حسنا."]),
        ("ሰላም። እንዴት ነህ፧ ደህና", ["ሰላም።", "እንዴት ነህ፧", "ደህና"]),
        ("မင်္ဂလာပါ။နေကောင်းလား။", ["မင်္ဂလာပါ။", "နေကောင်းလား။"]),
        ("ខ្ញុំ។អ្នក៕", ["ខ្ញុំ។", "អ្នក៕"]),
        ("བཀྲ་ཤིས།བདེ་ལེགས།", ["བཀྲ་ཤིས།", "བདེ་ལེགས།"]),
        ("One line\nanother\n\n- a third", ["One line", "another", "- a third"]),
        ("ประโยคแรก ประโยคที่สอง", ["ประโยคแรก ประโยคที่สอง"]),
    ],
)
def test_sentences_of_every_script(text: str, expected: list[str] | None) -> None:
    """A sentence ends where its script says so, and not inside a number, an abbreviation or a title."""
    expected = expected or ["Mr. Smith paid 3.14 coins, i.e. a lot.", "“Really?”", "she asked."]
    assert [sentence.strip() for sentence in sentences(text)] == expected


@pytest.mark.parametrize("run", ["." * 100_000, "!" * 100_000, ".!" * 50_000, '."' * 50_000, "\n " * 50_000])
def test_a_long_run_takes_no_time(run: str) -> None:
    """Cutting takes time in proportion to the text, whatever it is a run of."""
    began = process_time()
    assert "".join(sentences(f"Wait{run}x")) == f"Wait{run}x"
    assert process_time() - began < 5  # measured: 0.03 s; 2,000 dots tried from each of them take ten


@given(st.text())
def test_sentences_joined_are_the_text(text: str) -> None:
    """Joined, the sentences of any text are the text."""
    assert "".join(sentences(text)) == text


@given(SCRIPTS, st.integers(1, 12), st.integers(1, 40))
@example("\n🚀\u200d\u200d\u200d\u200d", 1, 40)
def test_nothing_but_white_space_is_lost(text: str, window: int, piece: int) -> None:
    """Windows and pieces hold every character of the text but white space, in order, and none is blank."""
    made = cut(text, count_words, piece_tokens=piece, window_tokens=window)
    assert squeezed(made.windows) == squeezed([text])
    assert squeezed(made.pieces) == squeezed([text])
    assert all(part == part.strip() and part for part in (*made.pieces, *made.windows))


@given(SCRIPTS, st.integers(2, 12))
def test_a_window_is_as_long_as_allowed(text: str, limit: int) -> None:
    """A window has at most the tokens allowed, unless it is a single grapheme that has more alone."""
    for window in windows_of(text, count_words, limit):
        assert count_words([window])[0] <= limit or len(regex.findall(r"\X", window)) == 1


def test_an_ordinary_text_is_one_piece() -> None:
    """A text within the piece's limit is one piece, itself, and its windows follow its sentences."""
    text = "Kira (the Tide Queen)\nShe rules the coast. Her court meets at low tide.\n\nNobody saw her crown."
    made = cut(f"  {text}\n", count_words, piece_tokens=100, window_tokens=9)
    assert made.pieces == (text,)
    assert made.windows == (
        "Kira (the Tide Queen)",
        "She rules the coast.",
        "Her court meets at low tide.",
        "Nobody saw her crown.",
    )


def test_a_long_text_is_cut_between_sentences() -> None:
    """E01: a text longer than the model reads becomes several pieces, none of which cuts a sentence."""
    text = " ".join(f"Fact number {n} is told here." for n in range(200))
    made = cut(text, count_words, piece_tokens=50, window_tokens=20)
    assert len(made.pieces) > 10
    assert all(piece.startswith("Fact") and piece.endswith(".") for piece in made.pieces)
    assert "Fact number 199 is told here." in made.pieces[-1]
    assert all(count_words([piece])[0] <= 50 for piece in made.pieces)


def test_long_sentences_are_cut_at_blanks() -> None:
    """A sentence longer than a window is cut at white space, never inside a word."""
    words = [f"word{n}" for n in range(300)]
    windows = windows_of(" ".join(words), count_words, 16)
    assert len(windows) > 10
    assert [word for window in windows for word in window.split()] == words


def test_unbroken_text_is_cut_at_graphemes() -> None:
    """Text without any blank is cut between graphemes: no emoji sequence and no accent is torn off."""
    astronaut = "👩‍🚀"
    windows = windows_of(astronaut * 100, count_words, 4)
    assert len(windows) > 10
    assert all(window == astronaut * (len(window) // len(astronaut)) for window in windows)


def test_tokens_are_counted_together() -> None:
    """All sentences are counted in one call, and no text given to the tokenizer grows with the input (C06)."""
    calls: list[list[str]] = []

    def count(texts: Sequence[str]) -> list[int]:
        calls.append(list(texts))
        return count_words(texts)

    cut("A short one. " * 500, count, piece_tokens=100)
    assert len(calls) == 1
    cut("x" * 300_000, count, piece_tokens=100)
    assert max(len(text) for call in calls for text in call) <= 64 * 16 + 1


@pytest.mark.parametrize("text", ["", "   ", "\n\u3000\t"])
def test_blank_text_has_no_windows(text: str) -> None:
    """V13: a text of white space has no piece and no window, so no vector of nothing is made."""
    made = cut(text, count_words, piece_tokens=100)
    assert made.pieces == made.windows == ()
    assert windows_of(text, count_words, 10) == []


def test_a_window_of_no_tokens_is_refused() -> None:
    """A limit below one token is an error that says so."""
    with pytest.raises(ValueError, match="0 tokens"):
        windows_of("text", count_words, 0)
