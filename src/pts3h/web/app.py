"""The server: routes and what stands before them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from .. import __version__
from .bodies import BodyLimits
from .errors import Caught, add_handlers, documented
from .guard import Guard
from .logs import Observed
from .routes import answers, duplicates, groups, health, items, jobs, questions, search, session
from .site import Site

STATIC = Path(__file__).parent / "static"
DESCRIPTION = "Search a collection by codes, teach it what is alike, retrain and compare."
# what any route may answer
ALWAYS = documented(400, 401, 403, 413, 421, 422, 500, 503)


def make_app(site: Site) -> FastAPI:
    """A server for a site, which is closed when the server ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        site.stopping.set()
        site.close()

    app = FastAPI(
        title="pts3h",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # it would load its scripts from elsewhere
        redoc_url=None,
        responses=ALWAYS,
    )
    app.state.site = site
    add_handlers(app)
    # in the order in which they are looked through: what is asked most comes first
    for part in (search, items, health, session, duplicates, answers, groups, questions, jobs):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    app.add_middleware(BodyLimits, limits=site.limits)
    app.add_middleware(Caught)
    app.add_middleware(Guard, access=site.access)
    app.add_middleware(Observed, metrics=site.metrics)
    return app
