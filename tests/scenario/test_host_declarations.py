"""Streams, kernels, pools and slots of a host program: what is there undeclared, and what is declared wrongly."""

from __future__ import annotations

import pytest

from gpusim.errors import ProgramError, ScenarioError
from gpusim.scenario import loads, predict
from tests.scenario.host_programs import MIB, calls, looped, scenario


class TestWhatIsThere:
    """What CUDA has without being asked."""

    def test_the_default_pool(self):
        """Declared or not: the same."""
        steps = "{malloc_async: {buffer: 'b#', bytes: 1 MiB}}, {free_async: 'b#'}, sync_stream"
        totals = {predict(scenario(looped(steps, more=more))).total_s for more in ("", "  pools: {default: {}}\n")}
        assert len(totals) == 1
        with pytest.raises(ScenarioError, match=r"there is no pool 'defalt' .allowed: default.*'default'"):
            scenario(looped("{malloc_async: {buffer: 'b#', bytes: 4, pool: defalt}}"))

    @pytest.mark.parametrize(("size", "fits"), [("30 MiB", True), ("34 MiB", False)])
    def test_a_limit_is_rounded_up_to_what_the_pool_takes_at_a_time(self, size, fits):
        """On an H100 a pool of at most 8 MiB holds 32 MiB, and not one byte more."""
        step = f"{{malloc_async: {{buffer: 'b#', bytes: {size}, pool: small}}}}, {{free_async: 'b#'}}"
        text = looped(step, more="  pools: {small: {limit: 8 MiB}}\n")
        program = loads(f"question: Why?\ndevice: h200_sxm\nhost:\n{text}")
        if fits:
            assert predict(program).total_s > 0.0
        else:
            allowed = r"host\.pools\.small: pool 'small' has no room .* 33,554,432 are allowed"
            with pytest.raises(ProgramError, match=allowed):
                predict(program)

    def test_the_legacy_stream_of_cudamemcpy(self):
        """It waits for blocking streams, and takes as long as if it were declared."""
        streams = ("{a: {kind: blocking}}", "{a: {kind: blocking}, old: {kind: legacy}}")
        steps = "{h2d: {bytes: 1 MiB, stream: a}}, {memcpy: 1 MiB}"
        totals = [predict(scenario(looped(steps, more=f"  streams: {one}\n"))).total_s for one in streams]
        assert totals[0] == totals[1] == pytest.approx(6 * MIB / 32e9)

    @pytest.mark.parametrize(
        ("host", "message"),
        [
            ("  kernels: {k: {blocks: 8}}\n", "kernels.k: does not say what it costs; say duration, or bytes and flop"),
            ("  kernels: {k: {duration: 1 us, flop: 4}}\n", "kernels.k: says its duration and its work"),
            ("  kernels: {k: {bytes: 4, writes: 8}}\n", "kernels.k: writes is a part of bytes"),
            ("  streams: {a: {kind: nonblocking}}\n", "streams.a.kind: .*Did you mean 'non_blocking'"),
            ("  streams: {a: {prio: -1}}\n", "streams.a.prio: unknown key .*Did you mean 'priority'"),
            ("  streams: [a, b]\n", r"streams: expected their number \(1 to 512\), or a mapping by name"),
            ("  streams: 0\n", r"streams: expected their number"),
            ("  pools: {p: {kind: cache}}\n", "pools.p.kind: .*Did you mean 'caching'"),
        ],
    )
    def test_declarations_are_explained(self, host, message):
        """With the word that was perhaps meant."""
        with pytest.raises(ScenarioError, match=message):
            scenario(looped("{h2d: 4}", more=host))

    def test_one_stream_alone_is_a_list(self):
        """And how it is written."""
        with pytest.raises(ScenarioError, match=r"deal: expected a list, got 's0' .allowed: \[s0\] for a list of one"):
            scenario("  threads: {main: {deal: s0, per_chunk: [{h2d: 4}]}}\n")

    def test_slots_are_many(self):
        """In the message."""
        with pytest.raises(ScenarioError, match="there are no slots 'nope'"):
            scenario(looped("{acquire: nope}"))


def test_a_pool_that_is_forgotten_at_the_allocation_is_told():
    """All would come from another pool, silently."""
    pool = "  pools: {mine: {kind: caching}}\n"
    steps = "{malloc_async: {buffer: 'a#', bytes: 1 MiB%s}}, {free_async: 'a#'}"
    with pytest.raises(ScenarioError, match=r"pools\.mine: is a pool that nothing takes memory from"):
        calls(steps % "", more=pool)
    assert calls(steps % ", pool: mine", more=pool)


def test_the_default_stream_has_to_be_declared():
    """By whatever name; the message says how."""
    with pytest.raises(ScenarioError, match=r"there is no stream 'default' .*declared as default: \{kind: legacy\}"):
        calls("{h2d: {bytes: 4, stream: default}}")
    assert calls("{h2d: {bytes: 4, stream: default}}", more="  streams: {default: {kind: legacy}}\n")
