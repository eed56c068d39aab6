"""For those who watch the server: is it there, can it answer, how is it doing."""

from fastapi import Response

from .. import routing
from ..errors import Refused, documented
from ..schemas import Ready
from ..site import TheSite
from ..work import run_in

router = routing.router("health")
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/healthz")
async def healthz() -> Ready:
    """The process is alive."""
    return Ready(status="ok")


@router.get("/readyz", responses=documented(503))
async def readyz(site: TheSite) -> Ready:
    """Searches can be answered."""
    if site.stopping.is_set():
        raise Refused(503, "unavailable", "the server is about to stop")
    return Ready(status="ok")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(site: TheSite) -> Response:
    """Figures for Prometheus."""
    served = site.collection.current
    site.metrics.generation.set(served.generation)
    site.metrics.items.set(served.index.count)
    busy = None if site.training is None else await run_in(site.reading, site.training.running)
    site.metrics.training.set(busy is not None)
    return Response(site.metrics.text(), media_type=PROMETHEUS)
