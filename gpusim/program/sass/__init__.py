"""What ops must state, read from a kernel's machine code."""

from gpusim.program.sass.alone import cycles_alone, gaps_alone
from gpusim.program.sass.atomics import retries
from gpusim.program.sass.bases import with_bases
from gpusim.program.sass.blocks import with_blocks
from gpusim.program.sass.cluster_addresses import with_cluster_addresses
from gpusim.program.sass.dispatch import Stalls, dispatch_stalls
from gpusim.program.sass.fragments import fragment_runs
from gpusim.program.sass.lanes import with_addresses
from gpusim.program.sass.listing import (
    Instruction,
    Loop,
    branch_loops,
    count,
    family,
    functions,
    parse,
)
from gpusim.program.sass.loops import Part, parts
from gpusim.program.sass.out_of_line import in_place
from gpusim.program.sass.roles import RoleParts, by_role
from gpusim.program.sass.shared_loads import SharedLoads, loads_ahead
from gpusim.program.sass.single_ops import MULTICAST, NO_WAIT
from gpusim.program.sass.steps import Step, steps_of
from gpusim.program.sass.structures import with_structures
from gpusim.program.sass.thread_numbers import MOST_THREADS
from gpusim.program.sass.threads import ALL_THREADS, warps_in, with_threads
from gpusim.program.sass.unmodelled import UNMODELLED
from gpusim.program.sass.words import LEFT_TO_WRITE, LOADS, NO_MODEL, Stated, sets_up_mbarrier, stated

__all__ = [
    "ALL_THREADS",
    "LEFT_TO_WRITE",
    "LOADS",
    "MOST_THREADS",
    "MULTICAST",
    "NO_MODEL",
    "NO_WAIT",
    "UNMODELLED",
    "Instruction",
    "Loop",
    "Part",
    "RoleParts",
    "SharedLoads",
    "Stalls",
    "Stated",
    "Step",
    "branch_loops",
    "by_role",
    "count",
    "cycles_alone",
    "dispatch_stalls",
    "family",
    "fragment_runs",
    "functions",
    "gaps_alone",
    "in_place",
    "loads_ahead",
    "parse",
    "parts",
    "retries",
    "sets_up_mbarrier",
    "stated",
    "steps_of",
    "warps_in",
    "with_addresses",
    "with_bases",
    "with_blocks",
    "with_cluster_addresses",
    "with_structures",
    "with_threads",
]
