"""The instructions of a kernel in their order, as ops."""

from __future__ import annotations

import pytest

from gpusim.program.sass import Instruction, parts, steps_of


def told(*lines: str) -> dict[str, list[tuple[str, dict[str, float]]]]:
    """Words and numbers of the steps of each part."""
    found = parts([Instruction.of(line, 16 * number) for number, line in enumerate(lines)])
    return {
        part.name: [(step.word, {row.field: row.number for row in step.rows}) for step in steps_of(part, found)]
        for part in found
    }


def test_loads_are_one_step_and_their_first_use_waits():
    """What stands among them is computed before; what does not need them, before the wait."""
    (whole,) = told(
        "MOV R2, 0x10",
        "LDG.E R4, [R2.64]",
        "IADD3 R2, R2, 0x4, RZ",
        "LDG.E R5, [R2.64]",
        "FADD R8, R9, R10",
        "FFMA R6, R4, R5, R6",
        "STG.E [R2.64], R6",
        "EXIT",
    ).values()
    assert [word for word, _ in whole] == ["compute", "load", "compute", "wait_loads", "compute", "store", "compute"]
    assert whole[0][1]["other (setup where nothing hides it)"] == 2
    assert whole[1][1] == {"bytes (width: 4)": 2}
    assert (whole[2][1]["ffma"], whole[4][1]["ffma"]) == (1, 1)


def test_barriers_and_other_accesses_part_what_is_computed():
    """Each stands where it is."""
    (whole,) = told(
        "STS [R1], R0", "BAR.SYNC.DEFER_BLOCKING 0x0", "LDS R4, [R1]", "FFMA R6, R4, R5, R6", "STG.E [R2.64], R6"
    ).values()
    assert [word for word, _ in whole] == ["compute", "sync_threads", "compute", "store"]
    assert whole[2][1]["lds (lds_bytes: 4)"] == 1


def test_a_loop_stands_by_its_name_where_it_is():
    """And has steps of its own; loads it leaves to its next turn are ahead of their use."""
    found = told(
        "MOV R1, 0x0",
        "FFMA R6, R4, R5, R6",
        *["FFMA R8, R9, R10, R8"] * 3,
        "LDS R4, [R1]",
        *["FFMA R8, R9, R10, R8"] * 5,
        "@P0 BRA 0x10",
        "STG.E [R2.64], R6",
        "EXIT",
    )
    assert [word for word, _ in found["outside loops"]] == ["compute", "loop 1", "store", "compute"]
    ((word, numbers),) = found["loop 1"]
    assert (word, numbers["loads_in_flight"], numbers["load_to_use"]) == ("compute", 1.0, 6.0)


def test_loads_that_are_not_needed_soon_are_still_under_way():
    """R4 is needed before the next load is asked for, R5 behind it: two steps, and only the first is waited for."""
    (whole,) = told(
        "LDG.E R4, [R2.64]",
        "LDG.E R5, [R2.64+0x4]",
        "FADD R8, R4, R8",
        "LDG.E R7, [R2.64+0x8]",
        "FADD R8, R5, R8",
        "FADD R8, R7, R8",
        "EXIT",
    ).values()
    assert [word for word, _ in whole] == [
        "load", "load", "wait_loads", "compute", "load", "wait_loads", "compute",
    ]  # fmt: skip
    assert [numbers.get("pending") for word, numbers in whole if word == "wait_loads"] == [1, None]


def test_what_a_turn_leaves_to_the_next_is_waited_for_there():
    """A load ahead: the wait stands before the first use, in front of the load."""
    found = told("FADD R8, R4, R8", "LDG.E R4, [R2.64]", "BAR.SYNC.DEFER_BLOCKING 0x0", "@P0 BRA 0x0", "EXIT")
    assert [word for word, _ in found["loop 1"]] == ["wait_loads", "compute", "load", "sync_threads", "compute"]


def test_a_step_sees_who_uses_what_it_loads_from_shared_memory():
    """Behind the branch, at the beginning of the next turn."""
    found = told("FADD R8, R4, R8", "BAR.SYNC.DEFER_BLOCKING 0x0", "LDS R4, [R1]", "@P0 BRA 0x0", "EXIT")
    assert found["loop 1"][2][1]["load_to_use"] == 1.0


