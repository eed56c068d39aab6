"""How requests are read: JSON is looked at before it is parsed."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from .limits import check_depth
from .site import site_of


class ShallowRequest(Request):
    """A request whose JSON is looked at before it is parsed."""

    async def json(self) -> Any:
        """The body."""
        check_depth(await self.body(), site_of(self).limits.depth)
        return await super().json()


class Route(APIRoute):
    """A route that is asked by :class:`ShallowRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(ShallowRequest(request.scope, request.receive))

        return handle


def router(tag: str) -> APIRouter:
    """For the routes of one concern."""
    return APIRouter(tags=[tag], route_class=Route)
