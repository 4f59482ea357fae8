"""The `sillytavern` dialect beside an independent reading of the same rules, on random books and chats."""

from __future__ import annotations

from random import Random

import pytest

from service.lore.activation.draws import drawn
from service.lore.activation.lorebooks import talk_of
from service.lore.request import turn_of
from tests.lore.activation.differences import CHOSEN
from tests.lore.activation.tavern_oracle import Oracle, Result
from tests.lore.activation.tavern_worlds import random_books, random_request, random_state
from tests.lore.activation.worlds import LETTERS, Turn


def ours_and_theirs(seed: int) -> tuple[Result, Result]:
    """What the engine and the oracle say to the same random case."""
    random = Random(seed)
    books, request = random_books(random), random_request(random)
    state = random_state(random, books, talk_of(request).length)
    turn = Turn(books, request, state)
    ours = Result(
        prompt=[trace.handle for trace in turn.answer.entries],
        rejected={trace.handle for trace in turn.lorebooks.over_budget()},
        effects={(e.handle, e.kind, e.start, e.end, e.protected) for e in turn.state.effects},
    )

    def draw(about: str) -> float:
        return drawn(request.conversation, turn_of(request), about)

    return ours, Oracle(books, request, state, draw, LETTERS.count, CHOSEN).run()


def differing(seeds: range) -> list[int]:
    """The cases on which the two part."""
    return [seed for seed in seeds if (lambda pair: pair[0] != pair[1])(ours_and_theirs(seed))]


def test_same_as_the_oracle() -> None:
    """Engine and oracle agree on prompt order, on what the budget rejects and on the effects left."""
    assert not differing(range(400))


@pytest.mark.slow
def test_same_as_the_oracle_on_thousands() -> None:
    """The same on 10,000 cases."""
    assert not differing(range(1000, 11_000))
