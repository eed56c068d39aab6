"""How requests are read: JSON is looked at before it is parsed."""

from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from .errors import Refused
from .limits import check_depth
from .site import Site, site_of

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ShallowRequest(Request):
    """A request whose JSON is looked at before it is parsed."""

    async def json(self) -> Any:
        """The body."""
        check_depth(await self.body(), site_of(self).limits.depth)
        return await super().json()


class Route(APIRoute):
    """A route that is asked by :class:`ShallowRequest`."""

    def get_route_handler(self) -> Handler:
        """The handler."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(ShallowRequest(request.scope, request.receive))

        return handle


class QuickRoute(APIRoute):
    """A route that is asked a thousand times a second: ``async def endpoint(site, asked) -> answer``.

    FastAPI documents it as any other. What it looks up for a request takes longer than a search, so the body
    goes straight from JSON to the model that ``asked`` is declared as, and the answer straight to JSON.
    """

    def get_route_handler(self) -> Handler:
        """The handler."""
        endpoint: Callable[[Site, BaseModel], Coroutine[Any, Any, BaseModel]] = self.endpoint
        body: type[BaseModel] = get_type_hints(self.endpoint)["asked"]

        async def handle(request: Request) -> Response:
            site = site_of(request)
            asked = parsed(body, await json_in(request, site.limits.depth))
            answer = await endpoint(site, asked)
            return Response(answer.model_dump_json(), media_type="application/json")

        return handle


async def json_in(request: Request, depth: int) -> bytes:
    """The body of a request that says it is JSON: a page of another site can send other kinds unasked."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Refused(422, "bad_request", "send JSON, with Content-Type: application/json")
    content = await request.body()
    check_depth(content, depth)
    return content


def parsed(body: type[BaseModel], content: bytes) -> BaseModel:
    """What JSON says."""
    try:
        return body.model_validate_json(content)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from error


def router(tag: str) -> APIRouter:
    """For the routes of one concern."""
    return APIRouter(tags=[tag], route_class=Route)
