"""Numbers of fault sites: one for each exception, message and location."""

from __future__ import annotations

from appyc.errors import Loc
from appyc.ir.fault_words import FaultSites, index_error


def test_equal_sites_share_a_number():
    sites = FaultSites()
    loc, other = Loc("program.py", 3, 4), Loc("program.py", 5, 4)
    first = sites.number(index_error("a", 0, loc))
    assert sites.number(index_error("a", 0, loc)) == first
    assert sites.number(index_error("a", 1, loc)) != first
    assert sites.number(index_error("a", 0, other)) != first
    assert sites.add("ValueError", "x", loc) not in (first, None)
    table = sites.table()
    assert len(table) == 4
    assert table[first].message == "index {value} is out of bounds for axis 0 of 'a' with size {extent}"
    assert [site.line for site in table] == [3, 3, 5, 3]
