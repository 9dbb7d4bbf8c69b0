"""Kernels by what they are built from: built at once by many processes, then found in the cache that these share."""
import concurrent.futures
import multiprocessing
import sys
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
import tilewright  # noqa: E402


class Spec(NamedTuple):
    """What a kernel is built from. `name`: a variant, or `program:` and a text of programs/; `d`, `dv`: head dims; inner extents of a program
    that has no `e` are `d` alone, and of one that has no `d` are `dv` alone."""
    name: str
    dtype: str
    d: int = 0
    dv: int = 0

    def __str__(self):
        return f"{self.name} {self.dtype} D {self.d}" + (f" Dv {self.dv}" if self.dv != self.d else "")


def program_text(spec):
    text = (HERE / "programs" / (spec.name.removeprefix("program:") + ".txt")).read_text()
    return text.replace("bf16", spec.dtype)


def build(library, spec, target, options=None):
    if not spec.name.startswith("program:"):
        return library.build(spec.name, spec.dtype, spec.d, spec.dv, target=target, options=options)
    extents = " ".join(f"{axis}={length}" for axis, length in (("d", spec.d), ("e", spec.dv)) if length)
    return library.build_program(program_text(spec), extents, target=target, options=options)


def _build_here(task):
    path, spec, target, options = task
    start = time.perf_counter()
    try:
        build(tilewright.Library(path), spec, target, options)
        error = None
    except RuntimeError as failure:
        error = str(failure)
    return spec, time.perf_counter() - start, error


class Kernels:
    """All kernels of a run. The processes that build and this one have the same TILEWRIGHT_CACHE."""

    def __init__(self, path, target, options=None):
        self.path, self.target, self.options, self.library = path, target, options, tilewright.Library(path)
        self.seconds, self.errors, self.loaded = {}, {}, {}

    def build_all(self, specs, jobs, patience=240):
        """Builds each spec once; what fails is in `errors`. Large head dims take longest, so they come first."""
        specs = sorted(set(specs), key=lambda s: -(s.d + s.dv))
        context = multiprocessing.get_context("spawn")
        pool = concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context)
        futures = {pool.submit(_build_here, (self.path, spec, self.target, self.options)): spec for spec in specs}
        try:
            for future in concurrent.futures.as_completed(futures, timeout=patience):
                spec, seconds, error = future.result()
                self.seconds[spec] = seconds
                if error:
                    self.errors[spec] = error
        except concurrent.futures.process.BrokenProcessPool:
            pass   # what is missing is named below
        except concurrent.futures.TimeoutError:
            for process in list(pool._processes.values()):
                process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        for spec in specs:
            if spec not in self.seconds:
                self.errors[spec] = f"no result: a process that built kernels died, or {patience} s were not enough"

    def refuses(self, error):
        """Whether a build was refused as it has to be: the tiles of a head dim do not fit the limit that was asked for."""
        return bool(self.options) and " fits no schedule on " in str(error) and "which is the limit asked for" in str(error)

    def __getitem__(self, spec):
        if spec in self.errors:
            raise RuntimeError(f"not built: {self.errors[spec]}")
        if spec not in self.loaded:
            self.loaded[spec] = build(self.library, spec, self.target, self.options)
        return self.loaded[spec]

    def schedule(self, spec):
        lines = self[spec].describe().splitlines()
        return "; ".join(" ".join(line.split()) for line in lines if line.split()[:1] in (["schedule"], ["resources"]))
