"""What people answered: list, add, undo, export, import."""

import csv
import io
from typing import Annotated, Literal

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field

from ...errors import UserError
from ...teaching.answer import Answer, Counts
from ...teaching.exchange import read_rows
from .. import routing
from ..asked import bad
from ..collection import Served
from ..errors import Refused, documented, not_found, refusing
from ..schemas import Body, Name
from ..site import TheSite
from ..teaching import Teaching
from ..work import run_in
from .questions import Mode, Question, next_question

router = routing.router("answers")
Who = Annotated[str, Field(max_length=100, description="Who says so.")]
TEXT = {"schema": {"type": "string"}}


class Answered(BaseModel):
    """One answer. What it does not say is null."""

    number: int
    at: str
    who: str
    model: str
    kind: Literal["pair", "place", "name", "merge", "split"]
    a: str | None
    b: str | None
    similar: bool | None
    item: str | None
    group: int | None
    new: bool
    name: str | None
    into: int | None
    items: list[str]
    undone: bool


class Given(BaseModel):
    """An answer that is stored for good."""

    answer: Answered
    counts: Counts
    next: Question | None = Field(None, description="The next question, where one was asked for.")


class AnswerPage(BaseModel):
    """Answers, the newest first."""

    offset: int
    answers: list[Answered]
    counts: Counts


class Undone(BaseModel):
    """What was taken back; null where nothing was left to take back."""

    answer: Answered | None
    counts: Counts


class Imported(BaseModel):
    """What a list of pairs brought."""

    added: int
    counts: Counts


class PairAnswer(Body):
    """Two items are alike, or not, or nobody can tell (null)."""

    kind: Literal["pair"]
    a: Name
    b: Name
    similar: bool | None
    who: Who = ""


class PlaceAnswer(Body):
    """An item belongs to a group, or begins a new one, or nobody can tell (no group, and not new)."""

    kind: Literal["place"]
    item: Name
    group: int | None = Field(None, ge=1, le=2**31)
    new: bool = False
    who: Who = ""


class Undo(Body):
    """Which answer to take back; by default the last one that stands."""

    number: Annotated[int | None, Field(ge=1, le=2**53)] = None
    who: Who = ""


def shown(answer: Answer) -> Answered:
    """An answer as clients see it."""
    return Answered.model_validate(answer.to_json())


@router.get("/api/answers", responses=documented(404))
async def answers(
    site: TheSite,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> AnswerPage:
    """Answers, the newest first, those that were taken back too."""
    said = site.teaching().answers

    def page() -> AnswerPage:
        found = [shown(answer) for answer in said.list(offset, limit)]
        return AnswerPage(offset=offset, answers=found, counts=said.counts())

    return await run_in(site.reading, page)


@router.post("/api/answers", status_code=201, responses=documented(404))
async def answer(
    site: TheSite,
    given: Annotated[PairAnswer | PlaceAnswer, Field(discriminator="kind")],
    next: Annotated[Mode | None, Query(description="Also answer with the next question.")] = None,
) -> Given:
    """Store an answer. Once this returns, it is on disk."""
    teaching = site.teaching()

    def store() -> Given:
        with site.collection.reading() as served:
            said = stored(teaching, served, given)
            return Given(
                answer=shown(said),
                counts=teaching.answers.counts(),
                next=None if next is None else next_question(teaching, served, next),
            )

    return await run_in(site.reading, store)


def stored(teaching: Teaching, served: Served, given: PairAnswer | PlaceAnswer) -> Answer:
    """An answer about items that are there."""
    model = served.model.fingerprint
    if given.kind == "pair":
        if given.a == given.b:
            raise bad("a and b are the same item: name two")
        served.items([given.a, given.b])
        return teaching.answers.pair(given.a, given.b, given.similar, who=given.who, model=model)
    if given.new and given.group is not None:
        raise bad("an item begins a new group or joins one: leave out new, or group")
    served.items([given.item])
    if given.group is not None:
        teaching.check_group(given.group)
    return teaching.answers.place(given.item, given.group, new=given.new, who=given.who, model=model)


@router.post("/api/answers/undo", responses=documented(404))
async def undo(site: TheSite, wanted: Undo | None = None) -> Undone:
    """Take an answer back."""
    said, asked = site.teaching().answers, wanted or Undo()

    def take_back() -> Undone:
        try:
            gone = said.undo(asked.number, who=asked.who)
        except UserError as error:
            if "there is no answer" in str(error) or "was undone before" in str(error):
                raise not_found("answer of that number that stands") from error
            raise
        return Undone(answer=None if gone is None else shown(gone), counts=said.counts())

    return await run_in(site.reading, take_back)


@router.get(
    "/api/answers.csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": TEXT}}, **documented(404)},
)
async def export(
    site: TheSite,
    implied: Annotated[bool, Query(description="Also every pair that follows from groups.")] = False,
) -> Response:
    """Pairs as a CSV of a, b, similar, which `pts3h fit --pairs` reads."""
    said = site.teaching().answers

    def text() -> str:
        out = io.StringIO(newline="")
        with refusing():
            said.export(out, implied=implied)
        return out.getvalue()

    headers = {"Content-Disposition": 'attachment; filename="pairs.csv"'}
    return Response(await run_in(site.reading, text), media_type="text/csv", headers=headers)


@router.post(
    "/api/answers/import",
    openapi_extra={"requestBody": {"required": True, "content": {"text/csv": TEXT}}},
    responses=documented(404, 413, 415),
)
async def import_pairs(site: TheSite, request: Request) -> Imported:
    """Pairs from a CSV of a, b, similar: all of them, or none if a row is wrong."""
    teaching = site.teaching()
    if not request.headers.get("content-type", "").lower().startswith("text/csv"):
        raise Refused(415, "unsupported", "send a CSV of a,b,similar, with Content-Type: text/csv")
    content = await request.body()

    def store() -> Imported:
        with site.collection.reading() as served:
            rows = rows_of(content)
            known = {str(one) for one in site.catalogue.ids(served)}
            with refusing():
                read_rows(rows, known)
            added = teaching.answers.import_pairs(rows, model=served.model.fingerprint)
        return Imported(added=added, counts=teaching.answers.counts())

    return await run_in(site.reading, store)


def rows_of(content: bytes) -> list[list[str]]:
    """The rows of a CSV."""
    try:
        return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise bad("this is no CSV in UTF-8") from error
