"""CUDA source to a launchable kernel, through NVRTC, with a cubin cache on disk.

NVRTC is called directly rather than through ``cupy.RawModule(code=...)`` for three reasons: CuPy adds
an architecture flag of its own, which collides with ``sm_90a``; the cubin is needed for disassembly;
and compilation can be spread over threads (NVRTC releases the interpreter lock) without a device.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from gpusim.files import write_atomically
from gpusim.program import sass
from realkernels._harness.disassembler import disassemble

__all__ = ["HERE", "CompileError", "CompiledKernel", "KernelSpec", "compile_kernel", "compile_many", "source_hash"]

HERE = Path(__file__).resolve().parent
DEFAULT_SHARED_LIMIT = 48 * 1024
"""A kernel gets more dynamic shared memory than this only after raising its own limit."""

_ARCHITECTURE_SPECIFIC = {(9, 0), (10, 0)}
_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class CompileError(Exception):
    """NVRTC rejected a kernel; the message holds the source, the defines and the compiler's log."""


@dataclass(frozen=True)
class KernelSpec:
    """What to compile: one function of one source file under one set of defines."""

    source: Path
    name: str
    defines: Mapping[str, object] = field(default_factory=dict)
    include_dirs: Sequence[Path] = ()


class CompiledKernel:
    """One kernel function of a cubin; loaded to the device on first use."""

    def __init__(self, spec: KernelSpec, cubin: Path) -> None:
        self.spec = spec
        self.cubin = cubin

    @cached_property
    def _kernel(self) -> Any:
        import cupy

        return cupy.RawModule(path=str(self.cubin)).get_function(self.spec.name)

    def launch(self, grid, block, args: tuple, shared_bytes: int = 0, stream: Any = None) -> None:
        """Enqueue the kernel. Scalars must be numpy scalars of the kernel's own types."""
        self._allow_shared(shared_bytes)
        shape = _shape(grid), _shape(block)
        if stream is None:
            self._kernel(*shape, args, shared_mem=shared_bytes)
        else:
            with stream:
                self._kernel(*shape, args, shared_mem=shared_bytes)

    def max_active_ctas(self, block, shared_bytes: int = 0) -> int:
        """CTAs of this shape that fit on one SM together, by the driver's own count."""
        from cupy.cuda import driver

        self._allow_shared(shared_bytes)
        threads = 1
        for extent in _shape(block):
            threads *= extent
        return driver.occupancyMaxActiveBlocksPerMultiprocessor(self._kernel.kernel.ptr, threads, shared_bytes)

    @property
    def registers(self) -> int:
        return self._kernel.num_regs

    @property
    def local_bytes(self) -> int:
        """Spilled or indexed memory per thread; a tuned kernel has none."""
        return self._kernel.local_size_bytes

    @property
    def static_shared_bytes(self) -> int:
        return self._kernel.shared_size_bytes

    def sass(self) -> str | None:
        """Disassembly of this kernel, or None where no disassembler is installed."""
        return disassemble(self.cubin, self.spec.name)

    def sass_loops(self) -> list[sass.Loop] | None:
        """Loops of the kernel, innermost first, or None without a disassembler."""
        text = self.sass()
        return None if text is None else sass.branch_loops(sass.parse(text))

    def prepared(self, shared_bytes: int = 0) -> Any:
        """The bare kernel, allowed so much dynamic shared memory."""
        self._allow_shared(shared_bytes)
        return self._kernel

    def _allow_shared(self, shared_bytes: int) -> None:
        # The limit without opt-in holds for static and dynamic shared memory together. It is set every time:
        # CuPy gives equal binaries one function, and another object may have set it to less.
        if shared_bytes + self.static_shared_bytes > DEFAULT_SHARED_LIMIT:
            self._kernel.max_dynamic_shared_size_bytes = shared_bytes


def compile_kernel(
    source: Path,
    name: str,
    defines: Mapping[str, object] | None = None,
    *,
    include_dirs: Iterable[Path] = (),
    architecture: str | None = None,
) -> CompiledKernel:
    """Compile one kernel for the attached device, or for ``architecture`` ("sm_90a") if given.

    Raise a CompileError with the compiler's log if the source does not compile.
    """
    spec = KernelSpec(Path(source), name, dict(defines or {}), tuple(include_dirs))
    return _compile(spec, architecture or device_architecture())


