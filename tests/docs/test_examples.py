"""The worked examples run, and say what the files say: no page can drift from its kernel or its scenario."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from gpusim.cli import main
from gpusim.hardware import simulate_kernel
from gpusim.hardware.profile import load_profile
from gpusim.program import Compute, Load, NamedBarrier, Store, check_program, sass
from gpusim.program.sass import parts
from gpusim.scenario import from_data, load, predict
from gpusim.scenario.host.words import HOST_OPS, HOST_STEPS
from gpusim.scenario.kernel.op_schema import OPS, STEPS
from gpusim.scenario.op_reference import HOST_PARTS, PARTS, inserted
from gpusim.scenario.overrides import grid_points
from gpusim.timeline import TimelineBuilder
from gpusim.timeline.metrics import hidden_fraction
from gpusim.validation.recording import list_timelines, load_timeline
from realkernels._harness import probe
from realkernels._harness.disassembler import disassemble
from realkernels._harness.observe import Observed
from realkernels.three_role import TECHNIQUE
from tests.realkernels.compiled import tools
from tests.realkernels.test_probe import Buffers

ROOT = Path(__file__).parents[2]
EXAMPLES, SCENARIOS = ROOT / "docs" / "examples", ROOT / "scenarios"
PROGRAMS = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
PROBE = (ROOT / "docs" / "probe.md").read_text(encoding="utf-8")
HOST_PAGE = (ROOT / "docs" / "host.md").read_text(encoding="utf-8")
OPS_PAGE = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
RMSNORM = ("-DHIDDEN=4096", "-DWARPS=8", "-DSTAGES=3")
ROWS = 6
"""As many as find room in the buffers of the probe's own tests."""
OWN = (
    "own_streaming",
    "own_two_rings",
    "own_rmsnorm",
    "own_rows",
    "own_gather",
    "own_sgemm",
    "own_ping_pong",
    "own_gemm",
    "own_in_place",
)
OWN_HOST = ("own_depth_first", "own_device_buffers")
KERNELS = ("scale.cu", "rmsnorm.cu", "rows.cu", "gather.cu", "sgemm.cu")


def compiled(source: str, name: str, folder: Path, *defines: str) -> list[sass.Instruction]:
    """SASS of a kernel for sm_90, as programs.md says to compile it; skips without the tools."""
    nvcc, _ = tools()
    cubin = folder / "kernel.cubin"
    harness = Path(probe.__file__).parent
    command = [nvcc, "-std=c++17", "-arch=sm_90", "-cubin", f"-I{harness}", "-o", str(cubin), str(EXAMPLES / source)]
    subprocess.run([*command, *defines], capture_output=True, text=True, check=True, timeout=120)
    return sass.parse(disassemble(cubin, name))