def test_groups_of_bulk_stores_are_waited_for_by_a_word_of_their_own():
    """What has been committed last says which; where nothing is, what the rest of the kernel commits."""
    copies = told("LDGDEPBAR", "DEPBAR.LE SB0, 0x1")
    bulk = told("UTMACMDFLUSH", "DEPBAR.LE SB0, 0x2", "@P0 BRA 0x0", "DEPBAR.LE SB0, 0x0", "EXIT")
    assert copies["whole"][-1] == ("wait_group", {"pending": 1})
    assert ("bulk_wait", {"pending": 2}) in bulk["loop 1"]
    assert ("bulk_wait", {"pending": 0}) in bulk["outside loops"]


def test_what_is_loaded_with_two_widths_is_two_ops():
    """So two may be pending, whatever else the opcodes say."""
    (whole,) = told(
        "LDG.E R4, [R2.64]",
        "LDG.E.64 R6, [R2.64]",
        "LDG.E.CONSTANT R9, [R2.64]",
        "LDG.E R10, [R2.64]",
        "FADD R8, R4, R8",
        "STG.E [R2.64], R8",
        "FFMA R8, R6, R9, R10",
    ).values()
    assert [numbers["pending"] for word, numbers in whole if word == "wait_loads" and numbers] == [2]


def test_barriers_and_groups_have_their_numbers():
    """Where the instruction names them; a register that holds the number says nothing."""
    found = told(
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "BAR.SYNC.DEFER_BLOCKING 0x2, 0x80",
        "BAR.ARV 0x3, 0x100",
        "BAR.SYNC.DEFER_BLOCKING R3, 0x100",
        "DEPBAR.LE SB0, 0x1",
    )["whole"]
    assert found == [
        ("sync_threads", {}),
        ("named_barrier", {"id": 2, "warps": 4}),
        ("named_barrier", {"id": 3, "warps": 8, "wait: false": 1}),
        ("sync_threads or named_barrier", {"id, warps": 1}),
        ("wait_group", {"pending": 1}),
    ]


def test_loads_that_are_waited_for_apart_are_steps_of_their_own():
    """R4 is needed before R12 is asked for, R5 behind that: what spares two loads must not spare R4."""
    (whole,) = told(
        "LDG.E R4, [R2.64]",
        "LDG.E R5, [R2.64+0x4]",
        "STG.E [R2.64], R0",
        "LDG.E R7, [R2.64+0x8]",
        "FADD R8, R4, R8",
        "LDG.E R12, [R2.64+0xc]",
        "FFMA R8, R5, R7, R8",
        "FADD R8, R12, R8",
        "EXIT",
    ).values()
    loads = [numbers for word, numbers in whole if word in ("load", "wait_loads")]
    one = {"bytes (width: 4)": 1}
    assert loads == [one, one, one, {"pending": 2}, one, {}]


def test_loads_before_a_loop_are_waited_for_with_its_own():
    """R4 is needed in the loop, behind a load of its own; without that load the wait stands in front of the loop."""
    loop = ["LDG.E R5, [R2.64]", "FFMA R6, R4, R5, R6", "@P0 BRA 0x10", "STG.E [R2.64], R6", "EXIT"]
    found = told("LDG.E R4, [R2.64]", *loop)
    assert [word for word, _ in found["outside loops"]] == ["load", "loop 1", "store", "compute"]
    assert [word for word, _ in found["loop 1"]] == ["load", "wait_loads", "compute"]
    alone = told("LDG.E R4, [R2.64]", "IADD3 R2, R2, 0x4, RZ", *loop[1:])
    assert [word for word, _ in alone["outside loops"]] == ["load", "wait_loads", "loop 1", "store", "compute"]


def test_what_sets_a_barrier_up_is_an_instruction_like_others():
    """Waits and arrivals are ops."""
    (whole,) = told(
        "SYNCS.EXCH.64 URZ, [UR8], UR6",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R4+URZ], R3",
        "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R4+URZ], RZ",
    ).values()
    assert [word for word, _ in whole] == [
        "compute", "wait, acquire or mbarrier_wait", "release, producer_commit or arrive",
    ]  # fmt: skip


def test_the_shuffles_of_a_sum_are_a_step_apart_from_loads():
    """Before the loads and behind them; one or two among loads, which hand a number on, stay."""
    shuffles = ["SHFL.BFLY PT, R6, R4, 0x1, 0x1f", "FADD R4, R4, R6"] * 5
    loads = ["LDS R4, [R1]", "SHFL.IDX PT, R7, R3, 0x1, 0x1f", "LDS R5, [R1+0x4]", "FFMA R4, R5, R7, R4"]
    (whole,) = told(*loads, *shuffles, *loads, "EXIT").values()
    assert [word for word, _ in whole] == ["compute"] * 3
    counts = [
        (numbers.get("lds (lds_bytes: 4)", 0), numbers["lds (lds_bytes: 4, reads: false)"]) for _, numbers in whole
    ]
    assert counts == [(2, 1), (0, 5), (2, 1)]
    assert [numbers["loads_in_flight"] for _, numbers in whole] == [2, 1, 2]


