"""Other retrievers, each fed with our vectors, so that none of them loads a model.

Each builder takes a task and returns a call that answers all questions of the task with the best entries. A document
names its entry by its number; the answers to the questions are merged in the cheapest way, each entry by its best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.speed.retrieving import PLACES


@dataclass(frozen=True, kw_only=True)
class Task:
    """Documents of some books, and questions."""

    texts: list[list[str]]
    """Of each book, those of one entry in a row."""
    vectors: list[np.ndarray]
    """Of each book, shape (documents, 384), float32."""
    documents_an_entry: int
    questions: list[str]
    queries: np.ndarray
    """Of the questions, shape (questions, 384), float32."""
    named: list[str]
    """Words for a filter by contained text."""

    @property
    def all_texts(self) -> list[str]:
        return [text for book in self.texts for text in book]

    @property
    def all_vectors(self) -> np.ndarray:
        return np.concatenate(self.vectors)

    def copied(self) -> Task:
        """With documents of its own, so that what a retriever keeps of them is memory that it takes."""
        texts = [[text.encode().decode() for text in book] for book in self.texts]
        return Task(**{**vars(self), "texts": texts, "vectors": [vectors.copy() for vectors in self.vectors]})


Ask = Callable[[], object]


def best(scored: Iterable[tuple[Any, float]]) -> list[Any]:
    """The eight entries with the highest scores, each by its best one."""
    found: dict[Any, float] = {}
    for entry, score in scored:
        if score > found.get(entry, -np.inf):
            found[entry] = score
    return nlargest(PLACES, found, key=found.__getitem__)


def chroma(task: Task) -> Ask:
    """A collection per book, vectors only, all questions in one query."""
    collections = _chroma_collections(task, "vectors")
    queries = task.queries
    return lambda: best(
        chain.from_iterable(
            _chroma_scored(number, collection.query(query_embeddings=queries, n_results=PLACES))
            for number, collection in enumerate(collections)
        )
    )


def chroma_contains(task: Task) -> Ask:
    """A collection per book: the nearest, and the nearest of those that contain one of the words."""
    collections = _chroma_collections(task, "contains")
    queries = task.queries
    where: Any = {"$or": [{"$contains": word} for word in task.named]}
    return lambda: best(
        chain.from_iterable(
            _chroma_scored(number, collection.query(query_embeddings=queries, n_results=PLACES, **filters))
            for number, collection in enumerate(collections)
            for filters in ({}, {"where_document": where})
        )
    )


def _chroma_scored(number: int, found: Any) -> Iterable[tuple[tuple[int, str], float]]:
    for ids, distances in zip(found["ids"], found["distances"], strict=True):
        for name, distance in zip(ids, distances, strict=True):
            yield (number, name.partition(".")[0]), -distance


def _chroma_collections(task: Task, prefix: str) -> list[Any]:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
    most = client.get_max_batch_size()
    collections = []
    for number, (texts, vectors) in enumerate(zip(task.texts, task.vectors, strict=True)):
        options = {"hnsw": {"space": "ip"}}
        name = f"{prefix}-{number}-{len(texts)}"
        collection = client.create_collection(name, embedding_function=None, configuration=options)
        ids = [".".join(map(str, divmod(place, task.documents_an_entry))) for place in range(len(texts))]
        for start in range(0, len(ids), most):
            part = slice(start, start + most)
            collection.add(ids=ids[part], embeddings=vectors[part], documents=texts[part])
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

    each = task.documents_an_entry
    nodes = [
        TextNode(text=text, id_=str(place), embedding=vector.tolist())
        for place, (text, vector) in enumerate(zip(task.all_texts, task.all_vectors, strict=True))
    ]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(task.queries.shape[1]))
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
    bundles = [
        QueryBundle(query_str=question, embedding=query.tolist())
        for question, query in zip(task.questions, task.queries, strict=True)
    ]
    return lambda: best(
        (int(found.node.node_id) // each, found.score) for bundle in bundles for found in fusion.retrieve(bundle)
    )


def txtai(task: Task) -> Ask:
    """Hybrid search of one index, dense and sparse, all questions in one call."""
    from txtai import Embeddings

    each, questions = task.documents_an_entry, task.questions
    given = dict(zip(task.all_texts, task.all_vectors, strict=True))
    asked = dict(zip(task.questions, task.queries, strict=True))

    def transform(texts: Sequence[str]) -> np.ndarray:
        return np.array([asked[text] if text in asked else given[text] for text in texts], np.float32)

    embeddings = Embeddings(method="external", transform=transform, hybrid=True, content=True, backend="faiss")
    embeddings.index([(place, text, None) for place, text in enumerate(task.all_texts)])
    given.clear()
    return lambda: best(
        (int(row["id"]) // each, row["score"]) for rows in embeddings.batchsearch(questions, PLACES) for row in rows
    )


def langchain(task: Task) -> Ask:
    """EnsembleRetriever over FAISS and BM25."""
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS
    from langchain_core.embeddings import Embeddings

    each, questions = task.documents_an_entry, task.questions
    asked = dict(zip(task.questions, task.queries.tolist(), strict=True))

    class Given(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise NotImplementedError

        def embed_query(self, text: str) -> list[float]:
            return asked[text]

    pairs = list(zip(task.all_texts, task.all_vectors.tolist(), strict=True))
    entries = [{"entry": place // each} for place in range(len(pairs))]
    dense = FAISS.from_embeddings(pairs, Given(), metadatas=entries).as_retriever(search_kwargs={"k": PLACES})
    sparse = BM25Retriever.from_texts(task.all_texts, metadatas=entries, k=PLACES)
    ensemble = EnsembleRetriever(retrievers=[dense, sparse])
    return lambda: best(
        (found.metadata["entry"], -rank)
        for question in questions
        for rank, found in enumerate(ensemble.invoke(question))
    )


def haystack(task: Task) -> Ask:
    """BM25 and embedding retrievers over the in-memory store, joined by reciprocal rank."""
    from haystack import Document, Pipeline
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    store.write_documents(
        [
            Document(content=text, embedding=vector.tolist(), meta={"entry": place // task.documents_an_entry})
            for place, (text, vector) in enumerate(zip(task.all_texts, task.all_vectors, strict=True))
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=PLACES))
    pipeline.add_component("meaning", InMemoryEmbeddingRetriever(store, top_k=PLACES))
    pipeline.add_component("joiner", DocumentJoiner("reciprocal_rank_fusion", top_k=PLACES))
    pipeline.connect("words", "joiner")
    pipeline.connect("meaning", "joiner")
    asked = [
        {"words": {"query": question}, "meaning": {"query_embedding": query.tolist()}}
        for question, query in zip(task.questions, task.queries, strict=True)
    ]
    return lambda: best(
        (found.meta["entry"], found.score) for one in asked for found in pipeline.run(one)["joiner"]["documents"]
    )


RETRIEVERS: dict[str, Callable[[Task], Ask]] = {
    "chroma": chroma,
    "chroma_contains": chroma_contains,
    "llama_index": llama_index,
    "txtai": txtai,
    "langchain": langchain,
    "haystack": haystack,
}
