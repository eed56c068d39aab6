"""Settings that would do nothing, refused before anything runs."""

from pathlib import Path

from ..errors import UserError
from ..systems.table import SYSTEMS
from .plan import Plan
from .sources import load_data, split_of
from .tasks import task_of


def refuse_idle_settings(plan: Plan, folder: Path) -> None:
    """Refuse a setting of one system that cannot act there, and a shared one that acts in none."""
    setup = plan.setup
    data = load_data(setup.data_name, setup.place, setup.labels, setup.images)
    acting, reasons = set[str](), dict[str, str]()
    cells = {(cell.method, cell.varied): cell for cell in plan.cells()}
    drawn = {key: split_of(data, *key) for key in {(cell.labels, cell.seed) for cell in cells.values()}}
    for cell in cells.values():
        system = SYSTEMS.find(cell.method)
        task = task_of(setup, cell, data, drawn[cell.labels, cell.seed], folder)
        system.refuse_idle(task)
        idle = system.idle(task)
        acting |= setup.settings.keys() - idle.keys()
        reasons = idle | reasons  # the first system's words
    for name, value in setup.settings.items():
        if name not in acting:
            why = f"would do nothing in any of the chosen systems: {reasons[name]}"
            raise UserError(f"{name}={value!r} {why}; leave it out")
