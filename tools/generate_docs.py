"""Write what is made from the code, pages and the signature of ``Hasher``, or say what is out of date.

python tools/generate_docs.py           # write them
python tools/generate_docs.py --check   # exit code 1 if a file differs from what would be written
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pts3h

if __package__ in (None, ""):  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools.setting_docs import hasher_signature, settings_tables

PROJECT = Path(__file__).resolve().parents[1]
NOTE = "<!-- Made by `make generate` from the docstrings: change those, not this page. -->"
HASHER = "src/pts3h/hasher.py"
SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises")


def api_page() -> str:
    """docs/api.md: every public name, with what its docstring says."""
    names = pts3h.__all__
    rows = [f"| [`{name}`](#{name.lower()}) | {first_sentence(getattr(pts3h, name))} |" for name in names]
    parts = [
        NOTE,
        "# API",
        "These names are public and stay. Everything else may move.",
        "```python\nfrom pts3h import (\n" + "".join(f"    {name},\n" for name in names) + ")\n```",
        "\n".join(["| Name | What it is |", "|---|---|", *rows]),
    ]
    for name in names:
        thing = getattr(pts3h, name)
        parts.append(f"## {name}")
        parts += class_parts(thing) if inspect.isclass(thing) else function_parts(thing)
    return "\n\n".join(parts) + "\n"


def class_parts(thing: type) -> Iterator[str]:
    """A class: how it is called, its docstring, its public properties and methods."""
    node = parsed(thing)
    assert isinstance(node, ast.ClassDef)
    bases = [base.__name__ for base in thing.__bases__ if base is not object]
    yield fenced(f"class {thing.__name__}({', '.join(bases)})" if bases else f"class {thing.__name__}")
    own = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    start = next((part for part in own if part.name == "__init__"), None)
    if start is not None:
        start.args.args = start.args.args[1:]
        yield fenced(f"{thing.__name__}({ast.unparse(start.args)})")
    yield from docstring_parts(thing)
    public = [part for part in own if not part.name.startswith("_")]
    properties = [part for part in public if decorators(part) & {"property", "cached_property"}]
    named = inspect.getdoc(thing) or ""
    lines = [property_line(part) for part in properties if f"\n    {part.name}: " not in named]
    if lines:
        yield "**Properties**"
        yield "\n".join(lines)
    for part in public:
        if part not in properties:
            yield f"### {thing.__name__}.{part.name}"
            yield from function_parts(getattr(thing, part.name))


def property_line(node: ast.FunctionDef) -> str:
    """A property as a line of a list."""
    kind = f" (`{ast.unparse(node.returns)}`)" if node.returns else ""
    return f"- `{node.name}`{kind}: {as_markdown(' '.join((ast.get_docstring(node) or '').split()))}"


def function_parts(thing: Callable[..., Any]) -> Iterator[str]:
    """A function or method: its signature as it stands in the source, and its docstring."""
    node = parsed(thing)
    lines = textwrap.dedent(inspect.getsource(thing)).splitlines()
    assert isinstance(node, ast.FunctionDef)
    head = "\n".join(lines[node.lineno - 1 : node.body[0].lineno - 1])
    note = "@classmethod\n" if "classmethod" in decorators(node) else ""
    yield fenced(note + head.removesuffix(":"))
    yield from docstring_parts(thing)


def docstring_parts(thing: Any) -> Iterator[str]:
    """A Google-style docstring as Markdown, paragraph by paragraph."""
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(thing) or ""):
        title, _, body = paragraph.partition(":\n")
        if title in SECTIONS:
            yield f"**{'Arguments' if title == 'Args' else title}**"
            yield section(textwrap.dedent(body), named=title not in ("Returns", "Yields"))
        elif paragraph.startswith("    "):
            yield f"```python\n{textwrap.dedent(paragraph)}\n```"
        else:
            yield as_markdown(re.sub(r"::$", ":", paragraph))


def section(body: str, *, named: bool) -> str:
    """``name: text`` with indented lines that go on, as a list; the text of Returns as it is."""
    joined = re.sub(r"\n +", " ", body.strip())
    if not named:
        return as_markdown(" ".join(joined.split()))
    entries = (entry.partition(":") for entry in joined.splitlines())
    return "\n".join(f"- `{name}`: {as_markdown(text.strip())}" for name, _, text in entries)


def settings_page() -> str:
    """docs/settings.md: every setting with its meaning, its default and its flag."""
    opening = (
        "Each is a keyword of `Hasher` and of a config for `pts3h bench`, and a flag of `pts3h fit`. What is "
        "left out is chosen by the loss, the data and the defaults below. A setting that cannot act in the "
        "situation at hand is refused."
    )
    return "\n\n".join([NOTE, "# Settings", opening, settings_tables()]) + "\n"


def hasher_source() -> str:
    """src/pts3h/hasher.py: the signature of ``Hasher`` names every setting."""
    return hasher_signature((PROJECT / HASHER).read_text(encoding="utf-8"))


def parsed(thing: Any) -> ast.stmt:
    """The definition of a class or function."""
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def decorators(node: ast.FunctionDef) -> set[str]:
    """Names of the plain decorators of a function."""
    return {ast.unparse(part) for part in node.decorator_list}


def first_sentence(thing: Any) -> str:
    """What the table of names says."""
    return as_markdown((inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " "))


def as_markdown(text: str) -> str:
    """Inline reStructuredText, as docstrings have it, in Markdown."""
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")


def fenced(code: str) -> str:
    """Code that is shown, not run."""
    return f"```text\n{code}\n```"


# hasher.py first: the page of the API shows its signature
PAGES: dict[str, Callable[[], str]] = {
    HASHER: hasher_source,
    "docs/api.md": api_page,
    "docs/settings.md": settings_page,
}


def main() -> None:
    """Write the pages, or compare them."""
    stale = []
    for name, make in PAGES.items():
        path, text = PROJECT / name, make()
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.exit(f"{', '.join(stale)} is out of date: run make generate")


if __name__ == "__main__":
    main()