def example():
    """docs/examples/probe_own_kernel.py as a module."""
    spec = importlib.util.spec_from_file_location("probe_own_kernel", EXAMPLES / "probe_own_kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fenced(text: str, language: str) -> list[str]:
    """Code blocks of a page."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


class TestPages:
    """docs/programs.md and docs/probe.md."""

    def test_scenarios_on_the_page_are_the_shipped_ones(self):
        """Character by character, and all of them."""
        shipped = [(SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8") for name in OWN]
        assert fenced(PROGRAMS, "yaml") == shipped
        assert fenced(HOST_PAGE, "yaml") == [(SCENARIOS / f"{name}.yaml").read_text("utf-8") for name in OWN_HOST]

    def test_kernels_on_the_page_are_the_shipped_ones(self):
        """The same for CUDA."""
        assert fenced(PROGRAMS, "cuda") == [(EXAMPLES / name).read_text() for name in KERNELS]

    def test_every_file_that_is_named_is_there(self):
        """Relative to the checkout, or to the page."""
        for page in (PROGRAMS, PROBE, OPS_PAGE, HOST_PAGE):
            for name in re.findall(r"(?:scenarios|docs|gpusim|realkernels)/[\w/]+\.(?:yaml|cuh|cu|py|json)", page):
                assert (ROOT / name).exists(), name
            for name in re.findall(r"\]\(([\w./]+)\)", page):
                assert (ROOT / "docs" / name).exists(), name

    def test_every_word_and_field_in_the_table_exists(self):
        """Of the op list."""
        fields = {field for word in OPS.values() for field in word.spec.model_fields}
        table = PROGRAMS[PROGRAMS.index("| SASS |") : PROGRAMS.index("`ilp` is")]
        for row in table.splitlines()[2:]:
            words = row.split("|")[2] if row.count("|") > 2 else ""
            assert set(re.findall(r"`(\w+)`", words)) <= set(OPS), row
        for name in ("ilp", "stride", "scatter", "align", "l2_hit", "loads_in_flight", "setup", "reads"):
            assert name in fields
            assert f"`{name}" in PROGRAMS

    def test_reference_is_that_of_the_models(self):
        """Every field has a meaning; `gpusim schema -o docs/ops.md` writes it anew, and the same for docs/host.md."""
        for page in (OPS_PAGE, HOST_PAGE):
            assert inserted(page) == page
            assert not re.findall(r"^\| `\w+` \| [^|]* \|\s*\|$", page, re.MULTILINE)
        words = [*STEPS.values(), *HOST_STEPS.values()]
        parts = [model for model, _ in (PARTS | HOST_PARTS).values()]
        for model in (*parts, *(entry.spec for entry in words)):
            assert all(field.description for field in model.model_fields.values()), model
        assert all(entry.about for entry in words)

    def test_op_lists_of_the_reference_can_be_read(self):
        """Each in a kernel with a ring of that name."""
        for text in fenced(OPS_PAGE, "yaml"):
            data = {"warps": 4, **yaml.safe_load(text)}
            kernel = {
                "grid": 4,
                "tiles_per_cta": 8,
                "rings": {"input": {"stages": 2, "bytes": 4096}},
                "roles": {"all": data},
            }
            program = from_data({"question": "q", "device": "textbook", "kernel": kernel}).program()
            check_program(program)
            assert list(program.roles[0].body(1))

    def test_wavefronts_of_the_page_are_those_of_the_bench(self):
        """Rows that name the bench, in the order of 4, 8 and 16 bytes a lane."""
        bench = ROOT / "realkernels" / "microbench" / "recorded" / "h200_sxm" / "lds.json"
        rows = json.loads(bench.read_text())["rows"]
        found = 0
        for line in PROGRAMS.splitlines():
            known = re.fullmatch(r"\| .* \| (\d) \| (\d) \| (\d) \| bench `lds`, (?:kind load|sharing (\w+)) \|", line)
            if known:
                kind = {"kind": "sharing", "sharing": known[4]} if known[4] else {"kind": "load"}
                cycles = {r["bits"]: r["cycles"] for r in rows if r["warps"] == 32 and kind.items() <= r.items()}
                assert [round(cycles[bits]) for bits in (32, 64, 128)] == [int(known[n]) for n in (1, 2, 3)]
                found += 1
        assert found == 4

    def test_every_macro_and_event_of_the_probe_is_described(self):
        """And nothing that is not there."""
        header = (Path(probe.__file__).parent / "probe.cuh").read_text()
        defined = set(re.findall(r"#define (PROBE_[A-Z]+)", header)) | set(
            re.findall(r"^  (PROBE_[A-Z_]+) = \d", header, re.MULTILINE)
        )
        described = set(re.findall(r"PROBE_[A-Z_]+", PROBE))
        assert described <= defined
        assert defined - described <= {"PROBE_DONE", "PROBE_ARRIVED"}  # written by the macros and the observer


@pytest.mark.parametrize("name", [*OWN, *OWN_HOST])
def test_every_point_of_an_example_runs(name):
    """No deadlock, no hazard, and faster than nothing at all."""
    path = SCENARIOS / f"{name}.yaml"
    for point in grid_points(load(path).model.sweep):
        assert predict(load(path, overrides=point), trace=False).total_s > 0


def test_two_rings_are_the_technique_that_was_written_later():
    """The kernel spelled out and `three_role` with the same numbers take the same time."""
    scenario = load(SCENARIOS / "own_two_rings.yaml")
    own, written, profile = scenario.program(), TECHNIQUE.build(TECHNIQUE.params()), scenario.profile()
    assert own.rings == written.rings
    padded = replace(own, shared_bytes=written.shared_bytes)
    assert simulate_kernel(padded, profile, trace=False).total_s == pytest.approx(
        simulate_kernel(written, profile, trace=False).total_s, rel=1e-9
    )


class TestHostPage:
    """docs/host.md."""

    def test_every_call_and_every_cost_of_its_table_exists(self):
        """Each step is in it once; each quantity is one of the profile, or the beginning of some."""
        table = HOST_PAGE[HOST_PAGE.index("| CUDA | CuPy") : HOST_PAGE.index("`ndarray.set`")].strip()
        rows = [row.split(" | ") for row in table.splitlines()[2:]]
        steps = [word for row in rows for word in re.findall(r"`(\w+)`", row[2])]
        assert set(HOST_OPS) - set(steps) == {"work"}
        names = load_profile("h200_sxm").quantities
        words = {*HOST_OPS, *(field for entry in HOST_OPS.values() for field in entry.spec.model_fields)}
        for row in rows:
            for cost in re.findall(r"`([a-z_.]+)…?`", row[3]):
                known = f"host.cupy.{cost}"
                assert cost in words or known in names or any(name.startswith(cost) for name in names), cost

    def test_two_buffers_are_the_loop_written_out(self):
        """`#-2` leaves the first two waits out and names the right events; the page's code does the same."""
        scenario = load(SCENARIOS / "own_device_buffers.yaml")
        steps = []
        for i in range(20):
            steps += [{"wait_event": {"event": f"free{i % 2}", "stream": "copy"}}] if i >= 2 else []
            steps += [
                {"h2d": {"bytes": "8 MiB", "stream": "copy"}},
                {"record": {"event": f"ready{i % 2}", "stream": "copy"}},
                {"wait_event": {"event": f"ready{i % 2}", "stream": "work"}},
                {"launch": {"kernel": "digest", "stream": "work"}},
                {"record": {"event": f"free{i % 2}", "stream": "work"}},
            ]
        host = {**scenario.resolved()["host"], "threads": {"main": {"per_chunk": steps}}}
        written = from_data({"question": "q", "device": "h200_sxm", "host": host})
        assert predict(written, trace=False).total_s == predict(scenario, trace=False).total_s

    def test_its_file_of_a_measurement_can_be_compared(self, tmp_path, monkeypatch, capsys):
        """The total is all that it holds."""
        monkeypatch.chdir(tmp_path)
        exec(next(code for code in fenced(HOST_PAGE, "python") if "save_timeline" in code), {})
        with pytest.raises(SystemExit) as stop:
            main(["compare", str(SCENARIOS / "own_device_buffers.yaml"), "--measured", "mine.npz", "--json"])
        assert stop.value.code in (0, None)
        assert abs(json.loads(capsys.readouterr().out)["metrics"]["total_s"]["error"]) < 0.02


@pytest.mark.slow
class TestCounts:
    """What the scenarios state is what the compiler made."""

    def test_streaming(self, tmp_path):
        """One turn of the grid-stride loop."""
        counts = Counter(sass.branch_loops(compiled("scale.cu", "scale", tmp_path))[0].counts)
        (role,) = load(SCENARIOS / "own_streaming.yaml").program().roles
        ops = list(role.body(1))
        mixes = [op.mix for op in ops if isinstance(op, Compute)]
        moved = [op for op in ops if isinstance(op, Load | Store)]
        assert sass.family(counts, "FMUL") == sum(mix.ffma for mix in mixes)
        assert sass.family(counts, "LDG", "STG") == sum(op.bytes / (role.warps * 32 * op.width) for op in moved)
        others = sum(counts.values()) - sass.family(counts, "FMUL", "LDG", "STG")
        assert others == sum(mix.setup + mix.other for mix in mixes) + sum(op.other for op in moved)

    @pytest.mark.parametrize("name", ["gather", "rows"])
    def test_all_of_a_kernel(self, name, tmp_path):
        """Loops and what is outside of them: every instruction is in one of the ops, with its repeats."""
        listed = parts(compiled(f"{name}.cu", name, tmp_path))
        turns = {"rows": {"loop 1": 8, "loop 2": 8}}.get(name, {})
        counts: Counter[str] = Counter()
        for part in listed:
            for opcode, number in sass.count(part.body).items():
                counts[opcode] += number * turns.get(part.name, 1)
        (role,) = load(SCENARIOS / f"own_{name}.yaml").program().roles
        ops = list(role.body(1))
        mixes = [op.mix for op in ops if isinstance(op, Compute)]
        moved = [op for op in ops if isinstance(op, Load | Store)]
        apart = ("FFMA", "FADD", "FMUL", "MUFU", "LDS", "SHFL", "STS", "LDG", "STG", "BAR")
        assert sass.family(counts, "FFMA", "FADD", "FMUL") == sum(mix.ffma for mix in mixes)
        assert sass.family(counts, "LDS", "SHFL") == sum(mix.lds for mix in mixes)
        assert sass.family(counts, "MUFU", "STS") == sum(mix.mufu + mix.sts for mix in mixes)
        whole = [op for op in moved if op.bytes >= role.warps * 32 * op.width]
        issued = sum(op.bytes / (role.warps * 32 * op.width) for op in whole) + len(moved) - len(whole)
        assert sass.family(counts, "LDG", "STG") == issued
        others = sum(counts.values()) - sass.family(counts, *apart)
        said = sum(mix.setup + mix.other + mix.interleaved for mix in mixes) + sum(op.other for op in moved)
        assert others == said

    def test_rmsnorm(self, tmp_path):
        """One row of a consumer; every instruction is in one of the ops."""
        loops = sass.branch_loops(compiled("rmsnorm.cu", "rmsnorm", tmp_path, *RMSNORM))
        counts = next(loop.counts for loop in loops if sass.family(loop.counts, "SHFL"))
        consumer = load(SCENARIOS / "own_rmsnorm.yaml").program().roles[1]
        ops = [op for op in consumer.body(2) if op.tile == 1]
        mixes = [op.mix for op in ops if isinstance(op, Compute)]
        (store,) = [op for op in ops if isinstance(op, Store)]

        def said(field: str, **where: int) -> float:
            return sum(getattr(mix, field) for mix in mixes if all(getattr(mix, k) == v for k, v in where.items()))

        apart = ("FFMA", "FADD", "FMUL", "MUFU", "LDS", "SHFL", "STS", "STG", "SYNCS", "BAR")
        assert sum(counts.values()) == 126
        assert sass.family(counts, "FFMA", "FADD", "FMUL") == said("ffma")
        assert sass.family(counts, "MUFU") == said("mufu")
        assert sass.family(counts, "LDS") == said("lds", lds_bytes=16)
        assert sass.family(counts, "SHFL") == said("lds", lds_bytes=4)
        assert sass.family(counts, "STS") == said("sts")
        assert sass.family(counts, "STG") == store.bytes / (consumer.warps * 32 * store.width)
        assert sum(counts.values()) - sass.family(counts, *apart) == said("other") + said("setup") + store.other
        assert [op.warps for op in ops if isinstance(op, NamedBarrier)] == [8]

    def test_the_probe_costs_nothing_where_it_is_off(self, tmp_path):
        """Both files compile to the same instructions, and the instrumented build compiles."""
        plain = compiled("rmsnorm.cu", "rmsnorm", tmp_path, *RMSNORM)
        assert compiled("probe_own_kernel.cu", "rmsnorm", tmp_path, *RMSNORM) == plain
        assert len(compiled("probe_own_kernel.cu", "rmsnorm", tmp_path, *RMSNORM, "-DPROBE")) > len(plain)


class TestProbeExample:
    """docs/examples/probe_own_kernel.py, without a GPU as far as that goes."""

    def test_help_needs_no_gpu(self):
        """Nor CuPy."""
        script = EXAMPLES / "probe_own_kernel.py"
        run = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=False, cwd=ROOT)
        assert run.returncode == 0, run.stderr
        assert "gpusim compare" in run.stdout

    def test_without_a_gpu_it_says_so(self, capsys, monkeypatch):
        """And writes nothing."""
        module = example()
        monkeypatch.setattr(module, "gpu_status", lambda: (False, "no CUDA device"))
        assert module.main([]) == 2
        assert capsys.readouterr().err == "error: no CUDA device\n"

    def test_what_it_saves_can_be_compared(self, tmp_path, capsys):
        """Stamps as the kernel leaves them, of rows that take as long as predicted: the errors are printed."""
        module = example()
        scenario = SCENARIOS / "own_rmsnorm.yaml"
        predicted = predict(load(scenario))
        recording = probe.Recording(*stamps_of(predicted), 2e9)
        about = {"kernel": "rmsnorm", "device": "NVIDIA H200", "total_s": 1.01 * predicted.total_s, "overhead": 0.02}
        file = tmp_path / "rmsnorm.npz"
        line = module.save(Observed((recording,), 0.02, 1e-5), about, file)
        assert "with time stamps +2.0%" in line
        assert "0 stamps dropped" in line
        assert list(list_timelines(file)) == ["rmsnorm"]
        saved = load_timeline(file, "rmsnorm")
        assert {"sm[0].cta[0].producer", "sm[0].cta[0].consumer", "sm[0].cta[0].input[0]"} <= set(saved.lanes)
        with pytest.raises(SystemExit) as stop:
            main(["compare", str(scenario), "--measured", str(file), "--json"])
        assert stop.value.code in (0, None, 1)
        found = json.loads(capsys.readouterr().out)
        assert found["metrics"]["total_s"]["error"] == pytest.approx(-0.01, abs=1e-3)
        assert found["metrics"]["period_s"]["error"] == pytest.approx(0.0, abs=0.1)
        # In their first rows the CTAs of an SM are still in step and hide less than later.
        first = TimelineBuilder()
        for i in predicted:
            if i.tile < ROWS:
                first.add(i.lane, i.kind, i.start_s, i.end_s)
        assert found["metrics"]["hidden_fraction"]["measured"] == pytest.approx(hidden_fraction(first.build()), abs=0.1)
        assert found["measured"]["timeline"] == "rmsnorm"


