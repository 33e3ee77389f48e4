"""Drafts of compiled kernels, with nothing answered but how many CTAs and tiles, against what was written by hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from gpusim import load, predict
from realkernels.everyday import KERNELS, SCENARIOS
from tests.realkernels.compiled import tools

WARPS = {
    "triad": 8, "dot": 8, "layer_norm": 8, "stencil_17": 8, "exponentials": 4, "transpose": 8, "sgemm_64x64": 8,
    "sgemm_128x128": 8, "matmul_16x16": 8,
}  # fmt: skip
BLOCKS = {"transpose": "32x8", "matmul_16x16": "16x16"}


@pytest.fixture(scope="module")
def cubin(tmp_path_factory) -> Path:
    nvcc, _ = tools()
    path = tmp_path_factory.mktemp("compiled") / "kernels.cubin"
    subprocess.run(
        [nvcc, "-std=c++17", "-arch=sm_90a", "-cubin", "-o", str(path), str(KERNELS)], check=True, timeout=120
    )
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", WARPS)
def test_a_draft_predicts_what_the_file_by_hand_does(gpusim, cubin, tmp_path, monkeypatch, name):
    """Within 6 %, without the hits in L2 that the products' files state; their loads, rings and conflicts it finds."""
    monkeypatch.setenv("PATH", str(Path(tools()[1]).parent), prepend=":")
    path = tmp_path / f"{name}.yaml"
    block = ["--block", BLOCKS[name]] if name in BLOCKS else []
    code, _, err = gpusim("count", cubin, "--function", name, "--draft", WARPS[name], *block, "-o", path)
    assert (code, err) == (0, "")
    by_hand = load(SCENARIOS / f"{name}.yaml")
    kernel = by_hand.model.kernel
    shape = {"kernel.grid": kernel.grid, "kernel.tiles_per_cta": kernel.tiles_per_cta}
    alike = {"kernel.shared_bytes": kernel.shared_bytes, "kernel.ctas_per_sm": kernel.ctas_per_sm}
    drafted = load(path, overrides=shape | {field: value for field, value in alike.items() if value is not None})
    assert predict(drafted, trace=False).total_s == pytest.approx(predict(by_hand, trace=False).total_s, rel=0.06)


def test_a_kernel_that_fills_its_ring_before_it_waits_for_the_one_ahead(gpusim, tmp_path, monkeypatch):
    """docs/examples/layers.cu: what stands between its copies and its loop is `before_loop`."""
    nvcc, disassembler = tools()
    monkeypatch.setenv("PATH", str(Path(disassembler).parent), prepend=":")
    made, path = tmp_path / "layers.cubin", tmp_path / "layers.yaml"
    source = Path(__file__).resolve().parents[2] / "docs" / "examples" / "layers.cu"
    subprocess.run(
        [nvcc, "-std=c++17", "-arch=sm_90a", "-cubin", "-o", str(made), str(source)], check=True, timeout=120
    )
    code, _, err = gpusim("count", made, "--function", "layer", "--draft", 8, "-o", path)
    assert (code, err) == (0, "")
    role = yaml.safe_load(path.read_text(encoding="utf-8"))["kernel"]["roles"]["all"]
    words = [step if isinstance(step, str) else next(iter(step)) for step in role["before_loop"]]
    assert words[:3] == ["launch_dependents", "grid_dependency_wait", "compute"]
    assert {"tma_load": {"ring": "input", "ahead": 6}} in role["per_tile"]
