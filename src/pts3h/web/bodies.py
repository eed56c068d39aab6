"""How large the body of a request may be: a picture more than a question."""

from starlette.datastructures import Headers
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from .errors import Refused
from .limits import Limits

PICTURE, PAIRS = "/api/search/picture", "/api/answers/import"


class BodyLimits:
    """Starlette's own limit, one for each kind of body.

    A body that says how long it is, is refused before it is read; one that does not, as soon as it is longer.

    Args:
        app: what answers.
        limits: the bounds.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.sizes = {PICTURE: limits.upload_bytes, PAIRS: limits.csv_bytes}
        self.usual = limits.json_bytes
        sizes = {self.usual, *self.sizes.values()}
        self.limited = {size: RequestBodyLimitMiddleware(app, max_body_size=size) for size in sizes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request within its limit."""
        size = self.sizes.get(scope.get("path", ""), self.usual)
        if scope["type"] == "http":
            length = Headers(scope=scope).get("content-length", "0")
            if not length.isdigit() or int(length[:20]) > size:
                refused = Refused(413, "too_large", f"a body has at most {size:,} bytes here")
                await refused.answer()(scope, receive, send)
                return
        await self.limited[size](scope, receive, send)
