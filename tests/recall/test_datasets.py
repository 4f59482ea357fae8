"""Readers of public data sets, on files of ours in their layouts."""

import json
from pathlib import Path

import pytest

from benchmarks import datasets
from benchmarks.recall import lines, trials


def xquad_file(path: Path) -> None:
    """Two paragraphs of two sentences each, three questions."""
    first, second = "The lamp is lit. It burns oil.", "The gate is shut. Nobody has the key."
    paragraphs = [
        {
            "context": first,
            "sentences": ["The lamp is lit.", "It burns oil."],
            "sentence_breaks": [[0, 16], [17, 30]],
            "qas": [
                {"question": "What is lit?", "answers": [{"answer_start": 4, "text": "lamp"}]},
                {"question": "What does it burn?", "answers": [{"answer_start": 26, "text": "oil"}]},
            ],
        },
        {
            "context": second,
            "sentences": ["The gate is shut. ", "Nobody has the key."],
            "sentence_breaks": [[0, 18], [18, 37]],
            "qas": [{"question": "Who has the key?", "answers": [{"answer_start": 18, "text": "Nobody"}]}],
        },
    ]
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"data": [{"title": "harbour", "paragraphs": paragraphs}]}))


def test_xquad_links_each_question_to_its_paragraph(tmp_path):
    """A question of XQuAD knows the number of the paragraph that answers it."""
    xquad_file(tmp_path / "xquad" / "xquad.en.json")
    read = datasets.xquad(tmp_path, "en")
    assert len(read.paragraphs) == 2
    assert [question.paragraph for question in read.questions] == [0, 0, 1]


def test_xquad_r_links_each_question_to_the_sentence_of_its_answer(tmp_path):
    """The relevant sentence is the one in which the answer begins, also where sentences touch."""
    xquad_file(tmp_path / "xquad-r" / "en.json")
    read = datasets.xquad_sentences(tmp_path, "en")
    assert [read.sentences[answer] for answer in read.answers] == [
        "The lamp is lit.",
        "It burns oil.",
        "Nobody has the key.",
    ]


def test_tatoeba_pairs_its_files_line_by_line(tmp_path):
    """Line n of one file translates line n of the other."""
    (tmp_path / "tatoeba").mkdir()
    (tmp_path / "tatoeba" / "deu-eng.deu").write_text("Hallo.\nDanke.\n")
    (tmp_path / "tatoeba" / "deu-eng.eng").write_text("Hello.\nThanks.\n")
    assert datasets.tatoeba_languages(tmp_path) == ["deu"]
    assert datasets.tatoeba(tmp_path, "deu") == [("Hallo.", "Hello."), ("Danke.", "Thanks.")]


def test_a_missing_data_set_names_its_file_and_its_source(tmp_path):
    """Missing data is told with the file looked for and where a user gets it."""
    for read, source in (
        (lambda: datasets.xquad(tmp_path, "en"), "google-deepmind/xquad"),
        (lambda: datasets.xquad_sentences(tmp_path, "en"), "lareqa"),
        (lambda: datasets.tatoeba_languages(tmp_path), "LASER"),
        (lambda: datasets.beir(tmp_path), "corpus.jsonl"),
    ):
        with pytest.raises(datasets.MissingDataError, match=source):
            read()


def test_the_parts_of_xquad_share_no_question():
    """Parameters are chosen on other questions than those that judge them."""
    numbers = [set(range(1190)[remainder::3]) for remainder in trials.REMAINDER.values()]
    assert not numbers[0] & numbers[1]


def test_the_parts_of_our_lines_share_nothing():
    """No line of small talk and no invented name is in both parts."""
    for read in (
        lambda part: {line for spoken in lines.small_talk(part).values() for line in spoken},
        lambda part: set(lines.names(part)),
    ):
        assert not read("choosing") & read("judging")


def test_small_talk_is_judged_in_many_languages():
    """V16: small talk is judged in 16 languages or more, six lines or more each."""
    spoken = lines.small_talk("judging")
    assert len(spoken) >= 16
    assert all(len(said) >= 6 for said in spoken.values())


def test_a_misspelt_name_is_another_name_and_always_the_same():
    """A misspelling differs from the name by one slip, and is the same in every run."""
    for name in (*lines.names("choosing"), *lines.names("judging")):
        wrong = lines.misspelt(name)
        assert wrong != name
        assert wrong[0] == name[0]
        assert abs(len(wrong) - len(name)) <= 1
        assert wrong == lines.misspelt(name)
