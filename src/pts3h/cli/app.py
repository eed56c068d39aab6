"""The command line: a thin table of commands over the library; torch is imported only where it is needed."""

import json
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from .. import __version__
from ..errors import UserError
from . import bench as cli_bench
from . import search as cli_search

app = typer.Typer(
    name="pts3h",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn short binary codes from a few known pairs, and search with them.",
)

INTERRUPTED = 130  # what typer makes of Ctrl-C

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program to read.")]


def main() -> None:
    """Run the command line: a user's mistake is one line and exit code 2, no traceback."""
    warnings.showwarning = show_warning
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except UserError as error:
        fail(str(error), code=error.exit_code)
    except OSError as error:
        if error.filename is None and error.strerror is None:
            raise
        fail(f"{error.strerror}: {error.filename}" if error.filename else str(error))
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        fail(error.format_message())  # an option that typer does not understand
    if code == INTERRUPTED:
        fail("stopped; run the same command again to go on", code=INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on standard error."""
    print(f"pts3h: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Warnings as one line, without the place in the code."""
    print(f"pts3h: warning: {message}", file=sys.stderr)


def say(text: str) -> None:
    """A line for people, on standard error so that standard output stays clean for data."""
    print(text, file=sys.stderr)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        print(f"pts3h {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn short binary codes from a few known pairs, and search with them."""


@app.command(epilog="Example: pts3h fit photos/ --pairs pairs.csv --bits 64 --out model/")
def fit(
    items: Annotated[
        Path, typer.Argument(help="Folder of pictures, .npy of embeddings or images, CSV, or list file.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the model (and for checkpoints on the way).")
    ],
    pairs: Annotated[
        Path | None,
        typer.Option(help="CSV of a,b,similar (1/0), a and b ids, paths, or positions in an array; or .npy."),
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="CSV of id,label, an .npy (-1 unknown), or 'folder' for class folders.")
    ] = None,
    bits: Annotated[int, typer.Option("--bits", "-b", help="Code length.")] = 64,
    loss: Annotated[str, typer.Option(help="Pairwise loss: dsh, dpsh, ksh, dhn, hashnet or mihash.")] = "dsh",
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    omega: Annotated[
        float | None, typer.Option(help="Weight of the unlabelled terms; 0 is supervised training.")
    ] = None,
    gamma: Annotated[
        float | None, typer.Option(help="Weight of the quantized similarity loss; 0 is variant P.")
    ] = None,
    eta: Annotated[float | None, typer.Option(help="Weight of the quantization loss.")] = None,
    steps: Annotated[int | None, typer.Option(help="Optimiser steps.")] = None,
    epochs: Annotated[
        float | None, typer.Option(help="Passes over the unlabelled items, instead of steps.")
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Learning rate of the hash layer.")] = None,
    backbone: Annotated[
        str,
        typer.Option(
            help="Image network: efficientnet-lite0/-lite2, alexnet, vgg16, small, timm:..., torchvision:..."
        ),
    ] = "auto",
    weights: Annotated[str, typer.Option(help="'pretrained', 'random', or a weight file.")] = "pretrained",
    fine_tune: Annotated[
        bool, typer.Option("--fine-tune", help="Train the whole network, not only the layers above it.")
    ] = False,
    image_size: Annotated[int | None, typer.Option(help="Pixels a side.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any other setting, such as --set alpha=0.99; repeatable."
        ),
    ] = None,
    validation: Annotated[
        float | None,
        typer.Option(help="Share of the labelled items held out to choose omega and gamma (see --grid)."),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V,...", help="Values to choose from, such as --grid omega=0.3,0.6; repeatable."
        ),
    ] = None,
    root: Annotated[
        Path | None, typer.Option(help="Where relative paths of a CSV or list file start.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the unfinished run in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in --out.")] = False,
    tensorboard: Annotated[Path | None, typer.Option(help="Folder for TensorBoard's curves.")] = None,
    as_json: AsJson = False,
) -> None:
    """Learn codes from items and a few known pairs (or labels)."""
    from ..data.items import read_items
    from ..hasher import Hasher

    settings: dict[str, Any] = {
        "bits": bits,
        "loss": loss,
        "seed": seed,
        "omega": omega,
        "gamma": gamma,
        "eta": eta,
        "steps": steps,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "backbone": backbone,
        "weights": weights,
        "freeze": False if fine_tune else None,
        "image_size": image_size,
        **parse_settings(set_ or []),
    }
    hasher = Hasher(**settings)
    hasher.fit(
        read_items(items, root=root),
        pairs=pairs,
        labels=labels,
        validation=validation,
        grid=parse_grid(grid) if grid else None,
        out=out,
        resume=resume,
        overwrite=overwrite,
        tensorboard=tensorboard,
    )
    result = {
        "model": str(out),
        "bits": hasher.bits,
        "fingerprint": hasher.fingerprint,
        "steps": len(hasher.history),
        **hasher.model.summary,
        "skipped_items": list(hasher.skipped),
        "trials": [{**trial.settings, "score": trial.score} for trial in hasher.trials],
    }
    if as_json:
        print(json.dumps(result))
        return
    for name, reason in hasher.skipped.items():
        say(f"skipped {name}: {reason}")
    for trial in hasher.trials:
        say(
            "tried "
            + " ".join(f"{name}={value:g}" for name, value in trial.settings.items())
            + f": {trial.score:.4f}"
        )
    say(
        f"trained on {result['items']:,} items, {result['labelled_items']:,} of them in known pairs; "
        f"the model is in {out}"
    )


@app.command(epilog="Example: pts3h encode model/ photos/ --out codes.npy")
def encode(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    items: Annotated[Path, typer.Argument(help="Folder of pictures, .npy, CSV, or list file.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help=".npy for the codes; the ids go beside it as .ids.txt.")
    ],
    network: Annotated[str, typer.Option(help="'teacher', or 'student' for variant S.")] = "teacher",
    root: Annotated[
        Path | None, typer.Option(help="Where relative paths of a CSV or list file start.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the packed codes of items, one row an item; unreadable pictures are left out and named."""
    import numpy as np

    from ..codes import pack
    from ..data.items import read_items
    from ..hasher import Hasher
    from ..util.files import write_array, write_text

    ids_file = out.with_suffix(".ids.txt")
    for path in (out, ids_file):
        if path.exists() and not overwrite:
            raise UserError(f"{path} exists: choose another file, or replace it with --overwrite")
    hasher, collection = Hasher.load(model), read_items(items, root=root)
    outputs, broken = hasher.outputs(collection, network=network)  # type: ignore[arg-type]
    if len(broken) == len(outputs):
        raise UserError(f"none of the {len(broken)} pictures can be read, the first: {broken[0]}")
    good = np.setdiff1d(np.arange(len(outputs)), list(broken))
    codes = pack(outputs[good])
    write_array(out, codes)
    write_text(ids_file, "".join(f"{collection.ids[position]}\n" for position in good))
    if as_json:
        skipped = {collection.ids[position]: reason for position, reason in broken.items()}
        print(json.dumps({"codes": str(out), "items": len(good), "bits": hasher.bits, "skipped": skipped}))
        return
    for reason in broken.values():
        say(f"skipped {reason}")
    say(f"{len(good):,} codes of {hasher.bits} bits are in {out}")


@app.command(
    epilog="Example: pts3h evaluate queries.npy database.npy --bits 48 --labels yq.npy --labels yd.npy"
)
def evaluate(
    queries: Annotated[Path, typer.Argument(help=".npy of packed query codes.")],
    database: Annotated[Path, typer.Argument(help=".npy of packed database codes.")],
    bits: Annotated[int, typer.Option("--bits", "-b", help="Code length.")],
    labels: Annotated[
        list[Path] | None, typer.Option(help="Twice: .npy labels of the queries, then of the database.")
    ] = None,
    relevant: Annotated[
        Path | None, typer.Option(help="Instead of labels: .npy (queries, database) of booleans.")
    ] = None,
    map_at: Annotated[int | None, typer.Option(help="Also MAP over the first so many ranks.")] = None,
    order: Annotated[
        str, typer.Option(help="How ties are broken: expected, stable, optimistic, pessimistic.")
    ] = "expected",
    as_json: AsJson = False,
) -> None:
    """Measure retrieval: MAP, precision within radius 2, precision at 100 and 1000; ties by expectation."""
    from ..data.items import load_array
    from ..evaluation import evaluate as measure

    if labels is not None and len(labels) != 2:
        raise UserError("give --labels twice: first those of the queries, then those of the database")
    pair = None if labels is None else (load_array(labels[0]), load_array(labels[1]))
    matrix = None if relevant is None else load_array(relevant)
    report = measure(load_array(queries), load_array(database), matrix, bits=bits, labels=pair, order=order)  # type: ignore[arg-type]
    figures = report.summary(map_at=map_at)
    if as_json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):<22} {value:.4f}")


@app.command(epilog="Example: pts3h data cifar10")
def data(
    name: Annotated[
        str, typer.Argument(help="cifar10, fashion-mnist, digits, mosaic, nuswide21 or imagenet100.")
    ],
    folder: Annotated[
        Path | None, typer.Option("--from", help="Where you keep the archive, or list files and images.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split.")] = 0,
    split: Annotated[
        Path | None, typer.Option(help="Write the split by the paper's protocol to this JSON file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Get a data set into the cache, verify it, and show how the paper's protocol splits it."""
    from ..data.datasets.table import load_dataset

    dataset = load_dataset(name, folder)
    drawn = dataset.split(seed)
    if split is not None:
        drawn.save(split)
    facts = {
        "data_set": name,
        "items": len(dataset.items),
        "queries": len(drawn.queries),
        "labelled": len(drawn.labelled),
        "database": len(drawn.database),
        "split": drawn.digest(),
    }
    if as_json:
        print(json.dumps(facts))
        return
    for fact, value in facts.items():
        print(
            f"{fact.replace('_', ' '):<10} {value:,}"
            if isinstance(value, int)
            else f"{fact.replace('_', ' '):<10} {value}"
        )


@app.command(epilog="Example: pts3h demo --out demo-output")
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for table, gallery and model.")] = Path(
        "demo-output"
    ),
    images: Annotated[int, typer.Option(help="Pictures to use.")] = 12_000,
    labels: Annotated[list[int] | None, typer.Option(help="Labelled pictures; repeatable.")] = None,
    seeds: Annotated[int, typer.Option(help="Runs to average.")] = 3,
    bits: Annotated[int, typer.Option("--bits", "-b", help="Code length.")] = 48,
    data: Annotated[
        str | None, typer.Option(help="Data set; by default CIFAR-10, else the first that can be had.")
    ] = None,
) -> None:
    """Train PTS3H and its baseline on real pictures, print a table, write a gallery and a model."""
    from ..bench.demo import run_demo

    run_demo(
        out, images=images, label_counts=tuple(labels or (100, 500)), seeds=seeds, bits=bits, dataset=data
    )


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE with values as JSON, or as text where they are not."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UserError(f"--set takes NAME=VALUE, got {pair!r}")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value
    return settings


def parse_grid(pairs: list[str]) -> dict[str, list[float]]:
    """NAME=V,V,... as numbers."""
    grid = {}
    for pair in pairs:
        name, equals, values = pair.partition("=")
        try:
            grid[name.strip()] = [float(value) for value in values.split(",")]
        except ValueError:
            equals = ""
        if not equals:
            raise UserError(f"--grid takes NAME=number,number,..., got {pair!r}")
    return grid


cli_search.register(app)
cli_bench.register(app)
