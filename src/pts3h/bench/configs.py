"""Benchmarks as YAML files: what the command line would say, in a file to keep."""

from pathlib import Path
from reprlib import repr as shown
from typing import Any

from ..errors import UserError
from ..settings.asked import Settings

KEYS = {
    "like": str,
    "dataset": str,
    "methods": list,
    "bits": list,
    "label_count": list,
    "runs": int,
    "tune": int,
    "tune_bits": list,
    "settings": dict,
    "of": dict,
}
# of what lists and dicts are made
PARTS = {"methods": str, "bits": int, "label_count": int, "tune_bits": int, "of": dict}


def read_config(path: Path) -> dict[str, Any]:
    """The keys of KEYS that the file has, checked; ``settings`` go to every method, ``of`` to one each.

    A file that is ``like`` another one beside it says only what differs.
    """
    content = read_keys(path)
    if (other := content.pop("like", None)) is None:
        return content
    first = read_keys(path.parent / other)
    if "like" in first:
        raise UserError(f"{path} is like {other}, which is like another one: name that")
    return over(first, content)


def over(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both, the second above the first, at every depth."""
    return first | {
        name: over(first.get(name, {}), value) if isinstance(value, dict) else value
        for name, value in second.items()
    }


def read_keys(path: Path) -> dict[str, Any]:
    """What one file says, checked."""
    try:
        import yaml
    except ImportError as error:
        raise UserError("--config needs PyYAML: pip install 'pts3h[bench]'") from error
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UserError(f"cannot read {path} as YAML: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path} must hold keys and values: {', '.join(KEYS)}")
    for key, value in content.items():
        if key not in KEYS:
            raise UserError(f"{path} has an unknown key {shown(key)}; there are {', '.join(KEYS)}")
        refuse_other(KEYS[key], value, f"{path}: {key}")
        if key in PARTS:
            for part in value.values() if isinstance(value, dict) else value:
                refuse_other(PARTS[key], part, f"{path}: each part of {key}")
    for settings in (content.get("settings", {}), *content.get("of", {}).values()):
        Settings.from_keywords(settings)  # says what is wrong before any data is read
    return content


def refuse_other(kind: type, value: Any, name: str) -> None:
    """Refuse a value of another kind; true is no number."""
    if type(value) is not kind:
        raise UserError(f"{name} must be a {kind.__name__}, got {shown(value)}")
