"""The commands that search: index, search, dedup, doctor."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError

if TYPE_CHECKING:
    from ..indexing import Answer

Address = Annotated[str, typer.Argument(help="Folder of the index, or milvus://host:port/collection.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program to read.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pts3h index model/ photos/ --to photos.index")(index)
    app.command(epilog="Example: pts3h search photos.index query.jpg -k 10 --html hits.html")(search)
    app.command(epilog="Example: pts3h dedup photos.index --radius 2")(dedup)
    app.command(epilog="Example: pts3h doctor")(doctor)


def index(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    items: Annotated[Path, typer.Argument(help="Folder of pictures, .npy, CSV, or list file.")],
    to: Annotated[str, typer.Option("--to", help="Folder of the index, or milvus://host:port/collection.")],
    meta: Annotated[
        Path | None, typer.Option(help="CSV with an id column and one column a kind of metadata.")
    ] = None,
    root: Annotated[
        Path | None, typer.Option(help="Where relative paths of a CSV or list file start.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove what is no longer among the items.")] = False,
    as_json: AsJson = False,
) -> None:
    """Code items and add them to an index; run again, only what is new or changed is coded."""
    from ..data.items import read_items
    from ..hasher import Hasher
    from ..index import engine_of, open_index
    from ..indexing import index_items, read_meta, remember_model
    from .app import say

    hasher, collection = Hasher.load(model), read_items(items, root=root)
    table = None if meta is None else read_meta(meta)
    with open_index(to, bits=hasher.bits, model=hasher.fingerprint, **engine_of(to).writing) as target:
        done = index_items(hasher, collection, target, prune=prune, meta=table)
        remember_model(hasher, model)
        count = target.count
    if as_json:
        print(json.dumps({"index": to, "count": count, **vars(done)}))
        return
    for reason in done.skipped.values():
        say(f"skipped {reason}")
    figures = ("added", "changed", "unchanged", "removed")
    did = ", ".join(f"{getattr(done, name):,} {name}" for name in figures)
    say(f"{did}; {to} holds {count:,} items")


def search(
    address: Address,
    queries: Annotated[
        list[Path], typer.Argument(help="Pictures, a folder of them, or an .npy of embeddings.")
    ],
    k: Annotated[int, typer.Option("-k", help="How many to find.")] = 10,
    radius: Annotated[
        int | None,
        typer.Option("--radius", "-r", help="Instead of -k: everything within this Hamming distance."),
    ] = None,
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
    from ..data.items import read_items
    from ..hasher import Hasher
    from ..index import open_index
    from ..indexing import find, recall_model
    from ..util.files import write_text
    from .app import say

    condition = parse_where(where)
    items = read_items(queries if len(queries) > 1 or is_picture(queries[0]) else queries[0])
    refuse_missing(address)
    with open_index(address, read_only=True) as target:
        hasher = Hasher.load(model or recall_model(target.model, address))
        if target.model is not None and target.model != hasher.fingerprint:
            raise UserError(f"{address} was made by another model ({target.model}) than {hasher.fingerprint}")
        answers = find(hasher, items, target, k=k, radius=radius, where=condition)
    if page is not None:
        from ..bench.gallery import answers_page

        write_text(page, answers_page(answers))
        say(f"{len(answers)} answers are in {page}")
    if as_json:
        print(json.dumps([as_plain(answer) for answer in answers]))
    elif page is None:
        print_answers(answers)


def dedup(
    address: Address,
    radius: Annotated[
        int, typer.Option("--radius", "-r", help="Largest Hamming distance of two near-duplicates.")
    ] = 2,
    as_json: AsJson = False,
) -> None:
    """Print groups of near-duplicates: items linked by steps of at most the radius."""
    from ..index import open_index
    from ..index.duplicates import duplicate_groups
    from .app import say

    refuse_missing(address)
    with open_index(address, read_only=True) as target:
        groups = duplicate_groups(target, radius)
    if as_json:
        print(json.dumps(groups))
        return
    for group in groups:
        print("\n".join(map(str, group)) + "\n")
    say(f"{len(groups):,} groups, {sum(map(len, groups)) - len(groups):,} items could go")


def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, which search kernel is active, and why."""
    from ..doctor import diagnose

    diagnosis = diagnose()
    print(json.dumps(diagnosis.as_dict()) if as_json else diagnosis)


def refuse_missing(address: str) -> None:
    """A folder that is not there must not become an empty index by being searched."""
    if "://" not in address and not Path(address).is_dir():
        raise UserError(f"there is no index {address}: make it with pts3h index MODEL ITEMS --to {address}")


def is_picture(path: Path) -> bool:
    """Whether a file's name says that it is a picture."""
    from ..data.images import SUFFIXES

    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def parse_where(text: str | None) -> dict[str, Any] | None:
    """The filter from the command line."""
    if text is None:
        return None
    try:
        condition = json.loads(text)
    except ValueError as error:
        raise UserError(f'--where must be JSON such as {{"colour": "red"}}: {error}') from error
    if not isinstance(condition, dict):
        raise UserError('--where must be a JSON object such as {"colour": "red"}')
    return condition


def as_plain(answer: "Answer") -> dict[str, Any]:
    """An answer for JSON."""
    from ..indexing import visible

    hits = [
        {"id": name, "distance": distance, "meta": visible(meta)}
        for (name, distance), meta in zip(answer.hits, answer.meta, strict=True)
    ]
    return {"query": answer.query, "hits": hits}


def print_answers(answers: list["Answer"]) -> None:
    """One table a query."""
    from rich.console import Console
    from rich.table import Table

    from ..indexing import visible

    console = Console()
    for answer in answers:
        table = Table("rank", "distance", "item", "metadata", title=answer.query, title_justify="left")
        for rank, ((name, distance), meta) in enumerate(zip(answer.hits, answer.meta, strict=True), start=1):
            facts = visible(meta)
            table.add_row(str(rank), str(distance), str(name), json.dumps(facts) if facts else "")
        console.print(table)
