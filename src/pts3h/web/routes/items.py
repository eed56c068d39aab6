"""What is in the collection: items, their pictures, and what is served."""

import time
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Header, Query, Response
from pydantic import BaseModel, Field

from ... import __version__
from ...codes import By
from ...data.decoding import image_size
from ...index.contract import Item as Held
from ...indexing import PATH, picture_of
from ...model.verdict import verdict
from ...teaching.answer import Counts
from ...util.files import state_of
from .. import routing
from ..asked import parse_where
from ..collection import Served
from ..errors import documented
from ..schemas import ItemDetails, Items, Job, LimitFacts, ModelFacts, Name, shown_item
from ..site import Site, TheSite
from ..thumbnails import LARGEST, Small
from ..work import run_in

router = routing.router("items")
SAMPLE = 16  # items that are asked whether there are pictures
WhereText = Annotated[str | None, Query(max_length=4_000, description="A filter on metadata, as JSON.")]
PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/webp": {"schema": {"type": "string", "format": "binary"}}}},
    304: {"description": "The picture that the client has is the current one."},
    **documented(404),
}


class Status(BaseModel):
    """What is served, and what may be asked."""

    name: str
    version: str
    items: int
    bits: int
    look_bits: int
    pictures: bool
    by: list[By]
    generation: int
    previous: bool = Field(description="Whether there is a generation before this one to go back to.")
    model: ModelFacts
    teach: bool
    writes: Literal["open", "token", "closed"]
    counts: Counts | None
    limits: LimitFacts
    job: Job | None = Field(description="The newest training job.")


@router.get("/api/status")
async def status(site: TheSite) -> Status:
    """What is served, and what may be asked."""
    return await run_in(site.reading, status_of, site)


def status_of(site: Site) -> Status:
    """All facts of this moment."""
    with site.collection.reading() as served:
        layout, limits = served.index.layout, site.limits
        sample = next((ids for ids, _ in served.index.scan(SAMPLE)), [])
        return Status(
            name=site.collection.name,
            version=__version__,
            items=served.index.count,
            bits=layout.meaning,
            look_bits=layout.look,
            pictures=any(item and picture_of(item.meta) for item in served.index.get(sample)),
            by=["both", "meaning", "look"] if layout.look else ["both", "meaning"],
            generation=served.generation,
            previous=site.training is not None and site.training.previous,
            model=model_facts(served),
            teach=site.training is not None and served.model.used.takes_pictures,
            writes=site.access.writes,
            counts=None if site.taught is None else site.taught.answers.counts(),
            job=None if site.training is None else site.training.latest(),
            limits=LimitFacts(
                k=limits.k,
                window=limits.window,
                radius=min(limits.radius, layout.largest),
                queries=limits.queries,
                upload_bytes=limits.upload_bytes,
                pixels=limits.pixels,
            ),
        )


def model_facts(served: Served) -> ModelFacts:
    """What there is to say of the model."""
    state = state_of(served.folder / "config.json")
    at = None if state is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(state.st_mtime))
    summary = served.model.summary
    return ModelFacts(
        fingerprint=served.model.fingerprint,
        trained_at=at,
        pairs=summary.get("known_pairs"),
        check=verdict(summary),
    )


@router.get("/api/items")
async def items(
    site: TheSite,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    where: WhereText = None,
    names: Annotated[str, Query(max_length=200, description="Only ids that hold this text.")] = "",
) -> Items:
    """Items in the order of their ids."""
    condition = parse_where(where, site.limits)

    def page() -> Items:
        with site.collection.reading() as served:
            ids = site.catalogue.ids(served, condition, names)
            held = served.index.get(ids[offset : offset + limit])
            shown = [shown_item(item) for item in held if item is not None]
            return Items(total=len(ids), offset=offset, items=shown)

    return await run_in(site.reading, page)


@router.get("/api/item", responses=documented(404))
async def item(site: TheSite, id: Annotated[Name, Query()]) -> ItemDetails:
    """All there is to say of an item."""

    def details() -> ItemDetails:
        with site.collection.reading() as served:
            (held,) = served.items([id])
            path = picture_of(held.meta)
            size = None if path is None else image_size(path)
            state = None if path is None else state_of(path)
            group = None if site.taught is None else site.taught.group_of(id)
            return ItemDetails(
                **dict(shown_item(held)),
                code=held.code.tobytes().hex(),
                width=None if size is None else size[0],
                height=None if size is None else size[1],
                bytes=None if state is None else state.st_size,
                path_shown=path_shown(held),
                group=None if group is None else group.number,
                group_name=None if group is None else group.name,
            )

    return await run_in(site.reading, details)


def path_shown(item: Held) -> str | None:
    """The name of an item's file below the collection, or its own name alone."""
    path, name = item.meta.get(PATH), str(item.id)
    if not isinstance(path, str):
        return None
    below = not Path(name).is_absolute() and Path(path).as_posix().endswith(f"/{name}")
    return name if below else Path(path).name


@router.get("/api/thumbnail", response_class=Response, responses=PICTURE)
async def thumbnail(
    site: TheSite,
    id: Annotated[Name, Query()],
    size: Literal["64", "128", "256"] = "128",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A small picture of an item, as WebP."""
    return await picture_answer(site, id, int(size), if_none_match)


@router.get("/api/picture", response_class=Response, responses=PICTURE)
async def picture(
    site: TheSite, id: Annotated[Name, Query()], if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """An item's picture, at most 1600 pixels wide and high, as WebP, without what cameras write in it."""
    return await picture_answer(site, id, LARGEST, if_none_match)


async def picture_answer(site: Site, name: str, size: int, known: str | None) -> Response:
    """The picture, or that the client has it."""

    def make() -> Small | str:
        with site.collection.reading() as served:
            path = served.picture(name)
        tag = site.thumbnails.tag(path, size)
        return tag if known is not None and f'"{tag}"' in known else site.thumbnails.make(path, size)

    made = await run_in(site.reading, make)
    tag = made if isinstance(made, str) else made.tag
    headers = {"ETag": f'"{tag}"', "Cache-Control": "private, max-age=600"}
    if isinstance(made, str):
        return Response(status_code=304, headers=headers)
    return Response(made.content, media_type="image/webp", headers=headers)
