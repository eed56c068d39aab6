"""A browser shows the token once, and then a cookie: pictures and streams cannot carry a token."""

from fastapi import Response
from pydantic import Field

from .. import routing
from ..errors import Refused, documented
from ..guard import COOKIE
from ..schemas import Body, Ready
from ..site import TheSite

router = routing.router("session")


class Login(Body):
    """The token."""

    token: str = Field(max_length=1000)


@router.post("/api/session", responses=documented(401))
async def session(site: TheSite, login: Login, response: Response) -> Ready:
    """Exchange the token for a cookie."""
    if site.access.token is not None:
        if not site.access.is_token(login.token):
            raise Refused(401, "unauthorized", "that is not the token", challenge=True)
        response.set_cookie(COOKIE, site.access.cookie, httponly=True, samesite="strict")
    return Ready(status="ok")
