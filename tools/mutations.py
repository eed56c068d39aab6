"""Small wrong changes of a source file, one at a time: what a test suite should notice.

Expressions: another arithmetic, comparison or boolean operator, a lost operand, sign or ``not``, another
number, text or flag, two arguments swapped, a keyword lost, ``min`` for ``max`` and the like, a lost
``detach()``, ``clamp()``, ``copy()``. Statements: a lost return value, call, assignment to a place,
``raise``, ``break``. Definitions: a lost decorator.

Left alone are types, imports, docstrings, the words of messages, assertions, and calls at module level: the
rows of a table are measured figures, which a test could only repeat.
"""

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeVar

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
PAIRS = [("any", "all"), ("min", "max"), ("minimum", "maximum"), ("sum", "mean")]
OPPOSITES = dict(PAIRS) | {second: first for first, second in PAIRS}
LOSABLE = {"detach", "clone", "copy", "clamp", "abs", "floor", "square", "sqrt", "flatten", "fill_diagonal_"}
UNORDERED = {"min", "max", "minimum", "maximum", "isinstance", "cast"}  # swapped: the same, or nonsense
KEPT_DECORATORS = {"property", "abstractmethod", "dataclass"}
CONDITIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp)  # have operators of their own
EVERYWHERE = range(10**9)
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Mutation:
    """One node of a tree that becomes another.

    Attributes:
        lines: of the statement; of the whole function for its defaults; ``EVERYWHERE`` for what acts when
            the file is imported.
        line: where it stands.
        what: the change, in words.
    """

    old: ast.AST
    new: ast.AST
    lines: range
    line: int
    what: str

    def compiled(self, tree: ast.Module, path: str) -> CodeType:
        """The whole file with this change; the tree is left as it was."""
        _Replace(self.old, self.new).visit(tree)
        try:
            return compile(ast.fix_missing_locations(tree), path, "exec")
        finally:
            _Replace(self.new, self.old).visit(tree)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.old:
            return self.new
        self.generic_visit(node)
        return node


def mutations(tree: ast.Module) -> list[Mutation]:
    """Every change of a file, in the order of its lines."""
    found = []
    for statement, lines in _statements(tree.body, defining=True):
        for old in _parts(statement):
            for new in _changes(old):
                place = old.guard if isinstance(old, ast.match_case) else old
                line = getattr(place, "lineno", statement.lineno)
                found.append(Mutation(old, new, lines, line, _words(old, new)))
    return sorted(found, key=lambda mutation: mutation.line)


def changed(node: Node, **fields: Any) -> Node:
    """A copy with other fields."""
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _statements(body: list[ast.stmt], *, defining: bool) -> Iterator[tuple[ast.stmt, range]]:
    """Each statement and its lines; ``defining``: it runs when the file is imported."""
    for statement in body:
        end = statement.end_lineno or statement.lineno
        match statement:
            case ast.FunctionDef():
                yield statement, range(statement.lineno, end + 1)
                yield from _statements(statement.body, defining=False)
            case ast.ClassDef():
                yield from _statements(statement.body, defining=True)
            case ast.If(test=ast.Name("TYPE_CHECKING")) | ast.Import() | ast.ImportFrom() | ast.Assert():
                pass
            case ast.Expr(ast.Constant()):  # a docstring
                pass
            case ast.Assign() | ast.AnnAssign() if defining:
                if not isinstance(statement.value, ast.Call | ast.Subscript | ast.BinOp):  # a table, a type
                    yield statement, EVERYWHERE
            case _:
                inner = [field for field in ("body", "orelse", "finalbody") if hasattr(statement, field)]
                first = min(
                    (one.lineno for field in inner for one in getattr(statement, field)), default=end + 1
                )
                yield statement, range(statement.lineno, max(first, statement.lineno + 1))
                for field in inner:
                    yield from _statements(getattr(statement, field), defining=defining)
                for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
                    yield from _statements(part.body, defining=defining)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The node and the expressions in it that may be changed; not other statements."""
    yield node
    if isinstance(node, ast.Raise):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "handlers", "pattern"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.stmt | ast.JoinedStr):
                yield from _parts(child)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp() | ast.AugAssign():
            yield changed(node, op=OPERATORS[type(node.op)]())
            if isinstance(node, ast.AugAssign):
                yield ast.Pass()
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                for other in COMPARISONS[type(operator)]:
                    yield changed(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])
        case ast.BoolOp():
            yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for place in range(len(node.values)):
                values = node.values[:place] + node.values[place + 1 :]
                yield changed(node, values=values) if len(values) > 1 else values[0]
        case ast.UnaryOp():
            yield node.operand
        case ast.Constant(value=bool(flag)):
            yield changed(node, value=not flag)
        case ast.Constant(value=int(number) | float(number)):
            yield changed(node, value=number + 1)
        case ast.Constant(value=str(text)) if " " not in text:  # else it is for people
            yield changed(node, value=f"{text}x")
        case ast.Call():
            yield from _calls(node)
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield changed(node, value=ast.Constant(None))
        case ast.Expr(ast.Call()) | ast.Raise() | ast.Break():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.FunctionDef():
            for decorator in node.decorator_list:
                if not any(kept in ast.unparse(decorator) for kept in KEPT_DECORATORS):
                    others = [one for one in node.decorator_list if one is not decorator]
                    yield changed(node, decorator_list=others)
        case ast.If() | ast.While() | ast.IfExp():
            if not isinstance(node.test, CONDITIONS):
                yield changed(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension():
            for test in node.ifs:
                yield changed(node, ifs=[one for one in node.ifs if one is not test])
        case ast.match_case(guard=ast.expr()):
            yield changed(node, guard=None)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    name = ast.unparse(node.func).rpartition(".")[2]
    if len(node.args) > 1 and name not in UNORDERED and ast.dump(node.args[0]) != ast.dump(node.args[1]):
        yield changed(node, args=[node.args[1], node.args[0], *node.args[2:]])
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield changed(node, keywords=[one for one in node.keywords if one is not keyword])
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in OPPOSITES:
            yield changed(node, func=changed(node.func, attr=OPPOSITES[node.func.attr]))
        if node.func.attr in LOSABLE and ast.unparse(node.func.value) not in ("torch", "np", "F", "math"):
            yield node.func.value
    elif isinstance(node.func, ast.Name) and node.func.id in OPPOSITES:
        yield changed(node, func=changed(node.func, id=OPPOSITES[node.func.id]))


def _words(old: ast.AST, new: ast.AST) -> str:
    if isinstance(old, ast.FunctionDef):
        return f"{old.name} without its decorator"
    before, after = (ast.unparse(node).splitlines()[0] for node in (old, new))
    return f"{before} → {after}"
