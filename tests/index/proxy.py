"""A TCP proxy that stands in for a bad network: it stalls, hangs up, drops callers, or speaks TLS."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable


class Proxy:
    """Passes bytes between ``address`` and a server until told otherwise.

    Attributes:
        drop: how many of the next connections to close at once.
        dropped: how many were.
    """

    def __init__(self, server: str, *, drop: int = 0, tls: ssl.SSLContext | None = None) -> None:
        host, _, port = server.rpartition(":")
        self._target, self._tls = (host, int(port)), tls
        self._flowing = threading.Event()
        self._flowing.set()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.drop, self.dropped = drop, 0
        self._start(self._accept)

    def stall(self) -> None:
        """Keep connections open, but pass nothing on."""
        self._flowing.clear()

    def flow(self) -> None:
        """Pass on what has waited, and go on."""
        self._flowing.set()

    def hang_up(self) -> None:
        """End all connections; new ones are welcome."""
        for one in self._sockets:
            _shut(one)

    def close(self) -> None:
        _shut(self._listener)
        self._threads[0].join()  # from here on no new connections
        self.flow()
        self.hang_up()
        for thread in self._threads:
            thread.join()
        for one in [self._listener, *self._sockets]:
            one.close()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            if self.drop:
                self.drop, self.dropped = self.drop - 1, self.dropped + 1
                caller.close()
                continue
            with contextlib.suppress(OSError):  # a caller that does not trust us hangs up
                if self._tls:
                    caller = self._tls.wrap_socket(caller, server_side=True)
                server = socket.create_connection(self._target)
                self._sockets += [caller, server]
                self._start(self._pump, caller, server)
                self._start(self._pump, server, caller)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        self._threads.append(threading.Thread(target=work, args=arguments, daemon=True))
        self._threads[-1].start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                sink.sendall(data)
        _shut(source)
        _shut(sink)


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
