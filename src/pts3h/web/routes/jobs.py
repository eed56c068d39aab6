"""Training: start, watch, cancel, compare, use."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Header, Path, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from .. import routing
from ..errors import Refused, documented
from ..finding import shown_hits
from ..jobs import LAST, Jobs, told
from ..schemas import Body, Figures, Hit, Job
from ..site import Site, TheSite
from ..work import run_in

router = routing.router("training")
Number = Annotated[int, Path(ge=1, le=2**31, description="Number of a job.")]
LOOK_SECONDS = 0.25  # between two looks at a journal
PING_SECONDS = 15.0
MOST_STREAMS = 32
EVENT = {name: {"type": "string"} for name in ("id", "event", "data")}  # the data is a job, as JSON
EVENTS = {"content": {"text/event-stream": {"schema": {"type": "object", "properties": EVENT}}}}


class Training(Body):
    """How to train."""

    transitive: bool = True


class Compared(BaseModel):
    """What a chance query finds with the model in use and with the new one."""

    id: str
    before: list[Hit]
    after: list[Hit]


class Comparison(BaseModel):
    """Before and after."""

    figures: Figures | None
    queries: list[Compared]


class InUse(BaseModel):
    """What is served now."""

    generation: int


@router.post("/api/jobs", status_code=202, responses=documented(404, 409))
async def start(site: TheSite, training: Training | None = None) -> Job:
    """Train on the answers, in a process of its own. One job at a time."""
    jobs = site.jobs()
    return await run_in(site.acting, jobs.start, transitive=(training or Training()).transitive)


@router.get("/api/jobs/{number}", responses=documented(404))
async def job(site: TheSite, number: Number) -> Job:
    """How far a job is."""
    return await run_in(site.reading, site.jobs().get, number)


@router.delete("/api/jobs/{number}", responses=documented(404, 409))
async def cancel(site: TheSite, number: Number) -> Job:
    """Cancel a job; the model in use stays as it is."""
    return await run_in(site.acting, site.jobs().cancel, number)


@router.get("/api/jobs/{number}/compare", responses=documented(404))
async def compare(site: TheSite, number: Number) -> Comparison:
    """What eight chance queries find before and after, and figures on answers that were kept back."""
    return await run_in(site.reading, comparison, site, number)


def comparison(site: Site, number: int) -> Comparison:
    """With all there is to say of the hits."""
    result = site.jobs().result(number)
    with site.collection.reading() as served:

        def hits(found: list[dict[str, int]]) -> list[Hit]:
            return shown_hits(served.index, [(served.key(str(hit["id"])), hit["distance"]) for hit in found])

        queries = [
            Compared(id=one["id"], before=hits(one["before"]), after=hits(one["after"]))
            for one in result["queries"]
        ]
    return Comparison(figures=result["figures"], queries=queries)


@router.post("/api/jobs/{number}/use", status_code=202, responses=documented(404, 409))
async def use(site: TheSite, number: Number) -> Job:
    """Put what a job made into use: in the background, and then in one step."""
    return await run_in(site.acting, site.jobs().use, number)


@router.post("/api/jobs/{number}/keep-old", responses=documented(404, 409))
async def keep_old(site: TheSite, number: Number) -> Job:
    """Go on with the model in use, and drop the new one."""
    return await run_in(site.acting, site.jobs().keep_old, number)


@router.post("/api/generations/back", responses=documented(404, 409))
async def back(site: TheSite) -> InUse:
    """Use the generation before again."""
    return InUse(generation=await run_in(site.acting, site.jobs().back))


@router.get(
    "/api/jobs/{number}/events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "Server-sent events: progress and state, each a job.", **EVENTS},
        204: {"description": "The job is over, and all of it was told."},
        **documented(404, 503),
    },
)
async def events(
    site: TheSite,
    number: Number,
    last_event_id: Annotated[str | None, Header(pattern="^[0-9]{1,9}$")] = None,
) -> Response:
    """Progress as it happens. Who was cut off goes on after the last event that they have."""
    jobs, after = site.jobs(), int(last_event_id or 0)
    job = await run_in(site.reading, jobs.get, number)
    if job.state in LAST and not jobs.journal(number).read(after):
        return Response(status_code=204)
    if site.streams >= MOST_STREAMS:
        raise Refused(503, "busy", "too many watch already", retry_after=5)
    return StreamingResponse(stream(site, jobs, number, after), media_type="text/event-stream")


async def stream(site: Site, jobs: Jobs, number: int, after: int) -> AsyncIterator[str]:
    """The events after one, until the job is over or the server ends."""
    site.streams += 1
    try:
        lines = jobs.journal(number).read()
        job, quiet = told(number, [line for line in lines if line.number <= after]), 0.0
        yield "retry: 1000\n\n"
        while not site.stopping.is_set():
            lines = await run_in(site.reading, jobs.journal(number).read, after)
            for line in lines:
                job, after = told(number, [line], job), line.number
                data = json.dumps(job.model_dump())
                yield f"id: {after}\nevent: {line.kind}\ndata: {data}\n\n"
            if job.state in LAST and not lines:
                return
            quiet = 0.0 if lines else quiet + LOOK_SECONDS
            if quiet >= PING_SECONDS:
                quiet = 0.0
                yield ": still here\n\n"
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        site.streams -= 1
