"""All that a request may need, made once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Annotated

from fastapi import Depends, Request

from ..util.cores import usable_cores
from .catalogue import Catalogue
from .collection import Collection
from .duplicates import Duplicates
from .encoding import Encoder
from .errors import not_found
from .guard import Access
from .jobs import Jobs
from .limits import Limits, Rate
from .metrics import Metrics
from .teaching import Teaching
from .thumbnails import Thumbnails


@dataclass
class Site:
    """What is served, and how.

    Attributes:
        collection: what is searched.
        access: who may do what.
        limits: bounds of a request.
        thumbnails: small pictures.
        taught: what people answered; None where there is no workspace.
        training: jobs; None where nothing can be trained.
        stopping: set when the server is about to end; streams that would never end look at it.
    """

    collection: Collection
    access: Access
    limits: Limits
    thumbnails: Thumbnails
    taught: Teaching | None = None
    training: Jobs | None = None
    stopping: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.metrics = Metrics()
        self.encoder = Encoder(self.limits, self.metrics)
        self.uploads = Rate(self.limits.uploads_per_minute)
        self.catalogue, self.duplicates = Catalogue(), Duplicates()
        cores = usable_cores()
        self.searching = ThreadPoolExecutor(4 * cores, thread_name_prefix="search")
        self.reading = ThreadPoolExecutor(2 * cores, thread_name_prefix="read")  # pictures, lists, answers
        self.comparing = ThreadPoolExecutor(2, thread_name_prefix="compare")  # duplicates, which take long
        self.acting = ThreadPoolExecutor(1, thread_name_prefix="act")  # jobs: one change at a time
        self.streams = 0  # of events; changed by the event loop alone

    def teaching(self) -> Teaching:
        """What people answered, where anything can be taught."""
        if self.taught is None:
            raise not_found("workspace, so nothing can be taught here")
        return self.taught

    def jobs(self) -> Jobs:
        """Training jobs, where anything can be trained."""
        if self.training is None:
            raise not_found("workspace, so nothing can be trained here")
        return self.training

    def close(self) -> None:
        """End all threads and the job, and close the index."""
        self.encoder.close()
        if self.training is not None:
            self.training.stop()
        for pool in (self.searching, self.reading, self.comparing, self.acting):
            pool.shutdown(wait=True, cancel_futures=True)
        if self.taught is not None:
            self.taught.close()
        self.collection.close()


def site_of(request: Request) -> Site:
    """The site that a request is for."""
    site: Site = request.app.state.site
    return site


async def _site(request: Request) -> Site:
    return site_of(request)


TheSite = Annotated[Site, Depends(_site)]
