#!/usr/bin/env python3
"""Every kind of kernel on a GPU, against float64: variants, types, head dims, lengths, layouts, repeated and concurrent launches.

    python3 tests/gpu/matrix.py --library build/lib/libtilewright.so [--quick] [--json out.json] [--jobs 16] [--only TEXT ...]

Kernels are built first, by many processes, with default options; then each group of launches prints a line. Exit status 1 where one is
wrong, with the first wrong launch of each group in full. Needs an H100 or H200 and torch with CUDA.
"""
import argparse
import json
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Callable, NamedTuple

import cases
import edge_rows
import folds
from cases import Case
from kernels import Kernels, Spec

VARIANTS = ("plain", "causal", "window(70,20)", "window", "softcap(5)", "softcap", "alibi", "gemma2", "gemma2+alibi", "causal+alibi+softcap(4)")
QUICK_VARIANTS = ("plain", "causal", "window(70,20)", "softcap", "alibi", "gemma2+alibi")
DIMS = (8, 40, 64, 80, 128, 192, 256)
UNEQUAL = ((192, 128), (128, 64), (64, 128), (8, 256), (256, 8), (72, 40), (576, 512), (64, 304), (328, 64))
# B, H, Hkv, Sq, Skv: tails, one row, rows without keys, groups of 1, 3, 8 and 64, more work items than the GPU has SMs.
LENGTHS = ((1, 2, 1, 200, 260), (2, 3, 3, 129, 127), (1, 3, 1, 1, 333), (1, 8, 8, 70, 5), (2, 6, 2, 257, 513), (1, 64, 1, 9, 40), (1, 8, 1, 1, 70), (4, 16, 2, 300, 300))
QUICK_LENGTHS = ((2, 3, 1, 129, 260), (1, 8, 8, 70, 5), (1, 64, 1, 9, 40), (4, 16, 2, 300, 300))
LONG = ((1, 4, 2, 1031, 1031), (2, 8, 4, 1000, 2047))
EMPTY = ((1, 2, 2, 5, 0), (1, 2, 2, 0, 5), (0, 2, 2, 5, 5), (2, 2, 1, 0, 0))
MOST_MICROSECONDS = 5   # of the host's, for a launch
STALLED = 60   # seconds without a result, after which the launch in progress is taken to hang


class Check(NamedTuple):
    text: str
    run: Callable   # () -> None, or what is wrong


class Group(NamedTuple):
    name: str
    specs: list
    checks: Callable   # (torch, kernels) -> list of Check
    figures: dict = {}   # that its checks measure


def launches(name, all_cases):
    def checks(torch, kernels):
        return [Check(str(case), lambda case=case: cases.run(torch, kernels, case)) for case in all_cases]
    return Group(name, [case.spec for case in all_cases], checks)


def calls(name, specs, *functions):
    return Group(name, list(specs), lambda torch, kernels: [Check(text, lambda f=f: f(torch, kernels)) for text, f in functions])


def variant_groups(quick):
    groups = []
    for variant in QUICK_VARIANTS if quick else VARIANTS:
        for dtype in ("f16", "bf16"):
            lengths = [(d, n) for d in ((64, 128) if quick else DIMS) for n in (QUICK_LENGTHS if quick else LENGTHS) + (LONG if d in (64, 128) else ())]
            groups.append(launches(f"{variant} {dtype}", [Case(Spec(variant, dtype, d, d), *n) for d, n in lengths]))
    if quick:
        groups.append(launches("head dims", [Case(Spec("causal", "bf16", d, d), *n) for d in (8, 80, 192, 256) for n in QUICK_LENGTHS]))
    unequal = UNEQUAL[:2] if quick else UNEQUAL
    groups.append(launches("D and Dv differ", [Case(Spec(v, t, d, dv), *n) for v, t in (("plain", "f16"), ("causal", "bf16")) for d, dv in unequal for n in QUICK_LENGTHS]))
    return groups


def layout_groups(quick):
    specs = [Spec(v, t, d, d) for v, t in (("plain", "f16"), ("gemma2+alibi", "bf16")) for d in ((64,) if quick else (40, 64, 128, 256))]
    lengths = ((2, 4, 2, 129, 200), (1, 3, 1, 70, 33), (2, 2, 1, 300, 290))
    every = [Spec(v, "bf16", 64, 64) for v in (QUICK_VARIANTS if quick else VARIANTS)]
    return [launches("views: bshd, sbhd, padded", [Case(s, *n, layout=layout) for s in specs for n in lengths for layout in ("bshd", "sbhd", "padded")]),
            launches("K and V broadcast", [Case(s, *lengths[0], broadcast=True) for s in specs[:2]]),
            launches("zero lengths", [Case(s, *n) for s in every for n in EMPTY])]


