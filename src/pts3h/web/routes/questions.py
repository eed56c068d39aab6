"""The next question that is worth a person's time."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel

from ...teaching.question import Helping
from .. import routing
from ..collection import Served
from ..errors import documented
from ..schemas import Item, Name, shown_item
from ..site import TheSite
from ..teaching import Teaching
from ..work import run_in

router = routing.router("answers")
Mode = Literal["groups", "pairs"]


class Helps(BaseModel):
    """Whether more answers still help, in words and, once there are enough, as a figure."""

    text: str
    figure: float | None
    error: float | None
    stop: bool


class Choice(BaseModel):
    """A group that the item may belong to."""

    group: int
    name: str
    examples: list[Item]
    similarity: float


class GroupQuestion(BaseModel):
    """Where does this item belong?"""

    mode: Literal["groups"] = "groups"
    item: Item
    groups: list[Choice]
    why: str
    helping: Helps


class PairQuestion(BaseModel):
    """Are these two alike?"""

    mode: Literal["pairs"] = "pairs"
    a: Item
    b: Item
    similarity: float
    why: str
    helping: Helps


class Done(BaseModel):
    """Nothing is left to ask."""

    done: Literal[True] = True
    why: str


Question = GroupQuestion | PairQuestion | Done


@router.get("/api/questions/next", responses=documented(404))
async def next(
    site: TheSite,
    mode: Mode = "groups",
    skip: Annotated[list[Name] | None, Query(max_length=100)] = None,
) -> Question:
    """What to ask next: an item to put into a group, or a pair near the threshold."""
    teaching = site.teaching()

    def ask() -> Question:
        with site.collection.reading() as served:
            return next_question(teaching, served, mode, skip or [])

    return await run_in(site.reading, ask)


def next_question(teaching: Teaching, served: Served, mode: Mode, skip: list[str] | None = None) -> Question:
    """A question with the pictures that it is about."""
    questions = teaching.questions(served)
    if mode == "groups":
        placing = questions.next_placing(skip=skip or [])
        if placing is None:
            return Done(why="every item was placed, skipped or marked unsure")
        shown = items_of(served, [placing.item, *(name for one in placing.groups for name in one.examples)])
        groups = [
            Choice(
                group=one.group,
                name=one.name,
                examples=[shown[name] for name in one.examples if name in shown],
                similarity=round(one.similarity, 4),
            )
            for one in placing.groups
        ]
        if placing.item in shown:
            helping = helps(questions.helping())
            return GroupQuestion(item=shown[placing.item], groups=groups, why=placing.why, helping=helping)
    else:
        pair = questions.next_pair(skip=skip or [])
        if pair is None:
            return Done(why="no pair is left to ask about")
        shown = items_of(served, [pair.a, pair.b])
        if len(shown) == 2:
            return PairQuestion(
                a=shown[pair.a],
                b=shown[pair.b],
                similarity=round(pair.similarity, 4),
                why=pair.why,
                helping=helps(questions.helping()),
            )
    return Done(why="the collection changed just now: ask again")


def items_of(served: Served, names: list[str]) -> dict[str, Item]:
    """Items by name, of those that are there."""
    held = served.index.get([served.key(name) for name in names])
    return {str(item.id): shown_item(item) for item in held if item is not None}


def helps(helping: Helping) -> Helps:
    """As clients see it."""
    return Helps(text=helping.text, figure=helping.figure, error=helping.error, stop=helping.stop)
