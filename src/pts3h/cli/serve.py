"""pts3h serve: the search page of an index."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import UserError
from .arguments import IndexAddress
from .output import say
from .search import refuse_missing

EXAMPLE = "pts3h serve photos.index --model model/"
EXTRA = "the search page needs an extra: pip install 'pts3h[web]'"

Host = Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")]
TokenFile = Annotated[
    Path | None, typer.Option(help="File with a token that clients must show; or PTS3H_TOKEN.")
]
Protects = Annotated[Literal["writes", "all"], typer.Option("--protect", help="What the token is asked for.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(help="A name under which browsers may ask, besides those of this machine; repeatable."),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Nothing can be taught or changed.")]


def serve(
    address: IndexAddress,
    model: Annotated[
        Path | None, typer.Option(help="Model folder; by default the one that made the index.")
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(help="Folder for answers and retrained models; by default beside a local index."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    token_file: TokenFile = None,
    protect: Protects = "writes",
    read_only: ReadOnly = False,
    allow_host: AllowHost = None,
    k_limit: Annotated[int, typer.Option(min=1, help="Most hits of one search.")] = 1_000,
    uploads_per_minute: Annotated[int, typer.Option(min=1, help="Most pictures that may be uploaded.")] = 120,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve the search page of an index."""
    refuse_missing(address)
    require_web()
    from ..web.opening import Wanted, run

    run(
        Wanted(
            address=address,
            model=model,
            workspace=workspace,
            host=host,
            port=port,
            token_file=token_file,
            protect=protect,
            read_only=read_only,
            hosts=allow_host or [],
            k=k_limit,
            uploads_per_minute=uploads_per_minute,
            browser=open_browser,
        ),
        say,
    )


def require_web() -> None:
    """Say what is missing before anything is done."""
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UserError(EXTRA) from error
