"""`appyc machine`: prints the parameters of the machine model, which decide between one thread and several."""

from __future__ import annotations

from appyc import options
from appyc.ir.machine_model import Machine
from appyc.runtime import machine_rates
from appyc.runtime.threads import get_num_threads

_KIB = 1 << 10


def describe_machine(*, again: bool = False) -> str:
    """The parameters in use, measured first if that is wanted and has not been done (again: measured anew)."""
    if again and options.machine_is_measured():
        machine_rates.remeasure()
    else:
        machine_rates.ensure_measured()
    return text_of(machine_rates.current(), _origin())


def text_of(found: Machine, origin: str) -> str:
    lines = [
        f"{get_num_threads()} threads; {origin}",
        f"  one operation              {found.scalar:.3g} ns, {found.vector:.3g} ns in lanes of 8 bytes",
        f"  another line of memory     {found.gather_near:.3g} ns in the core's cache, "
        f"{found.gather_far:.3g} ns outside",
        f"  a core's own cache         {found.near_bytes / _KIB:.0f} KiB",
        f"  streams, one thread        {1 / found.byte_near:.3g} GB/s in the cache, "
        f"{1 / found.byte_far:.3g} GB/s outside",
        f"  streams, all threads       {1 / found.byte_shared:.3g} GB/s outside",
        f"  starting threads           {found.fork / 1e3:.3g} us where they wait, "
        f"{found.wake / 1e3:.3g} us where they sleep",
        f"  idle threads wait for      {found.awake / 1e3:.3g} us",
        f"  past the caches            results of loops that touch {found.past_bytes / _KIB / _KIB:.3g} MiB",
        f"  products of matrices       {2 / found.library_product:.3g} GFLOP/s by the library, "
        f"{2 / found.own_product:.3g} by compiled code",
    ]
    return "\n".join(lines)


def _origin() -> str:
    if machine_rates.is_measured():
        return "measured on this machine"
    if not options.machine_is_measured():
        return "numbers of an ordinary machine, since APPYC_MACHINE=default"
    return "numbers of an ordinary machine, since this one could not be measured"