def compile_many(
    specs: Iterable[KernelSpec], *, workers: int | None = None, architecture: str | None = None
) -> list[CompiledKernel | CompileError]:
    """Compile in parallel; a kernel that fails is returned as its error, in its own place."""
    target = architecture or device_architecture()

    def attempt(spec: KernelSpec) -> CompiledKernel | CompileError:
        try:
            return _compile(spec, target)
        except CompileError as error:
            return error

    _open_nvrtc(target)
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        return list(pool.map(attempt, specs))


def device_architecture() -> str:
    """NVRTC name of the attached device, with the suffix that unlocks its own instructions."""
    import cupy

    digits = cupy.cuda.Device().compute_capability
    capability = int(digits[:-1]), int(digits[-1])
    return f"sm_{digits}{'a' if capability in _ARCHITECTURE_SPECIFIC else ''}"


def source_hash(*paths: Path) -> str:
    """sha256 over files and everything they include with quotes, so that a recording knows when it is stale.

    For microbenchmarks, which are several sources and a module of Python. It looks for includes where the compiler
    does, in the harness's folder too, and begins anew with every path: a header that two of them include counts
    twice. `gpusim.validation.recording.source_hash`, of the one source of a technique, looks only beside the file that
    includes. Recordings hold what either of them gives, so neither can change to be the other.
    """
    digest = hashlib.sha256()
    for path in paths:
        for content in _with_includes(Path(path), (Path(path).parent, HERE)):
            digest.update(content)
    return digest.hexdigest()


def _compile(spec: KernelSpec, architecture: str) -> CompiledKernel:
    from cupy.cuda import nvrtc

    folders = (spec.source.resolve().parent, HERE, *spec.include_dirs)
    options = (
        "-std=c++17",
        "-default-device",  # lambdas with parameters of any type have no annotation of their own
        f"--gpu-architecture={architecture}",
        *(f"-I{folder}" for folder in folders),
        *(f"-D{key}={_define(value)}" for key, value in sorted(spec.defines.items())),
    )
    digest = hashlib.sha256(repr((nvrtc.getVersion(), options)).encode())
    for content in _with_includes(spec.source, folders):
        digest.update(content)
    cubin = cache_folder() / f"{spec.source.stem}-{digest.hexdigest()[:32]}.cubin"
    if not cubin.exists():
        write_atomically(cubin, _run_nvrtc(spec, options))
    return CompiledKernel(spec, cubin)


@cache
def _open_nvrtc(architecture: str) -> None:
    """Compile nothing, once: NVRTC opens its built-in library on first use, and not safely from several threads."""
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram('extern "C" __global__ void nothing() {}', "nothing.cu", (), ())
    nvrtc.compileProgram(program, (f"--gpu-architecture={architecture}",))
    nvrtc.destroyProgram(program)


def _run_nvrtc(spec: KernelSpec, options: tuple[str, ...]) -> bytes:
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram(spec.source.read_text(), spec.source.name, (), ())
    try:
        nvrtc.compileProgram(program, options)
        cubin = nvrtc.getCUBIN(program)
        # CuPy drops the last byte, as if this were text. The driver does not mind, a disassembler does.
        return cubin + b"\0" * (-len(cubin) % 8)
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program)
        raise CompileError(f"{spec.source.name} {spec.name} {dict(spec.defines)}: {error}\n{log}") from error
    finally:
        nvrtc.destroyProgram(program)


def cache_folder() -> Path:
    """Where cubins are kept: $GPUSIM_CACHE_DIR, else the user's cache folder."""
    root = os.environ.get("GPUSIM_CACHE_DIR")
    folder = Path(root) if root else Path.home() / ".cache" / "gpusim"
    folder = folder / "cubin"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _with_includes(source: Path, folders: Sequence[Path]) -> list[bytes]:
    """Contents of a source file and, once each, of the quoted includes found under ``folders``."""
    contents, queue, seen = [], [source.resolve()], set()
    while queue:
        path = queue.pop(0)
        if path in seen:
            continue
        seen.add(path)
        content = path.read_bytes()
        contents.append(content)
        for match in _INCLUDE.findall(content):
            candidates = (folder / match.decode() for folder in (path.parent, *folders))
            found = next((c for c in candidates if c.exists()), None)
            if found is not None:
                queue.append(found.resolve())
    return contents


def _define(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _shape(extent) -> tuple[int, ...]:
    return tuple(int(e) for e in extent) if isinstance(extent, (tuple, list)) else (int(extent),)
