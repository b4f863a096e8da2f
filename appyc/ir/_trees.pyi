from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from appyc.ir.symbols import Node

_T = TypeVar("_T", bound="Node | tuple[Node, ...]")
_Table = dict[Any, tuple[str, ...] | None]

def walk(nodes: object, table: _Table, /) -> Iterator[Any]: ...
def rewrite(
    nodes: _T,
    rule: Callable[[Node], Node | tuple[Node, ...]],
    table: _Table,
    with_changes: Callable[[Node, dict[str, Any]], Node],
    /,
) -> _T: ...
