"""An author's round: create, edit, reorder, switch off, preview, attach, export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
import pytest

from service.cli import client
from tests.cli.conftest import Worldbook


@pytest.fixture(autouse=True)
def one_service(own_settings: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All commands of a test share one application; starting one for each takes half a second."""
    with client.hosted() as host:
        monkeypatch.setattr(client, "hosted", lambda **_: nullcontext(host))
        yield


@pytest.fixture
def handles(worldbook: Worldbook) -> list[str]:
    """A book named Tide House with three entries, the first of them canon."""
    worldbook("books", "create", "Tide House")
    said = [
        worldbook("entries", "add", "Tide House", "--title", title, "--content", content, *more).out.strip()
        for title, content, *more in (
            ("The Three Knocks", "Nobody opens after dark unless someone knocks three times.", "--canon"),
            ("The Drowned Bell", "It rings an hour before the flood.", "--alias", "Cloche noyée"),
            ("Marta", "The innkeeper has never been seen to sleep."),
        )
    ]
    book = said[0].partition("-")[0]
    assert said == [f"{book}-{number}" for number in (1, 2, 3)]
    return said


def entry(worldbook: Worldbook, handle: str) -> Any:
    return worldbook("entries", "show", handle, "--json").json


def test_books_are_listed_and_shown(worldbook: Worldbook, handles: list[str]) -> None:
    """A book is listed with its counts and shown with what its canon costs every turn."""
    assert "Tide House" in worldbook("books", "list").out
    (listed,) = worldbook("books", "list", "--json").json
    assert listed["counts"]["entries"] == 3
    shown = worldbook("books", "show", "tide house").out
    assert "3 entries, 3 of them enabled, 1 canon" in shown
    assert "tokens every turn" in shown


def test_no_books(worldbook: Worldbook) -> None:
    """An empty store says how to get a first book."""
    assert "worldbook import FILE" in worldbook("books", "list").out


def test_edit_by_options(worldbook: Worldbook, handles: list[str]) -> None:
    """Only the fields given as options change; a blank one is taken away."""
    worldbook("entries", "edit", handles[1], "--gist", "a warning of the flood", "--canon")
    edited = entry(worldbook, handles[1])
    assert (edited["gist"], edited["tier"], edited["aliases"]) == ("a warning of the flood", "canon", ["Cloche noyée"])
    worldbook("entries", "edit", handles[1], "--gist", "", "--alias", "")
    edited = entry(worldbook, handles[1])
    assert (edited["gist"], edited["aliases"], edited["content"]) == (None, [], "It rings an hour before the flood.")


def test_content_from_stdin(worldbook: Worldbook, handles: list[str]) -> None:
    """A long content may come from a file or from stdin."""
    worldbook("entries", "edit", handles[2], "--file", "-", input="She counts\nthe tides.")
    assert entry(worldbook, handles[2])["content"] == "She counts\nthe tides."


def test_content_from_a_file(worldbook: Worldbook, handles: list[str], tmp_path: Path) -> None:
    """A byte-order mark is no lore, and a file in another encoding is told as such."""
    file = tmp_path / "lore.txt"
    file.write_bytes("\ufeffA café.\r\nA pier.".encode())
    worldbook("entries", "edit", handles[2], "--file", str(file))
    assert entry(worldbook, handles[2])["content"] == "A café.\nA pier."
    file.write_bytes("A café.".encode("latin-1"))
    assert f"{file} is not UTF-8 at byte 5" in worldbook("entries", "edit", handles[2], "--file", str(file), code=1).err


