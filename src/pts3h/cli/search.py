"""pts3h search: find what is most like a query."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

import pts3h

from ..data.decoding import image_size
from ..data.formats import SUFFIXES
from ..data.items import Items, read_items
from ..errors import UserError
from ..index.contract import check_model
from ..indexing import Answer, find, recall_model, visible
from ..util.console import plain_console, printable
from ..util.files import write_text
from .arguments import IndexAddress, SearchBy
from .output import AsJson, say

EXAMPLE = "pts3h search photos.index query.jpg -k 10 --html hits.html"


def search(
    address: IndexAddress,
    queries: Annotated[
        list[Path], typer.Argument(help="Pictures, a folder of them, or an .npy of embeddings.")
    ],
    k: Annotated[
        int | None, typer.Option("-k", help="How many to find: 10, or all within --radius, by default.")
    ] = None,
    radius: Annotated[
        int | None, typer.Option("--radius", "-r", help="Find nothing that is farther away.")
    ] = None,
    by: SearchBy = "both",
    where: Annotated[
        str | None, typer.Option(help='Filter on metadata as JSON, such as \'{"price": {"<": 100}}\'.')
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Model folder; by default the one that made the index.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--html", help="Write the answers as a page of pictures.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the items most like a picture (or an embedding)."""
    condition = parse_where(where)
    items = read_items(queries if len(queries) > 1 or is_picture(queries[0]) else queries[0])
    refuse_missing(address)
    with pts3h.open_index(address, read_only=True) as target:
        with ThreadPoolExecutor(1) as thread:  # most of the time that a model takes to open, Python is free
            thread.submit(prepare, items, table=page is None and not as_json)
            encoder = pts3h.load_model(model or recall_model(target.model, address))
        check_model(target.model, encoder.fingerprint, address)
        answers = find(encoder, items, target, k=k, radius=radius, where=condition, by=by)
    if page is not None:
        from .answers_page import answers_page  # few ask for it, and nobody else waits for what it needs

        write_text(page, answers_page(answers))
        asked = "1 query" if len(answers) == 1 else f"{len(answers):,} queries"
        say(f"the hits of {asked} are in {page}")
    if as_json:
        print(json.dumps([as_plain(answer) for answer in answers]))
    elif page is None:
        print_answers(answers)


def prepare(items: Items, *, table: bool) -> None:
    """Import what is needed once the model is open: the decoder of the first picture, and tables."""
    if items.paths:
        image_size(items.paths[0])
    if table:
        import rich.console
        import rich.table  # noqa: F401


def refuse_missing(address: str) -> None:
    """A folder that is not there must not become an empty index by being searched."""
    if "://" not in address and not Path(address).is_dir():
        raise UserError(f"there is no index {address}: make it with pts3h index MODEL ITEMS --to {address}")


def is_picture(path: Path) -> bool:
    """Whether a file's name says that it is a picture."""
    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def parse_where(text: str | None) -> dict[str, Any] | None:
    """The filter from the command line."""
    if text is None:
        return None
    try:
        condition = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f'--where must be JSON such as {{"colour": "red"}}: {error}') from error
    if not isinstance(condition, dict):
        raise UserError('--where must be a JSON object such as {"colour": "red"}')
    return condition


def as_plain(answer: Answer) -> dict[str, Any]:
    """An answer for JSON."""
    hits = [
        {"id": name, "distance": distance, "meta": visible(meta)}
        for (name, distance), meta in zip(answer.hits, answer.meta, strict=True)
    ]
    return {"query": answer.query, "hits": hits}


def print_answers(answers: list[Answer]) -> None:
    """One table per query."""
    from rich.table import Table  # programs ask for JSON, and do not wait for it

    console = plain_console()
    for answer in answers:
        query = printable(answer.query)
        table = Table("rank", "distance", "item", "metadata", title=query, title_justify="left")
        for rank, ((name, distance), meta) in enumerate(zip(answer.hits, answer.meta, strict=True), start=1):
            facts = visible(meta)
            table.add_row(str(rank), str(distance), printable(str(name)), json.dumps(facts) if facts else "")
        console.print(table)
