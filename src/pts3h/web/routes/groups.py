"""Groups of items that belong together: look, name, merge, split."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from ...teaching.answer import Counts
from ...teaching.answers import LONGEST_NAME, Answers
from ...teaching.knowledge import contradictions
from .. import routing
from ..asked import bad
from ..errors import documented
from ..schemas import Body, Name
from ..site import Site, TheSite
from ..work import run_in

router = routing.router("answers")
MOST_OVERRULED = 100  # told at a time
Number = Annotated[int, Path(ge=1, le=2**31, description="Number of a group.")]


class GroupOut(BaseModel):
    """Items that are alike."""

    group: int
    name: str
    items: list[str]


class Groups(BaseModel):
    """All groups that hold an item."""

    groups: list[GroupOut]
    counts: Counts
    overruled: list[str] = Field(
        description="Answers that newer ones contradict through a chain of others, newest first. They do not "
        "count where alike of alike is alike."
    )


class Naming(Body):
    """What to call a group; nothing takes its name away."""

    name: str = Field(max_length=LONGEST_NAME)


class Merging(Body):
    """The group that all items go into."""

    into: int = Field(ge=1, le=2**31)


class Splitting(Body):
    """The items that leave, into a group of their own."""

    items: list[Name] = Field(min_length=1, max_length=100_000)


def all_groups(answers: Answers) -> Groups:
    """As clients see them."""
    standing = answers.standing()
    groups = [GroupOut(group=one.number, name=one.name, items=one.items) for one in standing.groups()]
    overruled = [one.text for one in contradictions(standing)[:MOST_OVERRULED]]
    return Groups(groups=groups, counts=standing.counts(), overruled=overruled)


@router.get("/api/groups", responses=documented(404))
async def groups(site: TheSite) -> Groups:
    """All groups that hold an item."""
    return await run_in(site.reading, all_groups, site.teaching().answers)


@router.patch("/api/groups/{number}", responses=documented(404))
async def name_group(site: TheSite, number: Number, naming: Naming) -> Groups:
    """Name a group."""
    return await changed(
        site, [number], lambda answers, model: answers.name_group(number, naming.name, model=model)
    )


@router.post("/api/groups/{number}/merge", responses=documented(404))
async def merge(site: TheSite, number: Number, merging: Merging) -> Groups:
    """Move all items of a group into another."""
    if merging.into == number:
        raise bad("a group cannot be merged into itself")
    return await changed(
        site, [number, merging.into], lambda answers, model: answers.merge(number, merging.into, model=model)
    )


@router.post("/api/groups/{number}/split", responses=documented(404))
async def split(site: TheSite, number: Number, splitting: Splitting) -> Groups:
    """Move some items of a group into a new one."""

    def act(answers: Answers, model: str) -> object:
        here = set(answers.standing().members(number))
        if not set(splitting.items) < here:
            raise bad("split off some items of the group, not all of them")
        return answers.split(number, splitting.items, model=model)

    return await changed(site, [number], act)


async def changed(site: Site, numbers: list[int], act: Callable[[Answers, str], object]) -> Groups:
    """The groups after a change to some that are there."""
    teaching = site.teaching()

    def change() -> Groups:
        for number in numbers:
            teaching.check_group(number)
        with site.collection.reading() as served:
            act(teaching.answers, served.model.fingerprint)
        return all_groups(teaching.answers)

    return await run_in(site.reading, change)
