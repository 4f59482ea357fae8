"""docs/recall.md says what its files of figures say."""

import json

import pytest

from benchmarks.recall import pages
from benchmarks.recall.goals import GOALS


def test_the_page_agrees_with_its_figures():
    """Writing the tables anew changes nothing: `python -m benchmarks.recall.pages` was run after the last measuring."""
    page = pages.PAGE.read_text("utf-8")
    assert pages.render(page, pages.read_figures) == page


def test_every_table_stands_on_the_page_once():
    """Every table that can be written is on the page, under its own marker."""
    page = pages.PAGE.read_text("utf-8")
    assert {name: page.count(f"<!-- {name} -->\n") for name in pages.TABLES} == dict.fromkeys(pages.TABLES, 1)


def test_a_changed_figure_changes_the_page():
    """The check can fail: another number in a file is another page."""
    page = pages.PAGE.read_text("utf-8")

    def worse(name):
        figures = json.loads(json.dumps(pages.read_figures(name)))
        if name == "goals":
            figures["goals"][0]["ours"] = 0.123
        return figures

    assert pages.render(page, worse) != page


def test_every_goal_is_published_and_met_at_the_release_floor():
    """Each figure of G1 to G14 is in the file, judged on the judging half, and at its floor."""
    figures = pages.read_figures("goals")
    assert figures["part"] == "judging"
    published = {(row["goal"], row["figure"]): row for row in figures["goals"]}
    assert set(published) == {(goal.id, figure.name) for goal in GOALS for figure in goal.figures}
    for goal in GOALS:
        for figure in goal.figures:
            row = published[goal.id, figure.name]
            assert row["met"] == figure.reached(row["ours"])
            assert row["met"] != "no", f"{goal.id} {figure.name}: {row['ours']}"


@pytest.mark.parametrize("chat", ["en", "pt", "ja", "ar"])
def test_recall_is_published_for_each_pair_of_languages(chat):
    """Recall of every pair of chat and book language is published."""
    figures = pages.read_figures("pairs")
    published = {row["pair"] for row in (*figures["pairs"], *figures["lore pairs"])}
    assert any(pair.startswith(f"{chat} → ") for pair in published)
