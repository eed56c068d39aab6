"""Near-duplicates, to look at and to choose from."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from ...codes import By
from ...index.duplicates import likeness
from .. import routing
from ..asked import check_distance
from ..duplicates import Copies, Keep, described
from ..errors import documented
from ..site import TheSite
from ..work import run_in

router = routing.router("items")


class DuplicatesOut(BaseModel):
    """A page of groups, the largest first."""

    total: int
    by: By
    radius: int
    groups: list[Copies]


@router.get("/api/duplicates", responses=documented(503))
async def duplicates(
    site: TheSite,
    radius: Annotated[int, Query(ge=0)] = 2,
    by: By | None = None,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    keep: Keep = "largest",
) -> DuplicatesOut:
    """Groups of items that look the same, and which of each a rule would keep."""

    def page() -> DuplicatesOut:
        with site.collection.reading() as served:
            kind = by or likeness(served.index)
            check_distance(radius, kind, served.index.layout, site.limits.duplicates_radius)
            groups = site.duplicates.groups(served, radius, kind)
            shown = [described(served, ids, kind, keep) for ids in groups[offset : offset + limit]]
            return DuplicatesOut(
                total=len(groups),
                by=kind,
                radius=radius,
                groups=[one for one in shown if one is not None],
            )

    return await run_in(site.comparing, page)
