"""Run the server until it is stopped."""

import gc
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from ..errors import UserError
from .app import make_app
from .site import Site

SECONDS_TO_STOP = 3


class Server(uvicorn.Server):
    """A server that ends its streams when it is told to stop, and that says when it can be asked."""

    def __init__(self, config: uvicorn.Config, site: Site, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.site, self.ready = site, ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C or SIGTERM; a second Ctrl-C does not wait for anyone."""
        self.site.stopping.set()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does, but to be stopped is how a server ends: no signal is raised again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            self.ready()


def bind(host: str, port: int) -> socket.socket:
    """The place where the server listens; any free port for 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named, so that asyncio knows it for TCP and sends small answers at once: else each would wait 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UserError(f"cannot listen on {host} port {port}: choose another --port ({error})") from error
    return listener


def serve(site: Site, listener: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
    """Answer until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(
        make_app(site),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=SECONDS_TO_STOP,
        limit_concurrency=1_000,
        proxy_headers=False,
    )
    server = Server(config, site, ready)
    # What is loaded by now stays to the end. A full collection would look through all of it, and nobody would
    # be answered for a quarter of a second.
    gc.collect()
    gc.freeze()
    server.run(sockets=[listener])
