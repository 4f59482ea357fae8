"""What the reader of the prompt gets for its tokens: gold in full, or at least named in the index, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.recall.lab import Lab, read
from benchmarks.recall.measures import mean
from benchmarks.recall.systems import System
from benchmarks.recall.trials import Trial
from service.lore.reasons import IN_FULL
from service.lore.request import RetrieveRequest
from service.lore.retrieval import Defaults, prepare, retrieve
from service.tokenizers import FALLBACK, tokenizer_for

BUDGETS = (250, 500, 1000, 2000, 4000, 8000)
PLACES = 8


@dataclass(frozen=True, kw_only=True)
class BudgetRecall:
    """Shares of the gold entries of all asks, within `tokens`."""

    tokens: int
    in_full: float
    indexed: float
    """In full or with a line in the index."""
    used: float
    """Tokens used, on average."""


def budget_recall(lab: Lab, system: System, trial: Trial, budgets: Sequence[int] = BUDGETS) -> list[BudgetRecall]:
    """The product's whole retrieval, packing included, of every ask that has gold, at each budget."""
    book = lab.open(trial.corpus, system)
    asks = [ask for ask in trial.asks if ask.gold]
    lab.embed(
        {query.text for ask in asks for query in read(ask.messages, system.reading)}, directions=system.directions
    )
    tokenizer = tokenizer_for(tokenizer=FALLBACK, model=None, default="", margin=1.0)
    found = []
    for tokens in budgets:
        full, listed, used = [], [], []
        for ask in asks:
            request = RetrieveRequest(messages=ask.messages, budget_tokens=tokens, trace="full")
            prepared = prepare([book], request, tokenizer, Defaults(budget_tokens=tokens, places=PLACES))
            queries = read(ask.messages, system.reading) if prepared.queries else []
            answer = retrieve(prepared, lab.meaning(system, queries) if queries and system.meaning else None)
            sections = answer.sections
            traces = (*sections.whole.entries, *sections.named.entries, *sections.matched.entries, *answer.rest)
            status = {trace.id - 1: trace.status for trace in traces}
            full.append(mean(float(status[place] in IN_FULL) for place in ask.gold))
            listed.append(mean(float(status[place] in (*IN_FULL, "indexed")) for place in ask.gold))
            used.append(float(answer.budget.used))
        found.append(BudgetRecall(tokens=tokens, in_full=mean(full), indexed=mean(listed), used=mean(used)))
    return found
