"""What a client is told when something is wrong: one line, a code, never a path or a traceback."""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import UserError

log = logging.getLogger("pts3h.web")

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "not_allowed",
    409: "busy",
    413: "too_large",
    415: "unsupported",
    421: "wrong_host",
    422: "bad_request",
    429: "too_many",
    500: "internal",
    503: "unavailable",
}


class Problem(BaseModel):
    """What is wrong."""

    error: str = Field(description="One line that says what is wrong.")
    code: str = Field(description="The kind of problem, for programs.")


class Refused(HTTPException):
    """A request that is not carried out."""

    def __init__(
        self, status: int, code: str, message: str, *, retry_after: int | None = None, challenge: bool = False
    ) -> None:
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        if challenge:
            headers["WWW-Authenticate"] = "Bearer"
        super().__init__(status, message, headers)
        self.code = code

    def answer(self) -> JSONResponse:
        """What the client gets."""
        return problem(self.status_code, self.detail, self.code, self.headers)


def not_found(what: str) -> Refused:
    """There is no such thing."""
    return Refused(404, "not_found", f"there is no {what}")


def problem(
    status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An answer that says what is wrong."""
    return JSONResponse({"error": message, "code": code or CODES[status]}, status, headers)


@contextmanager
def refusing(status: int = 422, code: str = "bad_request") -> Iterator[None]:
    """Tell the client what the library says of the client's own words, or of what is missing here.

    Only for checks of what came in, and the like: other errors of the library may name files of this machine.
    """
    try:
        yield
    except UserError as error:
        raise Refused(status, code, str(error)) from error


# up to what ends a path in a message: it may hold spaces
_PATHS = re.compile(r"(?<![\w.])(?:file:)?(?:~?/|[A-Za-z]:\\|\\\\)[^'\":;,()\n]+")


def without_paths(text: str) -> str:
    """A message of the library with the places of this machine left out."""
    return _PATHS.sub("...", text)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These problems, for the OpenAPI document."""
    return {status: {"model": Problem, "description": HTTPStatus(status).phrase} for status in statuses}


class Caught:
    """Answers with 500 where an error is left over; the log has the traceback, the client has not.

    Args:
        app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            log.exception("an error in pts3h", extra={"request": scope.get("request_id")})
            if started or scope["type"] != "http":
                raise
            await problem(500, "an error in pts3h; the server's log has more")(scope, receive, send)


def add_handlers(app: FastAPI) -> None:
    """Every error becomes a :class:`Problem`."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return error.answer()

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> JSONResponse:
        status = error.status_code
        headers = {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"}
        return problem(status, HTTPStatus(status).phrase.lower(), CODES.get(status, "bad_request"), headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
        return problem(422, f"{place[:200]}: {first['msg'][:300]}")

    @app.exception_handler(UserError)
    async def unavailable(request: Request, error: UserError) -> JSONResponse:
        log.error("the library refused: %s", error, extra={"request": request.scope.get("request_id")})
        return problem(503, "this cannot be answered now; the server's log says why")
