"""Runs a model by its ONNX file: no torch is imported for a few items, and none is needed for many."""

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ..data.images import Positions
from ..data.items import Items
from ..errors import UserError
from ..settings.asked import Network
from ..util.cores import network_threads
from ..util.extras import is_installed, require
from ..util.forks import after_fork
from ..util.progress import Progress, bar
from .described import ONNX, WEIGHTS, Described, unreadable
from .onnx_file import check_onnx
from .replacing import current
from .runner import Outputs

if TYPE_CHECKING:
    from .trained import Networks

OUTPUTS = "outputs"  # of the graph
BATCH = 64
SESSIONS = WeakSet[Any]()  # of this process
FEW = 64  # more items are torch's, if it is installed: it keeps features, and knows graphics cards


class OnnxRunner:
    """The teacher of a model folder, and its look bits, run by onnxruntime.

    Args:
        folder: of the model.
        described: what the folder says of it.
    """

    def __init__(self, folder: Path, described: Described) -> None:
        self.folder, self.described = folder, described
        self.used, self.width, self.fingerprint = described.used, described.width, described.fingerprint
        self._opened = (os.getpid(), self._open())

    @cached_property
    def networks(self) -> "Networks":
        """The networks in torch."""
        require("torch", "saving or exporting a model")
        if not self._has_weights:
            raise UserError(f"this needs {self.folder / WEIGHTS}: copy it from where the model was trained")
        from .weights import read_networks

        return read_networks(self.folder, self.described)

    def run(self, items: Items, network: Network, *, keep: bool, progress: Progress) -> Outputs:
        """(n, bits) real outputs, and the reason by position for unreadable pictures."""
        by_torch = self._has_weights and len(items) > FEW and is_installed("torch")
        if network == "student":  # whom the file does not have
            require("torch", "encoding by the student")
        if by_torch or network == "student":
            return self.networks.run(items, network, keep=keep, progress=progress)
        outputs, broken = np.empty((len(items), self.used.layout.bits), np.float32), dict[int, str]()
        with bar("encoding", len(items), unit="items", progress=progress) as advance:
            for start in range(0, len(items), BATCH):
                positions = np.arange(start, min(start + BATCH, len(items)))
                outputs[positions] = self._outputs(self._inputs(items, positions, broken))
                advance(len(positions))
        return outputs, broken

    @property
    def _has_weights(self) -> bool:
        return current(self.folder, WEIGHTS).is_file()

    def _inputs(self, items: Items, positions: Positions, broken: dict[int, str]) -> NDArray[Any]:
        """Pixels (n, 3, size, size), black where a picture is broken, which is noted; or vectors."""
        if items.images is None:
            return np.asarray(np.asarray(items.content)[positions], np.float32)
        loaded = items.images.load(positions, self.used.code_size)
        broken |= {int(positions[place]): reason for place, reason in loaded.broken.items()}
        return loaded.pixels

    def _outputs(self, inputs: NDArray[Any]) -> NDArray[np.float32]:
        process, session = self._opened
        if process != os.getpid():  # a forked child has none of its threads
            session = self._open()
            self._opened = os.getpid(), session
        (found,) = session.run([OUTPUTS], {session.get_inputs()[0].name: inputs})
        return np.asarray(found, np.float32)

    def _open(self) -> Any:
        """A session of onnxruntime, which takes what this model encodes and returns its bits."""
        path, used = current(self.folder, ONNX), self.used
        try:
            content = path.read_bytes()
        except OSError as error:
            raise unreadable(self.folder, error) from error
        with ThreadPoolExecutor(1) as thread:  # a digest of many megabytes takes as long as the import
            checked = thread.submit(check_onnx, path, content, self.fingerprint)
            import_runtime()
            checked.result()
        session = open_session(path, content)
        taken = [(one.type, one.shape[1:]) for one in session.get_inputs()]
        given = {one.name: one.shape[1:] for one in session.get_outputs()}
        wanted = ("tensor(float)", [self.width])
        if used.takes_pictures:
            wanted = ("tensor(uint8)", [3, used.code_size, used.code_size])
        if taken != [wanted] or given.get(OUTPUTS) != [used.layout.bits]:
            raise UserError(f"{path} does not fit the settings of its model")
        return session


def import_runtime() -> Any:
    """The package onnxruntime, which reports nothing."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # ordinary builds report to their maker, unless told
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # by which builds for Windows are told
    return onnxruntime


def open_session(path: Path, content: bytes) -> Any:
    """A session of onnxruntime with the content of a file."""
    onnxruntime = import_runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = network_threads()
    # A thread that waits for work by trying again and again takes a core from whoever opens the session.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors alone, which are raised as well
    # A graph may name files to read weights from. Without this, it could name any below the working folder.
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(path.parent))
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a class of its own for each reason
        raise UserError(f"onnxruntime cannot run {path}: {error}") from error
    SESSIONS.add(session)
    return session


def never_end_sessions() -> None:
    """In a forked child, to end a session is to wait for threads that stayed with the parent."""
    for session in SESSIONS:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))


after_fork(never_end_sessions)
