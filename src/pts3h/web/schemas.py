"""What goes in and out, for the OpenAPI document and for checking it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..codes import By
from ..index.contract import Item as Held
from ..indexing import picture_of, visible

Name = Annotated[str, Field(min_length=1, max_length=4096, description="Id of an item.")]
Hex = Annotated[str, Field(pattern="^(?:[0-9a-fA-F]{2})+$", max_length=1024, description="A packed code.")]
Meta = dict[str, Any]
Where = Annotated[
    dict[str, Any],
    Field(description='Which items count, by metadata, such as {"price": {"<": 100}}.', min_length=1),
]


class Body(BaseModel):
    """A body that holds nothing but what is known."""

    model_config = ConfigDict(extra="forbid")


class Item(BaseModel):
    """An item of the collection."""

    id: str
    meta: Meta
    picture: bool = Field(description="Whether there is a picture to show.")


def shown_item(item: Held) -> Item:
    """An item as clients see it."""
    return Item(id=str(item.id), meta=visible(item.meta), picture=picture_of(item.meta) is not None)


class Items(BaseModel):
    """A page of items, in the order of their ids."""

    total: int
    offset: int
    items: list[Item]


class ItemDetails(Item):
    """All there is to say of an item."""

    code: str
    width: int | None
    height: int | None
    bytes: int | None
    path_shown: str | None = Field(description="The file's name; never where it lies on the machine.")
    group: int | None
    group_name: str | None


class Hit(BaseModel):
    """An item that was found."""

    id: str
    distance: int
    code: str = ""
    meta: Meta = {}
    picture: bool = False


class Hits(BaseModel):
    """What one query found."""

    total: int | None = Field(description="How many there are in all, where that is known.")
    hits: list[Hit]


class Found(Hits):
    """The answer to one query."""

    took_ms: float


class Query(BaseModel):
    """A picture that was uploaded."""

    token: str = Field(description="Its code, to search or explain with.")


class FoundByPicture(Found):
    """The answer to a picture."""

    query: Query


class FoundMany(BaseModel):
    """The answers to several codes, in their order."""

    took_ms: float
    results: list[Hits]


class Search(Body):
    """What to search for: items to be like (and not like), one code, or several codes."""

    like: list[Name] | None = Field(None, min_length=1)
    unlike: list[Name] | None = Field(None, min_length=1)
    code: Hex | None = None
    codes: list[Hex] | None = Field(None, min_length=1)
    k: int = Field(24, ge=1)
    offset: int = Field(0, ge=0)
    radius: int | None = Field(None, ge=0)
    by: By = "both"
    where: Where | None = None
    brief: bool = Field(False, description="Ids and distances alone, for many lookups.")


class Bit(BaseModel):
    """A bit by which two codes differ."""

    bit: int
    part: Literal["meaning", "look"]
    mine: int
    theirs: int


class NearGroup(BaseModel):
    """A group of items that people put together."""

    group: int
    name: str
    similarity: float


class Explain(Body):
    """Two items, or an item and a code."""

    id: Name
    other: Name | None = None
    code: Hex | None = None


class Explained(BaseModel):
    """Why two codes are near or far."""

    distance: int
    by: dict[By, int]
    bits: list[Bit]
    groups: list[NearGroup] = Field(description="Groups nearest to the first item.")
    other_groups: list[NearGroup] = Field(description="Groups nearest to the other.")


class ModelFacts(BaseModel):
    """The model that is in use."""

    fingerprint: str
    trained_at: str | None
    pairs: int | None
    check: list[str] = Field(description="What its training found out, in plain words.")


class LimitFacts(BaseModel):
    """Bounds of a request."""

    k: int
    window: int
    radius: int
    queries: int
    upload_bytes: int
    pixels: int


class Ready(BaseModel):
    """Whether the server can answer."""

    status: Literal["ok", "starting"]


class Trained(BaseModel):
    """What a job learns from."""

    answers: int
    items: int
    pairs: int


class Judged(BaseModel):
    """How a model tells alike from not alike, on answers that were kept back."""

    auc: float = Field(description="How often an alike pair is nearer than another.")
    error: float
    pairs: int
    items: int


class Figures(BaseModel):
    """The same answers judge both models."""

    before: Judged
    after: Judged
    gain: float
    error: float = Field(description="How far the gain may be off by chance: one standard error.")


JobState = Literal[
    "queued",
    "features",
    "training",
    "comparing",
    "ready",
    "switching",
    "used",
    "kept_old",
    "cancelled",
    "failed",
]


class Job(BaseModel):
    """A training job."""

    number: int
    state: JobState = "queued"
    phase: Annotated[
        str | None, Field(description="What it does now: files, features, checking, training, ...")
    ] = None
    step: int = 0
    steps: int = 0
    seconds_left: float | None = None
    started: Annotated[float | None, Field(description="Seconds since 1970.")] = None
    error: str | None = None
    figures: Figures | None = None
    trained_on: Trained | None = None
    losses: Annotated[dict[str, float] | None, Field(description="Of the last step that was told.")] = None
    thr: float | None = None
    held_out: Annotated[float | None, Field(description="Area under the ROC on answers kept back.")] = None
