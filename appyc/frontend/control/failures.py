"""Raised exceptions, and their messages: numbers in a text are formatted in Python when the kernel has left.

raise ValueError(f"element {i} is {x:.3f}")
->  Fail("ValueError", "element {0} is {1:.3f}", (i, float_bits(x)), ("python int64", "float64"))
"""

from __future__ import annotations

import ast
import builtins
import re
import string
import sys

from appyc.errors import LibraryCallError, Loc, UnsupportedError, conversion_error
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.expressions import lower_expression
from appyc.frontend.scope import Scope
from appyc.frontend.types.characters import is_character, recast
from appyc.frontend.types.values import Number, Opaque, TupleValue, Value
from appyc.ir.fault_words import AS_TUPLE, FAULT_WORDS
from appyc.ir.nodes import Expr, Fail, Intrinsic
from appyc.ir.raising import CONVERSION_ERROR
from appyc.ir.types import DType

_CONVERSIONS = {-1: "", ord("s"): "!s", ord("r"): "!r", ord("a"): "!a"}

_FUNCTIONS = {"str": "!s", "repr": "!r"}
"""Functions that make a text of a number."""

_PERCENT = {
    **dict.fromkeys("dix", "iu"),
    **dict.fromkeys("fFeEgG", "iuf"),
    "s": ("", *"iufb"),
    "r": ("", *"iufb"),
}
"""The kinds of numbers for which a letter behind `%` means the same to `str.format`; "": of what is no number."""

_FORMAT = re.compile(r"([0-9.]*)(.?)(.*)", re.DOTALL)


def lower_raise(scope: Scope, exc: ast.expr | None, loc: Loc) -> None:
    """`raise` of an exception's class, or of one made of a text or numbers."""
    node, args = (exc.func, exc.args) if isinstance(exc, ast.Call) and not exc.keywords else (exc, [])
    name = ast.unparse(node) if node is not None else ""
    if isinstance(node, ast.Name | ast.Attribute) and name.partition(".")[0] not in scope.locals:
        found = lower_expression(scope, node)
        kind = _path_of(found.obj) if isinstance(found, Opaque) else None
        if kind is not None:
            fail(scope, kind, args, loc)
            return
    raise UnsupportedError("this raise cannot be compiled", loc,
                           "raise an exception of Python's own or of a module, made of a text")  # fmt: skip


def _path_of(obj: object) -> str | None:
    """The path by which an exception's class is looked up when it is raised; None where there is no such path
    or class."""
    if obj is conversion_error:  # in the text of a block
        return CONVERSION_ERROR
    if not isinstance(obj, type) or not issubclass(obj, Exception):
        return None
    name = obj.__name__
    if obj.__module__ == builtins.__name__:
        return name
    return f"{obj.__module__}:{name}" if getattr(sys.modules.get(obj.__module__), name, None) is obj else None


def fail(scope: Scope, kind: str, args: list[ast.expr], loc: Loc) -> None:
    """Emits what raises an exception of these arguments: nothing, a text, numbers, or a tuple of them.

    Raises LibraryCallError for all others, which Python makes.
    """
    message = _Message(scope)
    if len(args) == 1 and (text := message.text(args[0])):
        template = text if message.words else text.replace("{{", "{").replace("}}", "}")
    else:
        values = [lower_expression(scope, arg) for arg in args]
        template = ""
        if len(values) == 1 and isinstance(values[0], TupleValue) and not values[0].names:
            template, values = AS_TUPLE, [*values[0].items]
        for value in values:
            message.number(value, args[0], joined=kind == "KeyError")
    scope.emit(Fail(kind, template, tuple(message.words), tuple(message.kinds), loc=loc))


