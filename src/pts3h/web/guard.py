"""Who may ask: host names, other sites, tokens. It stands before everything else, body and all."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Literal
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import Refused

Protect = Literal["writes", "all"]

LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
COOKIE = "pts3h"
OPEN = ("/healthz", "/readyz", "/api/session")  # a token is never asked for here
# what is asked by POST because it is long, and changes nothing
READS = ("/api/search", "/api/search/picture", "/api/explain", "/api/session")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """Who may do what.

    Attributes:
        hosts: names under which the server may be asked, besides those of this machine. A page of another
            site can make its own name lead here, but not change the name that the browser sends.
        token: what must be shown; None where nobody has to.
        protect: what it is asked for.
        read_only: nothing can be changed by anyone.
    """

    hosts: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)
    protect: Protect = "writes"
    read_only: bool = False

    @property
    def writes(self) -> Literal["open", "token", "closed"]:
        """Who may change something."""
        if self.read_only:
            return "closed"
        return "open" if self.token is None else "token"

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Refuse what may not be asked."""
        host = headers.get("host", "").lower()
        if host_name(host) not in LOCAL | self.hosts:
            raise Refused(421, "wrong_host", "this server is not known under that name")
        changes = method not in ("GET", "HEAD", "OPTIONS") and path not in READS
        if method not in ("GET", "HEAD") and is_foreign(headers, host):
            raise Refused(403, "forbidden", "other sites may not ask this server")
        if changes and self.read_only:
            raise Refused(403, "read_only", "this server was started read-only")
        page = not path.startswith(("/api/", "/metrics", "/docs", "/openapi.json"))
        asked = path not in OPEN and (changes or (self.protect == "all" and not page))
        if self.token is not None and asked and not self.is_shown(headers):
            raise Refused(401, "unauthorized", "a token is needed", challenge=True)

    def is_shown(self, headers: Headers) -> bool:
        """Whether a request shows the token, or the cookie that was given for it."""
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.is_token(shown.strip())
        return self.token is not None and same(cookie_in(headers), self.cookie)

    def is_token(self, shown: str) -> bool:
        """Whether this is the token; takes as long for any other."""
        return self.token is not None and same(shown, self.token)

    @property
    def cookie(self) -> str:
        """What a browser keeps instead of the token. It is of no use to a server that is started anew."""
        return hmac.new(_SECRET, (self.token or "").encode(), hashlib.sha256).hexdigest()


_SECRET = secrets.token_bytes(32)


class Guard:
    """Checks each request before it is read, and sets the headers that tell browsers to be careful.

    Args:
        app: what answers.
        access: who may do what.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def careful(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self.access.check(scope["method"], scope["path"], Headers(scope=scope))
        except Refused as error:
            await error.answer()(scope, receive, careful)
            return
        await self.app(scope, receive, careful)


def host_name(host: str) -> str:
    """A Host header without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def is_foreign(headers: Headers, host: str) -> bool:
    """Whether a page of another site sent this. Programs that are no browsers send neither header."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit_host(origin) != host


def urlsplit_host(origin: str) -> str:
    """Host and port of an address; empty where it is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def cookie_in(headers: Headers) -> str:
    """Our cookie of a request."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())