def number_groups(quick):
    held = [Spec(v, t, d, d) for v in ("plain", "causal") for t in ("f16", "bf16") for d in ((64,) if quick else (64, 128))]
    nan, inf = float("nan"), float("inf")
    masked = [Spec("causal", "bf16", 128, 128), Spec("window(70,20)", "f16", 64, 64)]

    def poisoned(tensor):
        # In the first rows of causal and between the windows, rows that see none of these keys.
        keys = {"causal": [210, 211, 249], "window(70,20)": [5, 210, 249]}
        return [Case(s, 1, 2, 1, 250, skv, poison=(tensor, value, keys[s.name])) for s in masked for skv in (250, 300) for value in (nan, inf)]
    return [launches("scores that rise along the fold", [Case(s, *n, rising=True) for s in held for n in ((1, 2, 1, 260, 290), (2, 4, 2, 500, 700))]),
            launches("Q and K ten times as large", [Case(s, 1, 2, 2, 240, 240, spread=10.0) for s in held]),
            launches("NaN and infinity in masked keys", poisoned("K"))], launches("NaN and infinity in masked values", poisoned("V"))


def fold_groups(quick):
    groups = []
    lengths = ((150, 200), (1, 1), (129, 1031), (5, 0), (0, 5), (3000, 600))
    for name in folds.NAMES:
        specs = folds.specs(name, (64,) if quick else (64, 128) + folds.WIDE.get(name, ()), ("bf16",) if quick else ("f16", "bf16"))
        groups.append(Group("fold " + name, specs, lambda torch, kernels, specs=specs: [
            Check(f"{spec} over {t} rows, {v} steps", lambda spec=spec, t=t, v=v: folds.check(torch, kernels, spec, t, v)) for spec in specs for t, v in lengths]))
    return groups


def shared_groups(quick):
    specs = [Spec("causal", "bf16", 128, 128), Spec("plain", "f16", 64, 64)] + ([] if quick else [Spec("gemma2+alibi", "bf16", 256, 256)])
    many = [Case(s, 4, 16, 4, 1000, 1000) for s in specs] + [Case(specs[0], 4, 16, 4, 1000, 1000, rising=True)]
    return [Group("ten runs are equal", specs, lambda torch, kernels: [Check(str(c), lambda c=c: edge_rows.runs_are_equal(torch, kernels, c)) for c in many]),
            Group("two streams at once", specs, lambda torch, kernels: [Check(str(c), lambda c=c: edge_rows.streams_are_equal(torch, kernels, c)) for c in many])]


def cost_group():
    """What a launch costs the host, and is allowed to."""
    figures = {}

    def check(torch, kernels):
        zeroed, launch, empty, call = edge_rows.launch_microseconds(torch, kernels, edge_rows.COMMON)
        figures.update(microseconds=zeroed, microseconds_any_workspace=launch, microseconds_empty_kernel=empty, microseconds_of_a_call=call)
        print(f"     host cost of a launch: {zeroed:.2f} us with a zeroed workspace, {launch:.2f} us with any, {empty:.2f} us of an empty kernel through the driver alone; "
              f"{call:.2f} us of each is what any call from Python costs; at most {MOST_MICROSECONDS} us without it", flush=True)
        return None if zeroed - call <= MOST_MICROSECONDS else f"{zeroed - call:.2f} us, expected {MOST_MICROSECONDS} at most"
    return calls("host cost of a launch", [edge_rows.COMMON], (str(edge_rows.COMMON), check))._replace(figures=figures)


def edge_groups():
    rows = [(42, edge_rows.row_42, edge_rows.PACKED), (44, edge_rows.row_44, edge_rows.VIEWS), (51, edge_rows.row_51, edge_rows.FAR), (95, edge_rows.row_95, edge_rows.COMMON),
            (96, edge_rows.row_96, edge_rows.COMMON)]
    return [calls(f"edge row {number}", [spec], (" ".join(f.__doc__.split()), f)) for number, f, spec in rows]


def all_groups(args):
    numbers, values = number_groups(args.quick)
    groups = variant_groups(args.quick) + layout_groups(args.quick) + numbers + ([values] if args.v_nan else []) + fold_groups(args.quick)
    # Row 96 comes last: where it fails, the GPU may be left with an error.
    *edges, last = edge_groups()
    groups += shared_groups(args.quick) + edges + [cost_group(), last]
    return [g for g in groups if not args.only or any(text in g.name for text in args.only)]


class Watch:
    """Ends the process where a launch never ends: nothing else can be asked of the GPU then."""

    def __init__(self):
        self.text, self.since = "", time.monotonic()
        threading.Thread(target=self.look, daemon=True).start()

    def now(self, text):
        self.text, self.since = text, time.monotonic()

    def look(self):
        while True:
            time.sleep(1)
            if self.text and time.monotonic() - self.since > STALLED:
                print(f"HANGS: {self.text}", flush=True)
                os._exit(1)


