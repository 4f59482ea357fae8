"""Every row of the specification is shown by a test that goes through a public interface, or its issue is still open.

A docstring claims the ids that it begins with, up to a colon: `W3, W5: …`. A claim counts when the test takes a fixture
that leads to the HTTP client, the command line or a server process, or starts one of them itself. A fault of
faults.md whose id is a row of the specification as well is written `Fault T10: …`, and claims nothing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
CLAIM = re.compile(r"([A-Z]\d+(?:, [A-Z]\d+)*):")
FRONT_DOORS = {"TestClient", "CliRunner", "serving", "create_app"}
"""Names that only who goes through a public interface uses."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def ids(name: str) -> set[str]:
    """The ids of a list in cases/, each of which stands there once."""
    found = (TESTS / "cases" / name).read_text(encoding="utf-8").split()
    assert len(set(found)) == len(found), f"{name} names an id twice"
    return set(found)


@dataclass(frozen=True)
class Case:
    """A test function, by what it claims and how it goes."""

    name: str
    claims: frozenset[str]
    public: bool


@cache
def functions(path: Path) -> dict[str, tuple[Function, frozenset[str]]]:
    """Every function of a module with what it takes and uses: fixtures are its arguments, helpers stand in its body."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: (node, used(node)) for node in ast.walk(tree) if isinstance(node, Function)}


def used(function: Function) -> frozenset[str]:
    """Names of arguments and of the body, but not of annotations."""
    arguments = (argument.arg for argument in function.args.args)
    body = (node.id for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name))
    return frozenset((*arguments, *body))


@cache
def public_names(path: Path) -> set[str]:
    """The front doors, and the fixtures and helpers of this module and its conftest that lead to one."""
    conftest = path.with_name("conftest.py")
    near = {**(functions(conftest) if conftest.exists() else {}), **functions(path)}
    found = set(FRONT_DOORS)
    while more := {name for name, (_, names) in near.items() if names & found} - found:
        found |= more
    return found


@cache
def every_case() -> tuple[Case, ...]:
    """Every test of the suite."""
    return tuple(
        Case(f"{path.relative_to(TESTS)}::{name}", claims(function), bool(names & public_names(path)))
        for path in sorted(TESTS.rglob("test_*.py"))
        for name, (function, names) in functions(path).items()
        if name.startswith("test_")
    )


def claims(function: Function) -> frozenset[str]:
    """The ids that a docstring begins with."""
    claim = CLAIM.match(ast.get_docstring(function) or "")
    return frozenset(claim[1].split(", ") if claim else ())


def shown() -> dict[str, list[str]]:
    """Id to the tests that show it through a public interface."""
    found: dict[str, list[str]] = {}
    for test in every_case():
        for claim in test.claims if test.public else ():
            found.setdefault(claim, []).append(test.name)
    return found


def test_every_row_is_shown() -> None:
    """Every row that is not pending is claimed by a test that goes through a public interface."""
    assert ids("spec_ids.txt") - ids("spec_pending.txt") - set(shown()) == set()


def test_the_pending_list_only_shrinks() -> None:
    """A row that a test shows is not pending any more, and the list names no row that does not exist."""
    assert ids("spec_pending.txt") - ids("spec_ids.txt") == set()
    assert {row: names for row, names in shown().items() if row in ids("spec_pending.txt")} == {}


def test_claims_are_told_apart() -> None:
    """The check sees a claim, knows a test that goes behind the interface, and does not take a word for an id."""
    assert CLAIM.match("W3, W5: canon and whole books.")[1] == "W3, W5"  # type: ignore[index]  # it matches
    assert not CLAIM.match("Fault T10: the first canon entry.")
    assert not CLAIM.match("A row such as W3: is no claim.")
    found = {test.name: test for test in every_case()}
    assert found["spec/test_budgets.py::test_a_whole_book"] == Case(
        "spec/test_budgets.py::test_a_whole_book", frozenset({"W5"}), True
    )
    assert not found["lore/test_packing.py::test_the_first_canon_entry_is_always_kept"].public
    assert not found["test_spec_coverage.py::test_every_row_is_shown"].claims