class _Message:
    """The numbers in a text that is made when it is needed."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.words: list[Expr] = []
        self.kinds: list[str] = []

    def text(self, node: ast.expr) -> str | None:
        """The text as a template for `str.format`; None for what is no text."""
        match node:
            case ast.Constant(value=str(text)):
                return _escaped(text)
            case ast.JoinedStr(values=parts):
                return "".join(map(self._piece, parts))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                first = self.text(left)
                second = self.text(right) if first is not None else None
                return None if first is None or second is None else first + second
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
                return self._percent(text, right.elts if isinstance(right, ast.Tuple) else [right], node)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=args):
                return self._format(text, args, {k.arg: k.value for k in node.keywords}, node)
            case ast.Call(func=ast.Name(id=name), args=[arg], keywords=[]) if (
                name in _FUNCTIONS and name not in self.scope.locals
            ):
                return self._formatted(arg, _FUNCTIONS[name], "")
            case ast.Name() | ast.Attribute():
                value = lower_expression(self.scope, node)
                return (
                    _escaped(value.obj) if isinstance(value, Opaque) and isinstance(value.obj, str) else None
                )
            case _:
                return None

    def _piece(self, node: ast.expr) -> str:
        if isinstance(node, ast.FormattedValue):
            form = self.text(node.format_spec) if node.format_spec is not None else ""
            return self._formatted(node.value, _CONVERSIONS[node.conversion], form or "")
        return self.text(node) or ""

    def _formatted(self, node: ast.expr, conversion: str, form: str) -> str:
        """A replacement field of the template, or a text that is known."""
        return self._value(lower_expression(self.scope, node), node, conversion, form)

    def _value(self, value: Value, node: ast.expr, conversion: str, form: str) -> str:
        if "{" not in form and (known := _known(value)) is not None:
            return _escaped(f"{{0{conversion}:{form}}}".format(known))
        if isinstance(value, TupleValue) and not value.names and not form:
            items = [self._value(item, node, "!r", "") for item in value.items]
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        position = self.number(value, node, joined=conversion in ("", "!s"))
        return f"{{{position}{conversion}{':' * bool(form)}{form}}}"

    def number(self, value: Value, node: ast.expr, joined: bool) -> int:
        """The position of a number among those of the message. joined: whether one that is Python's or NumPy's may be
        given as NumPy's."""
        if not isinstance(value, Number) or value.expr.dtype.is_complex or len(self.words) == FAULT_WORDS:
            raise _in_python(self.scope.loc(node))
        if value.either is not None and not joined:
            raise LibraryCallError(
                "this integer is Python's on one path and NumPy's on another, which its text shows",
                self.scope.loc(node), "int(x) makes it Python's on both",
            )  # fmt: skip
        expr = value.expr
        if is_character(value):
            self.words.append(recast(expr, DType.INT64))
            self.kinds.append("str")
            return len(self.words) - 1
        if expr.dtype.is_float:
            word: Expr = Intrinsic("float_bits", (cast(expr, DType.FLOAT64),), DType.INT64, loc=expr.loc)
        else:
            word = cast(expr, DType.INT64)
        self.words.append(word)
        self.kinds.append(f"{'python ' * value.python}{expr.dtype}")
        return len(self.words) - 1

    def _format(
        self, text: str, args: list[ast.expr], named: dict[str | None, ast.expr], node: ast.expr
    ) -> str:
        """`"...".format(...)`."""
        out, following = "", iter(args)
        for literal, field, form, conversion in string.Formatter().parse(text):
            out += _escaped(literal)
            if field is None:
                continue
            given = next(following, None) if not field else named.get(field)
            if field.isdecimal() and int(field) < len(args):
                given = args[int(field)]
            if given is None or "{" in (form or ""):
                raise _in_python(self.scope.loc(node))
            out += self._formatted(given, f"!{conversion}" if conversion else "", form or "")
        return out

    def _percent(self, text: str, args: list[ast.expr], node: ast.expr) -> str:
        """`"..." % (...)` with formats that mean the same to `str.format`."""
        first, *pieces = text.replace("%%", "\0").split("%")
        if len(pieces) != len(args):
            raise _in_python(self.scope.loc(node))
        out = _escaped(first)
        for piece, given in zip(pieces, args, strict=True):
            value = lower_expression(self.scope, given)
            found = _FORMAT.fullmatch(piece)
            assert found is not None
            form, letter, rest = found.groups()
            kind = value.expr.dtype.kind if isinstance(value, Number) else ""
            if kind not in _PERCENT.get(letter, ()) or (letter in "sr" and form):
                raise _in_python(self.scope.loc(node))
            conversion, form = (f"!{letter}", "") if letter in "sr" else ("", form + letter.replace("i", "d"))
            out += self._value(value, given, conversion, form) + _escaped(rest)
        return out.replace("\0", "%")


def _known(value: Value) -> object:
    """The str, or number of Python's, that a value is known to be at compile time; else None."""
    if isinstance(value, Opaque):
        return value.obj if isinstance(value.obj, str) else None
    return value.constant if isinstance(value, Number) and value.python else None


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _in_python(loc: Loc) -> LibraryCallError:
    return LibraryCallError("a text of other things than six numbers is made in Python", loc,
                            "make it of up to six numbers")  # fmt: skip