def test_edit_in_the_editor(worldbook: Worldbook, handles: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without options the entry opens as a text in the author's editor; what is saved there is stored."""
    monkeypatch.setattr(click, "edit", lambda text, **_: text.replace("It rings", "It tolls"))
    worldbook("entries", "edit", handles[1])
    assert entry(worldbook, handles[1])["content"] == "It tolls an hour before the flood."


def test_editor_left_without_saving(worldbook: Worldbook, handles: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving the editor without saving changes nothing and says so."""
    monkeypatch.setattr(click, "edit", lambda text, **_: None)
    before = entry(worldbook, handles[1])
    assert "nothing was changed" in worldbook("entries", "edit", handles[1], code=1).err
    assert entry(worldbook, handles[1]) == before


def test_an_edit_never_overwrites_another(
    worldbook: Worldbook, handles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that changed while it was open in the editor is not overwritten, and the text is kept in a file."""

    def edited(text: str, **_: Any) -> str:
        worldbook("entries", "edit", handles[1], "--content", "It rings at noon.")
        return text.replace("It rings", "It tolls")

    monkeypatch.setattr(click, "edit", edited)
    ran = worldbook("entries", "edit", handles[1], code=1)
    assert entry(worldbook, handles[1])["content"] == "It rings at noon."
    kept = Path(ran.err.rpartition("kept in ")[2].strip().removesuffix("."))
    assert "It tolls an hour" in kept.read_text(encoding="utf-8")
    kept.unlink()


def test_order(worldbook: Worldbook, handles: list[str]) -> None:
    """W4: entries move to a place, the top or the bottom, and the cost of canon is told."""
    said = worldbook("entries", "move", handles[2], handles[1], "--to", "top").out
    assert "tokens every turn" in said
    listed = worldbook("entries", "list", "Tide House", "--json").json
    assert [each["handle"] for each in listed] == [handles[2], handles[1], handles[0]]


def test_disabled_entries(worldbook: Worldbook, handles: list[str]) -> None:
    """W10: a disabled entry is fetched by nobody, can be listed, and comes back at once."""
    worldbook("entries", "disable", handles[1], handles[2])
    listed = worldbook("entries", "list", "Tide House", "--disabled", "--json").json
    assert [each["handle"] for each in listed] == handles[1:]
    assert "is no entry here" in worldbook("fetch", handles[1], "--book", "Tide House").err
    worldbook("entries", "enable", handles[1])
    assert "It rings" in worldbook("fetch", "cloche NOYÉE", "--book", "Tide House").out


def test_preview_of_two_budgets(worldbook: Worldbook, handles: list[str]) -> None:
    """W15: a preview shows, for two budgets side by side, what goes in and why, and what stays out and why."""
    said = worldbook("preview", "--book", "Tide House", "-m", "La cloche noyée !", "--budget", "60", "--budget", "900")
    assert "within 60" in said.out
    assert "within 900" in said.out
    assert "“cloche noyée” stands in message 1" in said.out
    assert "of 60 tokens" in said.out
    assert "of 900 tokens" in said.out


def test_preview_is_the_retrieval(worldbook: Worldbook, handles: list[str]) -> None:
    """W15: a preview and a retrieval answer the same prompt."""
    asked = ("--book", "Tide House", "-m", "Who is Marta?", "--json")
    preview, retrieval = worldbook("preview", *asked).json, worldbook("retrieve", *asked).json
    assert preview["prompt"] == retrieval["prompt"]
    assert "The innkeeper" in preview["prompt"]["stable"]["text"] + preview["prompt"]["volatile"]["text"]


@pytest.mark.parametrize("command", ["retrieve", "preview"])
def test_a_host_without_books_is_named(worldbook: Worldbook, handles: list[str], command: str) -> None:
    """A host that nothing is attached to, such as a misspelt one, is named on stderr, and no other."""
    worldbook("attach", "Tide House", "character:ilse")
    ran = worldbook(command, "--host", "character:ilse", "--host", "character:ilze", "-m", "Marta?", "--json")
    assert ran.err == "character:ilze has no books\n"
    assert [book["name"] for book in ran.json["books"]] == ["Tide House"]


def test_retrieve_prints_the_prompt(worldbook: Worldbook, handles: list[str], tmp_path: Path) -> None:
    """`retrieve` prints both parts on stdout and nothing else there; the costs go to stderr."""
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "Who is Marta?"}]), encoding="utf-8")
    asked = (str(chat), "--book", "Tide House")
    prompt = worldbook("retrieve", *asked, "--json").json["prompt"]
    ran = worldbook("retrieve", *asked)
    assert ran.out.strip() == (prompt["stable"]["text"] + prompt["volatile"]["text"]).strip()
    assert "tokens" in ran.err


def test_attached_book_is_read_by_its_host(worldbook: Worldbook, handles: list[str]) -> None:
    """W11: what is attached to a character is read by every retrieval for it, until it is detached."""
    worldbook("attach", "Tide House", "character:ilse")
    asked = ("retrieve", "-m", "Who is Marta?", "--host", "character:ilse")
    assert "The innkeeper" in worldbook(*asked).out
    worldbook("detach", "Tide House", "character:ilse")
    assert worldbook(*asked).out.strip() == ""


