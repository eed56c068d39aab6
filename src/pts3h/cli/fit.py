"""pts3h fit: learn codes."""

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

import pts3h

from ..data.items import Items, read_items
from ..data.pair_files import read_supervision
from ..model.described import REPORT
from ..model.verdict import verdict
from ..report import write_report
from .arguments import ItemsSource, Root
from .output import AsJson, bits_facts, say
from .setting_flags import parse_grid, with_settings

EXAMPLE = "pts3h fit photos/ --pairs pairs.csv --bits 64 --out model/"


@with_settings
def fit(
    items: ItemsSource,
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
    transitive: Annotated[
        bool,
        typer.Option("--transitive", help="Also learn what follows from --pairs: alike of alike is alike."),
    ] = False,
    fine_tune: Annotated[
        bool | None,
        typer.Option(
            "--fine-tune/--freeze",
            help="Train the whole network, or only the layers above it. By default only those, unless the "
            "backbone is untrained.",
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
    root: Root = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the unfinished run in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in --out.")] = False,
    tensorboard: Annotated[Path | None, typer.Option(help="Folder for TensorBoard's curves.")] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Keep a tenth back first, to hand over nothing worse than no training."
        ),
    ] = True,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html beside the model, to judge it by.")
    ] = True,
    as_json: AsJson = False,
    settings: dict[str, Any] | None = None,
) -> None:
    """Learn codes from items and a few known pairs (or labels)."""
    asked = (settings or {}) | ({} if fine_tune is None else {"freeze": not fine_tune})
    hasher = pts3h.Hasher.from_settings(asked)
    collection = read_items(items, root=root)
    hasher.fit(
        collection,
        pairs=pairs,
        labels=labels,
        transitive=transitive,
        check=check,
        validation=validation,
        grid=parse_grid(grid) if grid else None,
        out=out,
        resume=resume,
        overwrite=overwrite,
        tensorboard=tensorboard,
    )
    page = write_page(hasher, collection, out, pairs, labels, transitive) if report else None
    result = {
        "model": str(out),
        **bits_facts(hasher.model.layout),
        "fingerprint": hasher.fingerprint,
        "steps": len(hasher.history),
        **hasher.model.summary,
        "skipped_items": list(hasher.skipped),
        "report": None if page is None else str(page),
        "trials": [{**trial.settings, "score": trial.score} for trial in hasher.trials],
    }
    if as_json:
        print(json.dumps(result))
        return
    for name, reason in hasher.skipped.items():
        say(f"skipped {name}: {reason}")
    for trial in hasher.trials:
        tried = " ".join(f"{name}={value:g}" for name, value in trial.settings.items())
        say(f"tried {tried}: {trial.score:.4f}")
    items_read = hasher.model.summary["items"] - len(hasher.skipped)
    say(
        f"trained on {items_read:,} items, {result['labelled_items']:,} of them in known pairs; "
        f"the model is in {out}"
    )
    for line in verdict(hasher.model.summary):
        say(line)
    if page is not None:
        say(f"look at {page}")


def write_page(
    hasher: "pts3h.Hasher", items: Items, out: Path, pairs: Path | None, labels: str | None, transitive: bool
) -> Path | None:
    """Write the page into the model's folder. The model is safe by now, so nothing here ends the command."""
    page = out / REPORT
    try:
        known = read_supervision(items, pairs, labels, transitive=transitive)
        write_report(hasher.model, items, page, known=known)
    except (Exception, KeyboardInterrupt) as error:
        reason = str(error) or type(error).__name__
        warnings.warn(f"{page} is not written: {reason}; pts3h report makes it later", stacklevel=2)
        return None
    return page
