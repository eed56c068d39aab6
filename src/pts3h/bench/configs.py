"""Benchmarks as YAML files: what the command line would say, in a file to keep."""

from pathlib import Path
from typing import Any

from ..errors import UserError
from ..settings.asked import Settings

KEYS = {
    "dataset": str,
    "methods": list,
    "bits": list,
    "label_count": list,
    "runs": int,
    "tune": int,
    "settings": dict,
    "of": dict,
}


def read_config(path: Path) -> dict[str, Any]:
    """The keys of KEYS that the file has, checked; ``settings`` go to every method, ``of`` to one each."""
    try:
        import yaml
    except ImportError as error:
        raise UserError("--config needs PyYAML: pip install 'pts3h[bench]'") from error
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"cannot read {path} as YAML: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path} must hold keys and values: {', '.join(KEYS)}")
    for key, value in content.items():
        if key not in KEYS:
            raise UserError(f"{path} has an unknown key {key!r}; there are {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]) or isinstance(value, bool):
            raise UserError(f"{path}: {key} must be a {KEYS[key].__name__}, got {value!r}")
    for settings in (content.get("settings", {}), *content.get("of", {}).values()):
        Settings.from_keywords(settings)  # says what is wrong before any data is read
    return content