def run_group(torch, kernels, group, watch):
    """What is printed and written of a group."""
    start, failures, refused, gpu_is_lost = time.perf_counter(), [], 0, False
    checks = group.checks(torch, kernels)
    for check in checks:
        watch.now(f"{group.name}: {check.text}")
        try:
            wrong = check.run()
            torch.cuda.synchronize()
        except Exception as error:   # whatever it is, it belongs to this launch
            if kernels.refuses(error):
                refused += 1
                continue
            wrong = str(error) if isinstance(error, RuntimeError) else traceback.format_exc()
            try:
                torch.cuda.synchronize()
            except RuntimeError:
                gpu_is_lost = True
        if wrong:
            failures.append({"case": check.text, "wrong": wrong})
        if gpu_is_lost:
            break
    watch.now("")
    seconds = time.perf_counter() - start
    print(f"{'FAIL' if failures else 'ok  '} {group.name:38} {len(checks) - len(failures) - refused:4} of {len(checks):4} right, {seconds:5.1f} s{f', {refused} refused: no tiles fit' if refused else ''}", flush=True)
    for failure in failures[:1]:
        print(f"     {failure['case']}\n     {failure['wrong']}")
        for spec in dict.fromkeys(s for s in group.specs if failure["case"].startswith(str(s) + " ") and s not in kernels.errors):
            print(f"     {kernels.schedule(spec)}", flush=True)
    return {"group": group.name, "checks": len(checks), "refused": refused, "seconds": seconds, "failures": failures, **group.figures}, gpu_is_lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--quick", action="store_true", help="fewer variants, head dims and lengths")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="groups whose name contains one of these")
    parser.add_argument("--v-nan", action="store_true", help="masked values may be NaN or infinite too")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--shared-limit", metavar="SIZE", help="the most shared memory that a block may take, such as 48KiB")
    parser.add_argument("--cache", help="a folder for kernels that outlives the run; else a temporary one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that build")
    parser.add_argument("--list", action="store_true", help="print the groups and count kernels and launches; needs no GPU")
    parser.add_argument("--build-only", action="store_true", help="build the kernels; needs no GPU")
    parser.add_argument("--json", help="write what was found to this file")
    args = parser.parse_args()
    groups = all_groups(args)
    if not groups:
        parser.error(f"--only {' '.join(args.only)}: no group's name contains any of these; --list names them")
    specs = sorted({spec for group in groups for spec in group.specs})
    if args.list:
        for group in groups:
            print(f"{group.name:38} {len(set(group.specs)):4} kernels, {len(group.checks(None, None)):4} checks")
        print(f"{len(specs)} kernels, {sum(len(g.checks(None, None)) for g in groups)} checks")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["TILEWRIGHT_CACHE"] = args.cache or temporary
        start = time.perf_counter()
        kernels = Kernels(args.library, args.target, args.shared_limit and f"shared-limit={args.shared_limit}")
        kernels.build_all(specs, args.jobs)
        built = time.perf_counter() - start
        times = sorted(kernels.seconds.values()) or [0]
        print(f"{len(specs) - len(kernels.errors)} of {len(specs)} kernels built in {built:.1f} s by {args.jobs} processes; median {times[len(times) // 2]:.2f} s, worst {times[-1]:.2f} s", flush=True)
        for spec, error in kernels.errors.items():
            print(f"     {spec}: {error[:600]}")
        result = {"built": len(specs) - len(kernels.errors), "build_errors": {str(s): e for s, e in kernels.errors.items()},
                  "build_seconds": {str(s): t for s, t in kernels.seconds.items()}, "groups": []}
        failed = not all(kernels.refuses(error) for error in kernels.errors.values())
        if not args.build_only:
            import torch
            result.update(device=torch.cuda.get_device_name(), torch=torch.__version__)
            watch = Watch()
            for number, group in enumerate(groups):
                found, gpu_is_lost = run_group(torch, kernels, group, watch)
                result["groups"].append(found)
                failed |= bool(found["failures"])
                if gpu_is_lost:
                    print(f"     the GPU reports an error that no later launch survives; {len(groups) - number - 1} groups were not run", flush=True)
                    break
            if not any(g["checks"] > g["refused"] for g in result["groups"]):
                print("FAIL nothing was checked")
                failed = True
        wrong = sum(len(g["failures"]) for g in result["groups"])
        print(f"{'FAIL' if failed else 'ok'}: {sum(g['checks'] for g in result['groups'])} checks, {wrong} wrong; {time.perf_counter() - start:.0f} s in all", flush=True)
        if args.json:
            Path(args.json).write_text(json.dumps(result, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
