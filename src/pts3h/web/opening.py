"""From what the command line says to a server that runs."""

import logging
import os
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..index.contract import check_model
from ..index.engines import open_index
from ..indexing import check_same_bits, recall_model
from ..model.folder import load_model
from ..util.addresses import has_password, shown_address
from ..util.extras import require
from .collection import Collection, Served
from .guard import Access, Protect
from .jobs import Jobs
from .limits import Limits
from .logs import log_to
from .refreshing import Refreshing
from .serving import bind, serve
from .site import Site
from .teaching import Teaching
from .thumbnails import Thumbnails
from .workspace import Place, Pointer, Workspace, workspace_beside

TOKEN = "PTS3H_TOKEN"  # of the environment
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Wanted:
    """What to serve, and how."""

    address: str
    model: Path | None = None
    workspace: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8080
    token_file: Path | None = None
    protect: Protect = "writes"
    read_only: bool = False
    hosts: Sequence[str] = ()
    k: int = 1_000
    uploads_per_minute: int = 120
    browser: bool = False
    name: str = ""
    quiet: bool = False


def open_folder(
    photos: Path,
    asked: Path | None,
    *,
    port: int,
    browser: bool,
    bits: int,
    look_bits: int,
    say: Callable[[str], None],
) -> None:
    """Serve a folder of pictures; the first time, a model and an index are made."""
    workspace = workspace_beside(photos, asked, say)
    pointer = workspace.pointer()
    source = None if pointer is None else str(photos)  # the first time, all of it is indexed
    if pointer is None:
        require("torch", "learning codes")
    say(f"opening {photos}")
    if pointer is None:
        from .first import prepare  # brings the training

        prepare(photos, workspace, bits, look_bits, say)
    wanted = Wanted(
        address="", workspace=workspace.folder, port=port, browser=browser, name=photos.name, quiet=True
    )
    run(wanted, say, source)


def run(wanted: Wanted, say: Callable[[str], None], source: str | None = None) -> None:
    """Serve until it is stopped, and meanwhile take in what is new in ``source``."""
    access, workspace = access_of(wanted), workspace_of(wanted)
    listener = bind(wanted.host, wanted.port)
    place = place_of(wanted, workspace)
    name = wanted.name or Path(shown_address(wanted.address).removesuffix("?...")).stem
    collection = Collection(open_place(place), name)
    taught = None if workspace is None else Teaching(workspace.answers)
    jobs = None if workspace is None or taught is None else Jobs(workspace, collection, taught, open_place)
    site = Site(
        collection,
        access,
        Limits(k=wanted.k, uploads_per_minute=wanted.uploads_per_minute),
        Thumbnails(None if workspace is None else workspace.thumbnails),
        taught,
        jobs,
    )
    log_to(level=logging.WARNING if wanted.quiet else logging.INFO)
    if source is None and place.generation:
        source = wanted.address or None
    refreshing = Refreshing(source, place, say) if source and not wanted.read_only else None
    try:
        serve(site, listener, lambda: announce(collection.name, listener, wanted.browser, say))
    finally:
        if refreshing is not None:
            refreshing.stop()


def announce(name: str, listener: socket.socket, browser: bool, say: Callable[[str], None]) -> None:
    """Say where the page is, and open it."""
    host, port = listener.getsockname()[:2]
    everywhere = host in ("0.0.0.0", "::")  # nosec: it is compared, not listened on
    url = f"http://{'localhost' if everywhere else f'[{host}]' if ':' in host else host}:{port}/"
    say(f"serving {name} at {url}; Ctrl-C stops it")
    if browser:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def access_of(wanted: Wanted) -> Access:
    """Who may do what."""
    token = read_token(wanted.token_file)
    hosts = frozenset(name.lower() for name in wanted.hosts)
    if wanted.host not in ("0.0.0.0", "::"):  # nosec: it is compared, not listened on
        hosts |= {f"[{wanted.host}]" if ":" in wanted.host else wanted.host.lower()}
    return Access(hosts, token, wanted.protect, wanted.read_only)


def read_token(path: Path | None) -> str | None:
    """The token from a file or the environment; None without either."""
    if path is None:
        token = os.environ.get(TOKEN)
        source = TOKEN
    else:
        source = str(path)
        try:
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read the token in {path}: {type(error).__name__}") from error
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise UserError(f"the token in {source} needs {SHORTEST_TOKEN} or more plain characters")
    return token


def workspace_of(wanted: Wanted) -> Workspace | None:
    """The workspace that was named, or the one beside a local index."""
    if wanted.workspace is not None:
        if has_password(wanted.address):
            raise UserError(
                "a workspace keeps the address of its index in a file, so leave the password out of the "
                "address: set PGPASSWORD, or use libpq's password file"
            )
        return Workspace(wanted.workspace)
    if "://" in wanted.address:
        return None
    index = Path(wanted.address).absolute()
    return Workspace(index.with_name(f"{index.name}.pts3h"))


def place_of(wanted: Wanted, workspace: Workspace | None) -> Place:
    """What to serve: what the workspace says, or what was given."""
    pointer = None if workspace is None else workspace.pointer()
    if pointer is not None and (pointer.current.generation or wanted.model is None):
        return pointer.current
    with open_index(wanted.address, read_only=True) as index:
        folder = wanted.model or recall_model(index.model, wanted.address)
    address = wanted.address if "://" in wanted.address else str(Path(wanted.address).absolute())
    place = Place(0, address, folder.absolute())
    if workspace is not None:
        workspace.point(Pointer(place))
    return place


def open_place(place: Place) -> Served:
    """An index and its model, ready to be asked."""
    model = load_model(place.model)
    index = open_index(place.index, read_only=True)
    check_model(index.model, model.fingerprint, place.index)
    check_same_bits(model, index)
    return Served(place.generation, index, model, place.model)