def test_book_goes_by_id_or_name(worldbook: Worldbook, handles: list[str]) -> None:
    """A book goes by its id and by its name in any case; an unknown name is told with near ones."""
    book = handles[0].partition("-")[0]
    assert worldbook("books", "show", book).out == worldbook("books", "show", "TIDE HOUSE").out
    ran = worldbook("books", "show", "Tide", code=1)
    assert "no book has the id or the name 'Tide'" in ran.err
    assert f"{book}  Tide House" in ran.err


def test_ambiguous_name(worldbook: Worldbook, handles: list[str]) -> None:
    """A word that is one book's id and another's name is refused with both."""
    book = handles[0].partition("-")[0]
    other = worldbook("books", "create", book).out.strip()
    ran = worldbook("books", "show", book, code=1)
    assert "more than one book" in ran.err
    assert other in ran.err
    assert "id" in ran.err


def test_problem_of_the_service(worldbook: Worldbook, handles: list[str]) -> None:
    """A problem is told with its wrong fields and its remedy, with exit code 1."""
    ran = worldbook("entries", "edit", handles[0], "--title", "x" * 201, code=1)
    assert "--title: " in ran.err
    assert "#/" not in ran.err
    assert worldbook("books", "create", "Tide House", code=1).err.startswith("Error: ")


def test_delete_asks(worldbook: Worldbook, handles: list[str]) -> None:
    """Deleting asks first, and does nothing when the answer is no."""
    worldbook("entries", "delete", handles[2], code=1, input="n\n")
    worldbook("entries", "delete", handles[2], input="y\n")
    assert len(worldbook("entries", "list", "Tide House", "--json").json) == 2
    worldbook("books", "delete", "Tide House", "--yes")
    assert worldbook("books", "list", "--json").json == []


def test_switch_and_rename_a_book(worldbook: Worldbook, handles: list[str]) -> None:
    """A whole book is switched off and renamed without touching its entries."""
    worldbook("books", "edit", "Tide House", "--disable", "--name", "Causeway Inn")
    assert "Causeway Inn (disabled)" in worldbook("books", "list").out
    assert "disabled" in worldbook("books", "show", "Causeway Inn").out
    assert {each["enabled"] for each in worldbook("entries", "list", "Causeway Inn", "--json").json} == {True}


def test_entries_for_people(worldbook: Worldbook, handles: list[str]) -> None:
    """The list of entries says what is switched off; one entry is shown as the form in which it is edited."""
    worldbook("entries", "disable", handles[2])
    line = next(line for line in worldbook("entries", "list", "Tide House").out.splitlines() if handles[2] in line)
    assert "disabled" in line
    shown = worldbook("entries", "show", handles[1]).out
    assert shown.startswith("title: The Drowned Bell\nalias: Cloche noyée\n")
    assert shown.endswith("\n\nIt rings an hour before the flood.\n")