def test_a_load_of_one_address_has_a_field_of_its_own():
    """All lanes want the same words."""
    (whole,) = told("LDS.128 R4, [UR4+0x70]", "LDS.128 R8, [R1+UR4]", "EXIT").values()
    ((_, numbers),) = whole
    assert numbers["lds (lds_bytes: 16, one address)"] == numbers["lds (lds_bytes: 16)"] == 1


@pytest.mark.parametrize(("opcode", "word"), [
    ("UBLKCP.S.G", "tma_load"), ("UBLKCP.G.S", "tma_store"), ("UBLKCP", "tma_load or tma_store"),
])  # fmt: skip
def test_a_bulk_copy_says_where_it_goes(opcode, word):
    """To shared memory or from it; where a listing leaves that out both are possible."""
    (whole,) = told("MOV R2, 0x10", f"{opcode} [UR4], [UR8], UR10").values()
    assert [found for found, _ in whole] == ["compute", word]


def test_a_bulk_copy_to_all_ctas_of_a_cluster_says_so():
    """By the end of its opcode; and the wait of a barrier of the cluster is that barrier."""
    (whole,) = told("UBLKCP.S.G.MULTICAST [UR4], [UR8], UR10", "UCGABAR_ARV", "UCGABAR_WAIT").values()
    words = [word for word, _ in whole]
    assert (words[0], words[-1], whole[0][1]) == ("tma_load", "cluster_sync", {"multicast": 1.0})


def test_a_load_that_only_the_next_turn_waits_for_is_late():
    """The last one into its registers: what the first brings is needed at once."""
    lines = (
        "FADD R8, R4, R8",
        "LDG.E R4, [R2.64]",
        "FADD R8, R4, R8",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "LDG.E R4, [R2.64+0x4]",
        "@P0 BRA 0x0",
        "EXIT",
    )
    assert late(*lines) == [(frozenset({4}), False), (frozenset({4}), True)]


def late(*lines: str) -> list[tuple[frozenset[int], bool]]:
    """Registers of the load steps of a loop, and whether it waits for them a turn later."""
    found = parts([Instruction.of(line, 16 * number) for number, line in enumerate(lines)])
    return [(step.loads, step.late) for step in steps_of(found[0], found) if step.word == "load"]


def test_what_is_computed_between_two_wgmma_is_work_and_descriptors_are_none():
    """A sum over lanes that the compiler has put there stands in front of both."""
    product = "HGMMA.64x128x16.F32 R88, R152, gdesc[UR8].tnspB, R88"
    between = (
        "UIADD3.64 UR10, UR6, 0x80, URZ",
        "MOV R22, R61",
        "SHFL.BFLY PT, R37, R42, 0x2, 0x1f",
        "FADD R42, R42, R37",
    )
    found = told("FADD R42, R39, R42", product, *between, f"{product}, gsb0", "@P0 BRA 0x0", "EXIT")["loop 1"]
    assert [word for word, _ in found] == ["compute", "wgmma", "compute"]
    assert (found[0][1]["ffma"], found[0][1]["lds (lds_bytes: 4, reads: false)"]) == (2, 1)
    assert not {"other", "interleaved"} & set(found[0][1])
    assert found[1][1] == {"count (n: 128, k: 16, a: registers)": 2}


def test_the_end_of_a_group_parts_no_loads_from_their_products():
    """The compiler has put it in between; behind an access of another kind it stays where it is."""
    copy, load = "LDGSTS.E.BYPASS.128 [R9], [R2.64]", "LDSM.16.M88.4 R84, [R81]"
    product = "HMMA.16816.F32 R68, R84, R86, R68"
    found = told(copy, load, "LDGDEPBAR", product, "DEPBAR.LE SB0, 0x1", "@P0 BRA 0x0", "EXIT")["loop 1"]
    assert [word for word, _ in found] == ["cp_async", "commit_group", "compute", "wait_group", "compute"]
    assert found[2][1]["mma"] == found[2][1]["fragments"] == 1
    late = told(copy, "BAR.SYNC.DEFER_BLOCKING 0x0", load, "LDGDEPBAR", product, "@P0 BRA 0x0", "EXIT")["loop 1"]
    assert [word for word, _ in late] == ["cp_async", "sync_threads", "compute", "commit_group", "compute"]
