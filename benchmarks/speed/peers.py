"""Other retrievers on the same work, with the same vectors: three books of 1,000 entries, one question.

Each gets the entries with one vector each and the vector of the question, so none of them loads a model. Asked for the
eight best entries of the three books together. They do less than the product: no aliases in the whole chat, no windows,
no packing, no reasons. Install them with `pip install --group peers -c constraints.txt`, best in an environment of
their own; one that is not there is left out.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.server import resident_mb
from benchmarks.speed.lore import WINDOWS, asked, attached_book, chat, unit, words
from benchmarks.speed.retrieving import DEFAULTS, NAMES, PLACES, asking, tokenizer
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median
from service.lore.retrieval import prepare


@dataclass(frozen=True)
class Task:
    """The common work."""

    texts: list[list[str]]
    """Of each book."""
    vectors: list[np.ndarray]
    """Of each book, shape (entries, 384)."""
    question: str
    query: np.ndarray
    named: list[str]
    """Eight words for a filter by contained text."""

    @property
    def all_texts(self) -> list[str]:
        return [text for book in self.texts for text in book]

    @property
    def all_vectors(self) -> np.ndarray:
        return np.concatenate(self.vectors)


Ask = Callable[[], object]


def chroma(task: Task) -> Ask:
    """A collection per book, vectors only."""
    collections = _chroma_collections(task, "vectors")
    query = [task.query.tolist()]
    return lambda: [c.query(query_embeddings=query, n_results=PLACES) for c in collections]


def chroma_contains(task: Task) -> Ask:
    """A collection per book, and the entries that contain one of eight words."""
    collections = _chroma_collections(task, "contains")
    query = [task.query.tolist()]
    where = {"$or": [{"$contains": word} for word in task.named]}
    return lambda: [
        (
            c.query(query_embeddings=query, n_results=PLACES),
            c.query(query_embeddings=query, n_results=PLACES, where_document=where),
        )
        for c in collections
    ]


def _chroma_collections(task: Task, prefix: str) -> list[Any]:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
    collections = []
    for number, (texts, vectors) in enumerate(zip(task.texts, task.vectors, strict=True)):
        options = {"hnsw": {"space": "ip"}}
        collection = client.create_collection(f"{prefix}-{number}", embedding_function=None, configuration=options)
        ids = [str(place) for place in range(len(texts))]
        collection.add(ids=ids, embeddings=vectors, documents=texts)
        collections.append(collection)
    return collections


def llama_index(task: Task) -> Ask:
    """QueryFusionRetriever over its simple vector store and bm25s."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import QueryBundle, TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    nodes = [
        TextNode(text=text, id_=str(place), embedding=vector.tolist())
        for place, (text, vector) in enumerate(zip(task.all_texts, task.all_vectors, strict=True))
    ]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(len(task.query)))
    fusion = QueryFusionRetriever(
        [
            index.as_retriever(similarity_top_k=PLACES),
            BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=PLACES),
        ],
        llm=MockLLM(),
        similarity_top_k=PLACES,
        num_queries=1,
        mode="reciprocal_rerank",
        use_async=False,
    )
    bundle = QueryBundle(query_str=task.question, embedding=task.query.tolist())
    return lambda: fusion.retrieve(bundle)


def txtai(task: Task) -> Ask:
    """Hybrid search of one index, dense and sparse."""
    from txtai import Embeddings

    given = dict(zip(task.all_texts, task.all_vectors, strict=True))
    given[task.question] = task.query

    def transform(texts: Sequence[str]) -> np.ndarray:
        return np.array([given[text] for text in texts], np.float32)

    embeddings = Embeddings(method="external", transform=transform, hybrid=True, content=True, backend="faiss")
    embeddings.index([(place, text, None) for place, text in enumerate(task.all_texts)])
    return lambda: embeddings.search(task.question, PLACES)


def langchain(task: Task) -> Ask:
    """EnsembleRetriever over FAISS and BM25."""
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS
    from langchain_core.embeddings import Embeddings

    query = task.query.tolist()

    class Given(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise NotImplementedError

        def embed_query(self, text: str) -> list[float]:
            return query

    pairs = list(zip(task.all_texts, task.all_vectors.tolist(), strict=True))
    dense = FAISS.from_embeddings(pairs, Given()).as_retriever(search_kwargs={"k": PLACES})
    ensemble = EnsembleRetriever(retrievers=[dense, BM25Retriever.from_texts(task.all_texts, k=PLACES)])
    return lambda: ensemble.invoke(task.question)


def haystack(task: Task) -> Ask:
    """BM25 and embedding retrievers over the in-memory store, joined by reciprocal rank."""
    from haystack import Document, Pipeline
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    store.write_documents(
        [
            Document(content=text, embedding=vector.tolist())
            for text, vector in zip(task.all_texts, task.all_vectors, strict=True)
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=PLACES))
    pipeline.add_component("meaning", InMemoryEmbeddingRetriever(store, top_k=PLACES))
    pipeline.add_component("joiner", DocumentJoiner("reciprocal_rank_fusion", top_k=PLACES))
    pipeline.connect("words", "joiner")
    pipeline.connect("meaning", "joiner")
    asked = {"words": {"query": task.question}, "meaning": {"query_embedding": task.query.tolist()}}
    return lambda: pipeline.run(asked)


PEERS: dict[str, Callable[[Task], Ask]] = {
    "chroma": chroma,
    "chroma_contains": chroma_contains,
    "llama_index": llama_index,
    "txtai": txtai,
    "langchain": langchain,
    "haystack": haystack,
}


def measure_peers(size: Size) -> Figures:
    """Milliseconds of each beside the product in the same rounds, and the memory that each took for a book."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    random = np.random.default_rng(7)
    vocabulary = words(random, 4000)
    books = [attached_book(random, book_id, size.entries, vocabulary) for book_id in NAMES]
    messages = chat(random, books, vocabulary)
    request, counted = asked(messages), tokenizer()
    queries = unit(random, len(prepare(books, request, counted, DEFAULTS).queries))
    texts = [[f"{entry.title}\n{entry.content}" for entry in book.open.text.entries] for book in books]
    task = Task(
        texts=texts,
        vectors=[unit(random, size.entries) for _ in books],
        question=messages[-1],
        query=unit(random, 1)[0],
        named=messages[-1].split()[:8],
    )
    candidates: dict[str, Ask] = {"worldbook": asking(books, queries, request, counted)}
    figures: Figures = {"vectors_an_entry_of_worldbook": 1.0 + WINDOWS}
    for name, build in PEERS.items():
        before = _resident()
        try:
            ask = build(task)
            ask()
        except ImportError as missing:
            print(f"{name}: not installed, left out ({missing})")
            continue
        candidates[name] = ask
        figures[f"{name}_mb_a_book"] = (_resident() - before) / len(books)
    seconds = alternate(candidates, rounds=max(1, size.rounds // 3))
    for name, found in seconds.items():
        figures[f"{name}_ms"] = 1000 * median(found)
        if name != "worldbook":
            figures[f"{name}_times_worldbook"] = median(found) / median(seconds["worldbook"])
    return figures


def _resident() -> float:
    gc.collect()
    return resident_mb(os.getpid())
