"""Figures for Prometheus. Each server has a register of its own, so that several can run in one process."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """What is counted."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "pts3h_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "pts3h_request_seconds",
            "Time to answer a request.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.encoding = Histogram(
            "pts3h_encoding_seconds",
            "Time to decode and encode an upload.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.waiting = Gauge(
            "pts3h_uploads_waiting", "Uploads that wait for the network.", registry=self.registry
        )
        self.items = Gauge("pts3h_items", "Items that are searched.", registry=self.registry)
        self.generation = Gauge("pts3h_generation", "The model that is in use.", registry=self.registry)
        self.training = Gauge("pts3h_training", "Whether a job trains.", registry=self.registry)

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered. Only names that we gave become labels."""
        method = method if method in METHODS else "other"
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry)
