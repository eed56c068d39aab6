"""The command that compares systems: bench."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ..bench.configs import read_config
from ..bench.plan import Old, Plan, Setup, claim
from ..data.datasets.table import DATASETS
from ..errors import UserError
from ..nets.backbones.table import BACKBONES
from ..systems.table import SYSTEMS
from ..util.extras import require
from ..util.progress import bar_or_lines
from .output import say
from .setting_flags import parse_settings

# these take several values, as in --bits 12 24 32 48
LISTS = ("--methods", "--bits", "--label-count", "--tune-bits")
BITS, RUNS = [12, 24, 32, 48], 5


class ManyValues(TyperCommand):
    """A command whose list options take values side by side."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, which is what the parser understands."""
        return super().parse_args(ctx, spread(args))


def spread(args: list[str]) -> list[str]:
    """``--bits 12 24`` → ``--bits 12 --bits 24``."""
    result: list[str] = []
    option = None
    for arg in args:
        if arg.startswith("-"):
            option = arg if arg in LISTS else None
            if option is None:
                result.append(arg)
        else:
            result += [arg] if option is None else [option, arg]
    return result


BackboneName = Annotated[
    str | None,
    typer.Option(help=f"Image network: {', '.join(BACKBONES.names())}, timm:..., torchvision:..."),
]
COMMAND_CLASS = ManyValues
EXAMPLE = "pts3h bench cifar10 --methods pts3h-dsh dsh itq --bits 12 24 32 48 --runs 5 --out results/"


def bench(
    dataset: Annotated[
        str | None, typer.Argument(help=f"{', '.join(DATASETS.names())}, or an .npy of vectors.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Print every method name, one per line.")] = False,
    methods: Annotated[list[str] | None, typer.Option(help="Methods to compare; 'all' for all.")] = None,
    bits: Annotated[list[int] | None, typer.Option(help="Code lengths; by default 12 24 32 48.")] = None,
    label_count: Annotated[
        list[int] | None, typer.Option(help="Numbers of labelled items; by default the paper's.")
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Seeds, each with its own split; by default 5.")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for cells and reports; what is done stays done.")
    ] = Path("bench-output"),
    config: Annotated[
        Path | None, typer.Option(help="YAML with all of this, such as configs/paper/cifar10-literal.yaml.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--from", help="Where you keep the data set: archive, or lists and images.")
    ] = None,
    labels: Annotated[Path | None, typer.Option(help=".npy of labels, with an .npy of vectors.")] = None,
    images: Annotated[int | None, typer.Option(help="Use only this many images.")] = None,
    tune: Annotated[
        int | None,
        typer.Option(help="Tries that each method has to choose its settings, on splits never reported."),
    ] = None,
    tune_bits: Annotated[
        list[int] | None,
        typer.Option(help="Code lengths to tune at; others take what the nearest chose. By default each."),
    ] = None,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Also vary omega, gamma and the share of similar pairs.")
    ] = False,
    backbone: BackboneName = None,
    weights: Annotated[str | None, typer.Option(help="'pretrained', 'random', or a weight file.")] = None,
    image_size: Annotated[int | None, typer.Option(help="Pixels per side.")] = None,
    fine_tune: Annotated[bool, typer.Option("--fine-tune", help="Train whole networks.")] = False,
    steps: Annotated[int | None, typer.Option(help="Optimiser steps.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting, for every method; repeatable."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Runs at a time; by default one per core.")] = None,
    old: Annotated[Old, typer.Option(help="What to do with runs of another version of the code.")] = "refuse",
) -> None:
    """Compare systems on the same splits: tables, curves and significance, resumable cell by cell."""
    if show_list:
        print("\n".join(SYSTEMS.names()))
        return
    require("torch", "training")
    from ..bench.idle_settings import refuse_idle_settings  # these bring torch
    from ..bench.matrix import run_matrix
    from ..bench.report import write_report
    from ..bench.sources import default_labels, load_data
    from ..bench.tables import print_table

    stored = {} if config is None else read_config(config)
    name = dataset or stored.get("dataset")
    if name is None:
        raise UserError("say which data set, such as 'pts3h bench cifar10', or give --config")
    flags = {"backbone": backbone, "weights": weights, "image_size": image_size, "steps": steps}
    typed = {key: flag for key, flag in flags.items() if flag is not None}
    typed |= ({"freeze": False} if fine_tune else {}) | parse_settings(set_ or [])
    settings = stored.get("settings", {}) | typed
    of = {
        method: {key: own[key] for key in own if key not in typed}
        for method, own in stored.get("of", {}).items()
    }
    place, labels_file = (None if path is None else str(path) for path in (folder, labels))
    tries = stored.get("tune", 0) if tune is None else tune
    setup = Setup(name, place, labels_file, images, settings, of, tries)
    chosen = methods or stored.get("methods") or ["all"]
    counts = label_count or stored.get("label_count")
    if not counts:
        counts = [default_labels(load_data(name, place, labels_file, images))]
    plan = Plan(
        setup,
        SYSTEMS.names() if chosen == ["all"] else chosen,
        bits or stored.get("bits") or BITS,
        counts,
        runs or stored.get("runs") or RUNS,
        sensitivity,
        tune_bits or stored.get("tune_bits") or (),
    )
    refuse_idle_settings(plan, out)
    claim(out, setup, shlex.join(["pts3h", *sys.argv[1:]]))
    failed = run_matrix(plan, out, workers=jobs, old=old, progress=bar_or_lines())
    for table in write_report(out):
        print_table(table)
    say(f"{len(plan.cells()) - failed} runs are in {out}; open {out / 'report.html'}")
    if failed:
        raise UserError(f"{failed} runs failed: the same command tries them again")