def test_add_in_the_editor(worldbook: Worldbook, handles: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A new entry without a content opens in the editor with what the options said."""
    monkeypatch.setattr(click, "edit", lambda text, **_: text + "A cat with one white paw.\n")
    added = worldbook("entries", "add", "Tide House", "--title", "Salt", "--alias", "Sal", "--json").json
    assert (added["title"], added["aliases"], added["content"]) == ("Salt", ["Sal"], "\nA cat with one white paw.")


def test_a_form_that_cannot_be_read_is_kept(
    worldbook: Worldbook, handles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A form with a wrong header line changes nothing, names the line, and the text is kept in a file."""
    monkeypatch.setattr(click, "edit", lambda text, **_: text.replace("tier: relevant", "tier relevant"))
    ran = worldbook("entries", "edit", handles[1], code=1)
    assert "'tier relevant'" in ran.err
    kept = Path(ran.err.rpartition("kept in ")[2].strip().removesuffix("."))
    assert "It rings an hour" in kept.read_text(encoding="utf-8")
    kept.unlink()


def test_an_edit_that_changes_nothing(
    worldbook: Worldbook, handles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A form that was saved as it was makes no new version."""
    before = entry(worldbook, handles[1])
    monkeypatch.setattr(click, "edit", lambda text, **_: text)
    assert "Nothing was changed" in worldbook("entries", "edit", handles[1]).err
    assert entry(worldbook, handles[1]) == before


def test_a_request_as_file(worldbook: Worldbook, handles: list[str], tmp_path: Path) -> None:
    """A file may hold the whole body of a request; options and messages add to it."""
    book = handles[0].partition("-")[0]
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"books": [book], "budget_tokens": 0, "messages": []}), encoding="utf-8")
    answer = worldbook("preview", str(file), "-m", "Marta?", "--json").json
    assert (answer["books"][0]["id"], answer["budget"]["limit"]) == (book, 0)
    assert worldbook("preview", str(file), "-m", "Marta?", "--budget", "900", "--json").json["budget"]["limit"] == 900


@pytest.mark.parametrize("text", ["no json", '"a string"', '{"messages": "hello"}'])
def test_a_chat_that_is_none(worldbook: Worldbook, tmp_path: Path, text: str) -> None:
    """A chat file that is no chat is wrong usage and is named."""
    file = tmp_path / "chat.json"
    file.write_text(text, encoding="utf-8")
    assert "chat.json" in worldbook("retrieve", str(file), "--book", "x", code=2).err


def test_fetch_names_the_nearest(worldbook: Worldbook, handles: list[str]) -> None:
    """W9: an unknown name is told with the nearest titles."""
    assert f"nearest: The Drowned Bell [{handles[1]}]" in worldbook("fetch", "Drowned Bel", "--book", "Tide House").err


def test_usage_and_health(worldbook: Worldbook, handles: list[str]) -> None:
    """W16: An author sees what was used, what never was, and what is worth a look."""
    worldbook("retrieve", "--book", "Tide House", "-m", "Hm.", "--json")
    most = worldbook("usage", "Tide House", "--most-used", "--json").json
    assert [one["uses"] for one in most] == [1, 1, 1]
    assert worldbook("usage", "Tide House", "--never", "--json").json == []
    assert "The Drowned Bell" in worldbook("usage", "Tide House").out
    assert worldbook("health", "Tide House").out == "Nothing stands out.\n"
    worldbook("entries", "edit", handles[2], "--alias", "cloche noyée")
    said = worldbook("health", "Tide House").out
    assert f"names 2 entries ({handles[1]}, {handles[2]})" in said
    assert len(worldbook("health", "Tide House", "--json").json["findings"]) == 1


def test_a_lorebook(worldbook: Worldbook) -> None:
    """T3: a lorebook is written, previewed and read from the command line like any book."""
    worldbook("books", "create", "Dangers", "--dialect", "chat")
    tide = worldbook(
        "entries", "add", "Dangers", "--title", "Tide", "--content", "It kills.", "--key", "tide"
    ).out.strip()
    worldbook("entries", "add", "Dangers", "--title", "Law", "--content", "No ship.", "--constant")
    worldbook("entries", "add", "Dangers", "--title", "Fog", "--content", "It hides.", "--key", "fog", "--chance", "0")
    worldbook("entries", "edit", tide, "--key", "tide", "--key", "flood", "--order", "200")
    assert entry(worldbook, tide)["trigger"]["keys"] == ["tide", "flood"]
    assert "tide, flood" in worldbook("entries", "list", "Dangers").out
    said = worldbook("preview", "--book", "Dangers", "-m", "The flood and the fog come.").out
    for words in ("always on", "“flood” in message 1", "chance: drawn", "chat lorebooks:", "a lorebook, whose keys"):
        assert words in said
    read = worldbook("retrieve", "--book", "Dangers", "-m", "The flood comes.").out
    assert read.index("It kills.") < read.index("No ship.")
    assert "a lorebook of the dialect chat" in worldbook("books", "show", "Dangers").out


@pytest.fixture
def tide(worldbook: Worldbook) -> str:
    """An entry of the lorebook Dangers."""
    worldbook("books", "create", "Dangers", "--dialect", "sillytavern")
    said = ("--title", "Tide", "--content", "It kills.", "--key", "tide", "--secondary", "moon", "--chance", "60")
    return worldbook("entries", "add", "Dangers", *said).out.strip()


def test_what_wakes_an_entry_is_shown_and_edited(
    worldbook: Worldbook, tide: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T3: an entry of a lorebook is shown with what wakes it, and edited there; the rest of its trigger stays."""
    before = entry(worldbook, tide)["trigger"]
    shown = worldbook("entries", "show", tide).out
    header = ["key: tide", "key:", "secondary: moon", "secondary:", "logic: any", "constant: no", "chance: 60"]
    assert shown.splitlines() == ["title: Tide", *header, "order: 100", "enabled: yes", "", "It kills."]
    monkeypatch.setattr(
        click, "edit", lambda text, **_: text.replace("chance: 60", "chance:").replace("key:\n", "key: flood\n", 1)
    )
    worldbook("entries", "edit", tide)
    assert entry(worldbook, tide)["trigger"] == {**before, "chance": None, "keys": ["tide", "flood"]}


def test_lorebooks_are_listed_as_such(worldbook: Worldbook, tide: str) -> None:
    """T3: lists tell lorebooks from world books, say what is constant and what is drawn, and count no canon."""
    worldbook("entries", "add", "Dangers", "--title", "Law", "--content", "No ship.", "--constant")
    drawn, always = worldbook("entries", "list", "Dangers").out.splitlines()[-3:-1]
    assert "by keys, chance 60" in " ".join(drawn.split())
    assert "constant" in always
    assert "vectors" not in always
    listed = next(line for line in worldbook("books", "list").out.splitlines() if "Dangers" in line)
    assert listed.split()[2:-1] == ["sillytavern", "2"]
    assert "canon" not in worldbook("books", "show", "Dangers").out


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--chance", "150"), 1, "--chance: "),
        (("--alias", "Sal"), 2, "--alias: only in world books; in this book there are --key"),
        (("--canon",), 2, "--canon: only in world books"),
    ],
)
def test_options_are_named(worldbook: Worldbook, tide: str, options: tuple[str, ...], code: int, said: str) -> None:
    """What is wrong with an option is told by its name, and by no place in a body that nobody wrote."""
    for command in (("edit", tide), ("add", "Dangers", "--title", "x", "--content", "x")):
        ran = worldbook("entries", *command, *options, code=code)
        assert said in ran.err
        assert "#/" not in ran.err


