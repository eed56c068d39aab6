"""Logs as JSON, a line per request, each with the id that its answer carries."""

import json
import logging
import sys
import time
from typing import Any, TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .metrics import Metrics

log = logging.getLogger("pts3h.web")
ENCODE = json.JSONEncoder(default=str).encode  # made once: a line is written for every request
FACTS = ("request", "method", "path", "status", "ms", "bytes", "client", "job")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The facts of a record."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        facts: dict[str, Any] = {
            "at": f"{at}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        facts |= {name: value for name in FACTS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            facts["trace"] = self.formatException(record.exc_info)
        return ENCODE(facts)


def log_to(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Send what the server and uvicorn say to ``stream``."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    for name in ("pts3h.web", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [] if name == "uvicorn.error" else [handler]
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(max(level, logging.WARNING) if name.startswith("uvicorn") else level)


class Observed:
    """Gives each request an id, logs it and counts it. Names of items and tokens are in no log.

    Args:
        app: what answers.
        metrics: where it is counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics
        self._number = 0
        self._start = f"{time.time_ns() // 1_000_000:x}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and note how it went."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self._number += 1
        request_id = scope["request_id"] = f"{self._start}-{self._number}"
        status, size, begun = 500, 0, time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            seconds = time.perf_counter() - begun
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.note(scope["method"], route, status, seconds)
            if log.isEnabledFor(logging.INFO):
                client = scope.get("client")
                facts = {
                    "request": request_id,
                    "method": scope["method"],
                    "path": scope["path"][:200],
                    "status": status,
                    "ms": round(1000 * seconds, 2),
                    "bytes": size,
                    "client": client[0] if client else None,
                }
                log.info("answered", extra=facts)
