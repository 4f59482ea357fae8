"""Answers of a retrieval for people: what went in, why, what it cost, and what stayed out and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.cli.output import print_table, say
from service.cli.waking import WORDS, over_budget

Answer = Mapping[str, Any]
SECTIONS = ("canon", "whole", "named", "matched")
SHOWN_OUTSIDE = 20
"""Entries listed that stayed out, unless all are asked for."""


def why(reason: Mapping[str, Any]) -> str:
    """A reason in plain words. Kinds that are not known here are named as they are."""
    match reason["kind"]:
        case "canon":
            return "canon" + (", kept although over budget" if reason["kept_over_budget"] else "")
        case "whole_book":
            return "the whole book fits"
        case "named":
            return f"“{reason['text']}” stands in {_message(reason['message'])}"
        case "matched":
            return (
                f"by meaning: rank {reason['rank']}, {reason['strength']}, score {reason['score']:.3f}"
                f" for {_message(reason['message'])}"
            )
        case "no_room":
            score = f"all places were taken: score {reason['score']:.3f}"
            return score if reason["floor"] is None else f"near by meaning, but {score}, floor {reason['floor']:.3f}"
        case "unmatched" if reason["score"] is not None and reason["floor"] is not None:
            return f"not near by meaning: score {reason['score']:.3f}, floor {reason['floor']:.3f}"
        case "unmatched":
            return "nothing was compared"
        case "over_budget" if reason["budget"] == "lorebook":
            return over_budget(reason)
        case "over_budget":
            budget = "canon budget" if reason["budget"] == "canon" else "budget"
            return f"{budget}: needs {reason['needed']:,} tokens, {reason['left']:,} were left"
        case "disabled":
            return "the book is disabled" if reason["by"] == "book" else "disabled"
        case "excluded":
            return "the request says that the model has it"
        case kind if kind in WORDS:
            return WORDS[kind](reason)
        case other:
            return str(other).replace("_", " ")


def _message(index: int | None) -> str:
    return "the query" if index is None else f"message {index + 1}"


def _told(trace: Mapping[str, Any]) -> str:
    """The reason of an entry, and where it is named when that is not the reason."""
    names = [why(hit) for hit in trace["hits"] if trace["reason"]["kind"] != "named"]
    return "; ".join([why(trace["reason"]), *names[:1]])


def in_full(answer: Answer) -> Iterator[Mapping[str, Any]]:
    """The entries that went in, in the order of the prompt."""
    for name in SECTIONS:
        yield from answer["sections"][name]["entries"]
    yield from answer["lorebook"]["entries"]


def left_out(answer: Answer) -> Iterator[Mapping[str, Any]]:
    """The entries that did not go in, as far as the trace lists them: canon first."""
    yield from answer["over_budget"]
    yield from answer["rest"]


def costs(answer: Answer) -> Iterator[str]:
    """Tokens by section and in all, what the index holds, and what is degraded."""
    sections, budget, tokenizer = answer["sections"], answer["budget"], answer["tokenizer"]
    parts = [f"{name} {sections[name]['tokens']:,}" for name in (*SECTIONS, "index") if sections[name]["tokens"]]
    about = "" if tokenizer["exact"] else "about "
    used = f"{about}{budget['used']:,} of {budget['limit']:,} tokens"
    yield f"{used} ({tokenizer['name']}): {', '.join(parts) or 'nothing'}"
    index = sections["index"]
    if index["lines"] or index["more"]:
        more = f", {index['more']} more only counted" if index["more"] else ""
        yield f"index: {index['lines']} lines, {index['shape'].replace('_', ' ')}{more}"
    for each in answer["lorebook"]["budgets"]:
        yield f"{each['dialect']} lorebooks: {each['used']:,} of {each['limit']:,} {each['unit']}"
    for each in answer["degraded"]:
        yield f"degraded: {each['detail']}"


def show_preview(answers: Sequence[Answer], *, everything: bool = False) -> None:
    """One answer, or several over the same books side by side: a row per entry, a column per budget."""
    for answer in answers:
        within = f" within {answer['budget']['limit']:,} tokens" if len(answers) > 1 else ""
        for book in answer["books"]:
            say(f"{book['name']} ({book['id']}){within}: {_went(book)}")
    rows = [dict(_rows(answer)) for answer in answers]
    inside = list(dict.fromkeys(trace["handle"] for answer in answers for trace in in_full(answer)))
    outside = [handle for handle in dict.fromkeys(key for each in rows for key in each) if handle not in set(inside)]
    _show_rows("In the prompt", inside, rows, answers)
    listed = outside if everything else outside[:SHOWN_OUTSIDE]
    if listed:
        _show_rows("Not in full", listed, rows, answers)
    if len(listed) < len(outside):
        say(f"and {len(outside) - len(listed)} more (--all)")
    for answer in answers:
        for line in costs(answer):
            say(line)


def _rows(answer: Answer) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for trace in (*in_full(answer), *left_out(answer)):
        yield trace["handle"], trace


def _show_rows(
    title: str, handles: Sequence[str], rows: Sequence[Mapping[str, Mapping[str, Any]]], answers: Sequence[Answer]
) -> None:
    several = len(answers) > 1
    columns = ["handle", "title", "#tokens"]
    columns += [f"within {answer['budget']['limit']:,}" for answer in answers] if several else ["status"]
    table = []
    for handle in handles:
        found = [each.get(handle) for each in rows]
        some = next(trace for trace in found if trace is not None)
        label = f" ({some['label']})" if some["label"] else ""
        statuses = ["" if trace is None else trace["status"].replace("_", " ") for trace in found]
        reasons = list(dict.fromkeys(_told(trace) for trace in found if trace is not None))
        table.append((handle, some["title"] + label, some["tokens"], *statuses, "; ".join(reasons)))
    print_table([*columns, "why"], table, title=title)


def show_sections(answer: Answer, *, index_lines: int = 5) -> None:
    """One answer by section, each entry with its reason; the beginning of the index; the costs."""
    for name in SECTIONS:
        section = answer["sections"][name]
        if section["entries"]:
            say(f"\n{name}: {section['tokens']:,} tokens")
            for trace in section["entries"]:
                say(f"  {trace['title']} [{trace['handle']}], {trace['tokens']:,} tokens: {_told(trace)}")
    index = answer["sections"]["index"]
    if index["lines"]:
        say(f"\nindex: {index['tokens']:,} tokens, {index['lines']} lines, for example")
        lines = [line for line in (index["text"] or "").splitlines() if line.startswith("- ")]
        for line in lines[:index_lines]:
            say(f"  {line}")
    say()
    for line in costs(answer):
        say(line)


def _went(book: Mapping[str, Any]) -> str:
    words = {
        "canon": "only canon went in",
        "whole": "went in whole",
        "matched": "does not fit whole, so entries were chosen",
        "triggered": "is a lorebook, whose keys decide",
        "empty": "has no enabled entry",
        "disabled": "is disabled",
    }
    pending = f"; {book['pending_vectors']} vectors to come" if book["pending_vectors"] else ""
    return words.get(book["went"], str(book["went"])) + pending