def test_keys_are_for_lorebooks(worldbook: Worldbook, handles: list[str]) -> None:
    """`--key` for a world book is told as such, with what to use there."""
    for command in (("edit", handles[0]), ("add", "Tide House", "--title", "x", "--content", "x")):
        assert (
            "--key: only in lorebooks; in this book there are --alias"
            in worldbook("entries", *command, "--key", "k", code=2).err
        )


def test_lorebooks_are_inline_by_default(worldbook: Worldbook, tide: str, tmp_path: Path) -> None:
    """T3: texts of lorebooks stand in the prompt, with `--json` too, unless the option or the body says otherwise."""
    worldbook("entries", "edit", tide, "--chance", "100", "--logic", "none")
    asked = ("--book", "Dangers", "-m", "The tide comes.")

    def prompt(command: str, *more: str) -> str:
        said = worldbook(command, *more, *asked, "--json").json["prompt"]
        return str(said["stable"]["text"] + said["volatile"]["text"])

    assert "It kills." in worldbook("retrieve", *asked).out
    assert "It kills." in prompt("retrieve")
    assert prompt("preview") == prompt("retrieve")
    assert "It kills." not in prompt("retrieve", "--lorebooks", "messages")
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"lorebooks": "messages", "messages": []}), encoding="utf-8")
    assert "It kills." not in prompt("retrieve", str(file))
    assert "It kills." in prompt("retrieve", str(file), "--lorebooks", "inline")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("retrieve", "--book", "Dangers", "-m", "x", "--budget", "-1"), "--budget: "),
        (("preview", "--book", "Dangers", "-m", "x", "--budget", "-1"), "--budget: "),
        (("preview", "--book", "Dangers", "-m", "x", "--places", "101"), "--places: "),
        (("retrieve", "--host", "ghost:x", "-m", "x"), "--host: "),
        (("fetch", "Tide", "--book", "Dangers", "--max-tokens", "-1"), "--max-tokens: "),
        (("books", "create", "x" * 201), "NAME: "),
        (("books", "edit", "Dangers", "--name", "x" * 201), "--name: "),
        (("books", "edit", "Dangers", "--living"), "--living: "),
    ],
)
def test_options_of_other_commands_are_named(
    worldbook: Worldbook, tide: str, command: tuple[str, ...], said: str
) -> None:
    """What is wrong with an option or an argument is told by its name, by no place in a body that nobody wrote."""
    ran = worldbook(*command, code=1)
    assert said in ran.err
    assert "#/" not in ran.err


def test_what_a_file_says_keeps_its_place(worldbook: Worldbook, tide: str, tmp_path: Path) -> None:
    """What is wrong in a file is told by its place there."""
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"budget_tokens": -1, "messages": []}), encoding="utf-8")
    assert "#/budget_tokens: " in worldbook("retrieve", str(file), "--book", "Dangers", "-m", "x", code=1).err