def stamps_of(timeline) -> tuple[np.ndarray, np.ndarray, int]:
    """What the instrumented kernel would leave if it ran as predicted: both CTAs of an SM, their first rows."""
    codes = {"wait": probe.WAIT_STAGE, "compute": probe.COMPUTE, "barrier": probe.BARRIER, "store": probe.STORE,
             "load": probe.SETUP}  # fmt: skip
    lanes = {"producer": probe.PRODUCER, "consumer": probe.HEAD}
    lanes |= {f"consumer.warp[{warp}]": lane for warp, lane in zip((2, 3, 4), probe.MORE, strict=False)}
    buffers = Buffers(2)
    for cta in (0, 1):
        for role, lane in lanes.items():
            rows = [i for i in timeline if i.lane == f"sm[0].cta[{cta}].{role}" and 0 <= i.tile < ROWS]
            events = [(i.start_s, _event(role, i.kind, codes), i.tile, max(i.stage, 0)) for i in rows]
            buffers.add(cta, lane, 4, 1000, [*events, (rows[-1].end_s, probe.DONE, -1, 0)])
        ring = f"sm[0].cta[{cta}].input["
        copies = [i for i in timeline if i.lane.startswith(ring) and i.kind == "copy" and 0 <= i.tile < ROWS]
        arrived = sorted((i.end_s, probe.ARRIVED, i.tile, i.stage) for i in copies)
        buffers.add(cta, probe.OBSERVER, 4, 1000, [*arrived, (arrived[-1][0], probe.DONE, -1, 0)])
    return buffers.lanes.view(np.uint8).reshape(-1), buffers.stamps.view(np.uint8).reshape(-1), buffers.stamps.shape[2]


def _event(role: str, kind: str, codes: dict[str, int]) -> int:
    if role == "producer":
        return probe.ISSUE if kind == "issue" else probe.WAIT_FREE
    return codes[kind]
