"""The goals, one row each: a figure of a measure, and what it must not exceed or fall below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A figure and its bound."""

    measure: str
    figure: str
    bound: float
    what: str
    at_most: bool = True
    absolute: bool = False
    """Seconds or megabytes, which move with the machine; the others are ratios within one run."""

    @property
    def limit(self) -> str:
        """The bound as it is shown."""
        return f"{'≤' if self.at_most else '≥'} {self.bound:g}"

    def met(self, value: float) -> bool:
        return value <= self.bound if self.at_most else value >= self.bound

    def missed_by(self, value: float) -> float:
        """How many times the bound; 1 or less is met."""
        return value / self.bound if self.at_most else self.bound / value

    def fallen_back(self, before: float, now: float, margin: float) -> bool:
        """Whether it is worse than before by more than the margin, a share."""
        return now > before * (1 + margin) if self.at_most else now < before / (1 + margin)


def _faster(figure: str, bound: float, what: str) -> Goal:
    return Goal("peers", f"{figure}_same_work_times_worldbook", bound, what, at_most=False)


_FLAT = 1.05
"""Of a gigabyte these 5 % are 50 MB: room for a cache of some thousand query vectors that still fills and for what the
allocator keeps, and what a leak of 4 kB a request takes in the 12,000 requests from the second fifth to the last."""

GOALS = (
    Goal("retrieve", "times_the_sketch", 2, "warm retrieval, 3 × 1,000 entries, beside the sketch of the limit"),
    Goal("retrieve", "p95_over_p50", 1.5, "its 95th percentile over its median"),
    Goal("retrieve", "full_trace_over_used", 4, "full trace over the trace of used entries"),
    _faster("chroma", 2.5, "Chroma, vectors only, over ours, on the same work"),
    _faster("chroma_contains", 8, "Chroma with $contains of 8 words over ours, on the same work"),
    _faster("llama_index", 40, "LlamaIndex fusion with bm25s over ours, on the same work"),
    _faster("txtai", 50, "txtai hybrid over ours, on the same work"),
    _faster("langchain", 100, "LangChain EnsembleRetriever over ours, on the same work"),
    _faster("haystack", 100, "Haystack BM25 + embedding + joiner over ours, on the same work"),
    Goal("serve", "one_new_less_2_ms_over_bare", 1.3, "whole request, one new message, less 2 ms, over its embedding"),
    Goal("serve", "all_new_less_2_ms_over_bare", 1.1, "whole request, all messages new, less 2 ms, over their batch"),
    Goal("serve", "http_overhead_over_echo", 1.3, "HTTP overhead over an echo of the same sizes"),
    Goal("serve", "sixteen_over_one", 1.8, "throughput of 16 concurrent retrievals over one at a time", at_most=False),
    Goal("library", "growth_of_hot", 1.2, "hot retrieval at 10,000 books in the store over 10"),
    Goal("match", "times_the_bare_scan", 2.5, "10,000 aliases × 20 kB, fold and spans, over the bare scan"),
    Goal("match", "times_faster_than_node", 300, "a loop over the keys in node over ours", at_most=False),
    Goal("match", "growth", 2, "100,000 aliases over 1,000"),
    Goal(
        "activation",
        "times_faster_than_the_loop",
        100,
        "25,000 trigger entries, a loop over ours",
        at_most=False,
    ),
    Goal("embed", "torch_passages_times_plain", 3, "passages a second over plain float32 (AMX)", at_most=False),
    Goal("embed", "openvino_query_over_plain", 0.35, "one query with OpenVINO over plain float32"),
    Goal("embed", "openvino_smallest_cosine", 0.999, "smallest cosine of OpenVINO to torch", at_most=False),
    Goal("change", "import_seconds", 1, "import of 1,100 entries without vectors, seconds", absolute=True),
    Goal("change", "copy_seconds", 1, "copy of a book of 5,000 entries, seconds", absolute=True),
    Goal("change", "texts_embedded_by_copies", 0, "texts that the copies embedded"),
    Goal("start", "ready_seconds", 8, "start to ready with the default model, seconds", absolute=True),
    Goal("start", "help_seconds", 0.4, "`worldbook --help`, seconds", absolute=True),
    Goal("memory", "vectors_and_texts_of_a_book_mb", 3.5, "vectors and texts of 1,000 entries, MB"),
    Goal(
        "peers",
        "vectors_and_texts_over_the_leanest_peer",
        0.5,
        "vectors and texts of a book over the leanest peer with one vector an entry",
    ),
    Goal("memory", "resident_mb", 800, "resident with the default model and 10 books of 1,000, MB"),
    Goal("steady", "p95_over_p50", 3, "95th percentile over the median at half of saturation"),
    Goal("steady", "errors", 0, "errors at half of saturation"),
    Goal("steady", "memory_growth", _FLAT, "memory at the end of that over memory near its beginning"),
    Goal("batching", "batching_gains", 1, "throughput of new queries with batches over without", at_most=False),
)


def of_measure(name: str, figures: Mapping[str, float]) -> list[tuple[Goal, float]]:
    """The goals of a measure with what was measured; a figure that a run left out has no row."""
    return [(goal, figures[goal.figure]) for goal in GOALS if goal.measure == name and goal.figure in figures]
