"""Programs that make no sense whatever the time, or do not fit the device."""

from __future__ import annotations

import pytest

from gpusim.errors import DoesNotFit, ProgramError
from gpusim.program import (
    Compute,
    KernelProgram,
    Load,
    Mix,
    NamedBarrier,
    Ring,
    Role,
    SetMaxNReg,
    TmaLoad,
    Wait,
)
from tests.negative.pipelines import (
    SIZE,
    run,
)
from tests.tile_programs import RING, kernel


class TestProgram:
    """What makes no sense whatever the time: named with kernel, role and op."""

    @pytest.mark.parametrize(("ops", "fields", "message"), [
        ([TmaLoad("inputs", SIZE, tile=0)], {}, "no ring 'inputs' .*Did you mean 'input'"),
        ([Compute(Mix(ffma=1), reads="nothing")], {}, "no ring 'nothing'"),
        ([TmaLoad(RING, 10 * SIZE, tile=0)], {}, "40960 bytes do not fit a stage of ring 'input' .4096 bytes"),
        ([Wait("ready", 0)], {}, "no barrier 'ready' .there is: none"),
        ([Load(32644)], {}, "32,644 bytes at once into the registers of 1 warp, which hold at most 32,640 .255 of 4"),
        ([Load(65284, warps=2)], {"warps": 4}, "65,284 bytes at once .* of 2 warps, which hold at most 65,280"),
        ([SetMaxNReg(40)], {}, r"setmaxnreg .worker 40. asks for 1280 registers per CTA, launched were 1024 .32 per"),
        ([NamedBarrier(3, 0)], {}, "NamedBarrier of tile -1: 0 warps are to meet at named barrier 3; expected"),
        ([], {"grid": 0}, "grid 0"),
        ([], {"warps": 0}, "no warps"),
    ])  # fmt: skip
    def test_message(self, ops, fields, message):
        """One line that says where, what, and what there is."""
        warps, grid = fields.get("warps", 1), fields.get("grid", 1)
        roles = (Role("worker", warps, lambda _tiles: iter(ops)),)
        program = KernelProgram("k", grid, 1, roles, rings=(Ring(RING, 2, SIZE),))
        with pytest.raises(ProgramError, match=message):
            run(program)

    def test_registers_are_only_moved(self):
        """What one warpgroup gives away another may take, and no more."""

        def moved(registers: int):
            return lambda _tiles: iter([SetMaxNReg(registers), Compute(Mix(ffma=8))])

        def split(give: int, take: int) -> KernelProgram:
            return kernel(Role("a", 4, moved(give)), Role("b", 4, moved(take)), registers=128)

        assert run(split(24, 232)).total_s > 0
        with pytest.raises(ProgramError, match=r"a 24, b 240. asks for 33792 .* launched were 32768 .*give more away"):
            run(split(24, 240))

    def test_role_that_never_does_anything(self):
        """Warps that only exist have a name of their own."""
        program = kernel(
            Role("worker", 1, lambda _tiles: iter([Compute(Mix(ffma=1))])), Role("lazy", 2, lambda _tiles: iter([]))
        )
        with pytest.raises(ProgramError, match=r"role 'lazy' never does anything; .*idle_warps"):
            run(program)

    def test_tiles_for_another_grid(self):
        """One number for all CTAs, or one for each."""
        program = KernelProgram("k", 3, (1, 2), (Role("worker", 1, lambda _tiles: iter([Compute(Mix(ffma=1))])),))
        with pytest.raises(ProgramError, match="lists 2 CTAs, the grid has 3"):
            run(program)


class TestDoesNotFit:
    """Not even one CTA: demand, bound, unit, and what to change."""

    @pytest.mark.parametrize(("fields", "message"), [
        ({"shared_bytes": 240 * 1024}, "test needs 240 KiB of shared memory per CTA, textbook allows 227 KiB; use"),
        ({"registers": 300}, "test needs 300 registers per thread, textbook allows 255 registers; keep fewer values"),
        ({"registers": 128, "warps": 20}, "test needs 81,920 registers per CTA, textbook allows 65,536 registers;"),
        ({"warps": 33}, "test needs 1,056 threads per CTA, textbook allows 1,024 threads; use fewer threads"),
    ])  # fmt: skip
    def test_message(self, fields, message):
        """Whose demand it is stands first."""
        warps = fields.pop("warps", 1)
        with pytest.raises(DoesNotFit) as caught:
            run(kernel(Role("worker", warps, lambda _tiles: iter([Compute(Mix(ffma=1))])), **fields))
        assert message in str(caught.value)
        assert caught.value.demand > caught.value.bound
        assert caught.value.lever
