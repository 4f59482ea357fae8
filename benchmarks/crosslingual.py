"""Does a chat in one language find lore in another, through the whole service?

One book of the 240 English paragraphs of XQuAD (titles "Entry 1" to "Entry 240", no aliases), attached to a character;
chats of one question in nine languages over HTTP, budget 6,000. Found: the gold paragraph is in full and among the
first five by rank. Beside it, in the same run, a plain sentence-transformers search over the same texts.

    python -m benchmarks.crosslingual --data FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.datasets import MissingDataError, Question, xquad
from benchmarks.server import running_server

LANGUAGES = ("de", "es", "ru", "zh", "ar", "hi", "th", "tr", "vi")
AMONG = 5


def make_world(client: httpx.Client, paragraphs: Sequence[str]) -> None:
    """The book, attached to a character, with all its vectors."""
    entries = [{"title": f"Entry {number}", "content": text} for number, text in enumerate(paragraphs, start=1)]
    book = client.post("/v1/books", json={"name": "XQuAD", "entries": entries}).raise_for_status().json()["id"]
    client.put(f"/v1/hosts/character/reader/attachments/{book}").raise_for_status()
    while client.get(f"/v1/books/{book}").raise_for_status().json()["counts"]["pending_vectors"]:
        time.sleep(1)  # asking without a pause would take the processor from the embedding


def found_by_service(client: httpx.Client, question: Question) -> bool:
    """Whether the gold paragraph comes in full among the first five."""
    body = {
        "hosts": ["character:reader"],
        "messages": [{"role": "user", "content": question.text}],
        "budget_tokens": 6000,
    }
    answer = client.post("/v1/retrieve", json=body).raise_for_status().json()
    if answer["degraded"]:
        raise RuntimeError(f"degraded: {answer['degraded']}")
    ranked = [entry["title"] for section in ("named", "matched") for entry in answer["sections"][section]["entries"]]
    return f"Entry {question.paragraph + 1}" in ranked[:AMONG]


def found_by_plain_search(folder: Path, texts: Sequence[str], asked: Sequence[Question]) -> list[bool]:
    """Cosine over one vector per text, with the model's prompts, in float32."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    passages = model.encode_document(list(texts), normalize_embeddings=True)
    queries = model.encode_query([question.text for question in asked], normalize_embeddings=True)
    nearest = np.argsort(-(queries @ passages.T), axis=1, kind="stable")[:, :AMONG]
    return [question.paragraph in row for question, row in zip(asked, nearest.tolist(), strict=True)]


def measure(data: Path, *, every: int) -> dict[str, dict[str, float]]:
    """Share of questions found, per language and system."""
    from embeddings.bundled import unpack
    from service.settings import Settings

    paragraphs = xquad(data, "en").paragraphs
    texts = [f"Entry {number}\n{text}" for number, text in enumerate(paragraphs, start=1)]
    questions = {language: xquad(data, language).questions[1::every] for language in LANGUAGES}
    plain_hits = found_by_plain_search(
        unpack(Settings().cache_dir), texts, [question for asked in questions.values() for question in asked]
    )
    results: dict[str, dict[str, float]] = {}
    with running_server({"WORLDBOOK_EMBED_TIMEOUT": "60"}) as client:
        make_world(client, paragraphs)
        at = 0
        for language, asked in questions.items():
            hits = [found_by_service(client, question) for question in asked]
            results[language] = {
                "questions": len(asked),
                "service": float(np.mean(hits)),
                "plain": float(np.mean(plain_hits[at : at + len(asked)])),
            }
            at += len(asked)
    return results


def main() -> int:
    """Print the table; fail when a language falls more than one point below the plain search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds xquad/")
    parser.add_argument("--every", type=int, default=3, help="use every nth question (default 3)")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    try:
        results = measure(options.data, every=options.every)
    except MissingDataError as error:
        print(error, file=sys.stderr)
        return 2
    table = Table("chat", "questions", "service R@5", "plain search R@5", "difference")
    for language, row in results.items():
        difference = row["service"] - row["plain"]
        table.add_row(
            language, f"{row['questions']:.0f}", f"{row['service']:.3f}", f"{row['plain']:.3f}", f"{difference:+.3f}"
        )
    Console().print(table)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return int(any(row["service"] < row["plain"] - 0.01 for row in results.values()))


if __name__ == "__main__":
    sys.exit(main())
