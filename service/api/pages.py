"""The pages behind the `type` of each problem: plain HTML, nothing from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Iterable

from service.api.problem_types import ProblemType


def page(row: ProblemType) -> str:
    """The page that `type` leads to."""
    title, when, remedy = (html.escape(part) for part in (row.title, row.when, row.remedy))
    return _document(
        row.name,
        f"<h1>{title}</h1><p><code>{row.path}</code>, HTTP status {row.status}</p>"
        f"<h2>When</h2><p>{when}</p><h2>What to do</h2><p>{remedy}</p>"
        '<p><a href="/problems">All problems</a> · <a href="/docs">All routes</a></p>',
    )


def contents(rows: Iterable[ProblemType]) -> str:
    """The page that lists all of them."""
    items = "".join(
        f'<li><a href="{row.path}">{row.name}</a> ({row.status}): {html.escape(row.title)}</li>' for row in rows
    )
    return _document("Problems", f"<h1>Problems</h1><ul>{items}</ul>")


def _document(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} · Worldbook</title>'
        "<style>body{font:1rem/1.5 system-ui;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>"
        f"<body>{body}</body></html>\n"
    )
