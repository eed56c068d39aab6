"""Search: by a picture, by items, by codes; and why two items are near."""

import time
from typing import Annotated

import numpy as np
from fastapi import Query, Request

from ...codes import By, Codes, unpack
from ...codes import distances as distances_of
from .. import routing
from ..asked import bad, check_count, check_distance, check_window, codes_from, parse_where
from ..errors import Refused, documented
from ..finding import Asked, find_codes, find_like, is_short
from ..limits import Limits
from ..schemas import (
    Bit,
    Explain,
    Explained,
    Found,
    FoundByPicture,
    FoundMany,
    Search,
)
from ..schemas import Query as Uploaded
from ..site import Site, TheSite
from ..work import run_in
from .items import WhereText

router = routing.router("search")
BINARY = {"schema": {"type": "string", "format": "binary"}}


async def search(site: TheSite, asked: Search) -> Found | FoundMany:
    """Items like some and not like others, or near to a code, or to each of several codes."""
    check_search(asked, site.limits)
    one = len(asked.like or asked.codes or [asked.code]) == 1 and not asked.unlike
    with site.collection.reading() as served:
        short = one and is_short(served.index, hits_of(asked))
    return found(site, asked) if short else await run_in(site.searching, found, site, asked)


router.add_api_route(
    "/api/search",
    search,
    methods=["POST"],
    responses=documented(404),
    route_class_override=routing.QuickRoute,
)


def check_search(asked: Search, limits: Limits) -> None:
    """Refuse what cannot be searched for."""
    kinds = [asked.like is not None, asked.code is not None, asked.codes is not None]
    if sum(kinds) != 1:
        raise bad("give one of like, code and codes")
    if asked.unlike is not None and asked.like is None:
        raise bad("unlike needs like: at least one item that is wanted")
    check_count(max(len(asked.codes or []), len(asked.like or []) + len(asked.unlike or [])), limits)
    check_window(asked.k, asked.offset, limits)
    if asked.codes is not None and len(asked.codes) * (asked.offset + asked.k) > 10 * limits.window:
        raise bad(f"codes x (offset + k) is at most {10 * limits.window:,}")


def hits_of(asked: Search) -> Asked:
    """Which hits are wanted."""
    return Asked(asked.k, asked.offset, asked.radius, asked.by, asked.where, asked.brief)


def found(site: Site, asked: Search) -> Found | FoundMany:
    """What was asked for."""
    begun = time.perf_counter()
    with site.collection.reading() as served:
        layout, wanted = served.index.layout, hits_of(asked)
        check_distance(asked.radius, asked.by, layout, site.limits.radius)
        if asked.like is not None:
            one = find_like(served, asked.like, asked.unlike or [], wanted)
        else:
            texts = asked.codes if asked.code is None else [asked.code]
            results = find_codes(served, codes_from(texts or [], layout), wanted)
            if asked.code is None:
                return FoundMany(took_ms=passed(begun), results=results)
            one = results[0]
        return Found(took_ms=passed(begun), total=one.total, hits=one.hits)


def passed(begun: float) -> float:
    """Milliseconds since then."""
    return round(1000 * (time.perf_counter() - begun), 3)


@router.post(
    "/api/search/picture",
    openapi_extra={"requestBody": {"required": True, "content": {"image/*": BINARY}}},
    responses=documented(413, 415, 429, 503),
)
async def search_picture(
    site: TheSite,
    request: Request,
    k: Annotated[int, Query(ge=1)] = 24,
    offset: Annotated[int, Query(ge=0)] = 0,
    radius: Annotated[int | None, Query(ge=0)] = None,
    by: By = "both",
    where: WhereText = None,
) -> FoundByPicture:
    """Items like a picture, which is the body of the request."""
    begun = time.perf_counter()
    check_window(k, offset, site.limits)
    asked = Asked(k, offset, radius, by, parse_where(where, site.limits))
    if not request.headers.get("content-type", "").lower().startswith("image/"):
        raise Refused(415, "unsupported", "send the bytes of a picture, with Content-Type: image/...")
    site.uploads.take()
    content = await request.body()
    with site.collection.reading() as served:
        check_distance(radius, by, served.index.layout, site.limits.radius)
        code = await site.encoder.code_of(content, served.model)
        if is_short(served.index, asked):
            (one,) = find_codes(served, code[None], asked)
        else:
            (one,) = await run_in(site.searching, find_codes, served, code[None], asked)
    return FoundByPicture(
        took_ms=passed(begun), total=one.total, hits=one.hits, query=Uploaded(token=code.tobytes().hex())
    )


@router.post("/api/explain", responses=documented(404))
async def explain(site: TheSite, asked: Explain) -> Explained:
    """Why two items are near or far: the bits that differ, and the groups that each is near to."""
    if (asked.other is None) == (asked.code is None):
        raise bad("give one of other and code")
    return await run_in(site.searching, explained, site, asked)


def explained(site: Site, asked: Explain) -> Explained:
    """The bits by which two codes differ."""
    with site.collection.reading() as served:
        layout = served.index.layout
        mine = served.items([asked.id])[0].code
        if asked.other is not None:
            theirs = served.items([asked.other])[0].code
        else:
            theirs = codes_from([asked.code or ""], layout)[0]
        kinds: list[By] = ["both", "meaning", "look"] if layout.look else ["both", "meaning"]
        far = {by: int(distances_of(mine, theirs, layout, by)) for by in kinds}
        return Explained(
            distance=far["both"],
            by=far,
            bits=differing(mine, theirs, layout.meaning, layout.bits),
            groups=[] if site.taught is None else site.taught.near_groups(served, mine),
            other_groups=[] if site.taught is None else site.taught.near_groups(served, theirs),
        )


def differing(mine: Codes, theirs: Codes, meaning: int, bits: int) -> list[Bit]:
    """The bits that are not the same."""
    one, other = unpack(mine, bits) > 0, unpack(theirs, bits) > 0
    return [
        Bit(bit=bit, part="meaning" if bit < meaning else "look", mine=int(one[bit]), theirs=int(other[bit]))
        for bit in np.flatnonzero(one != other).tolist()
    ]
