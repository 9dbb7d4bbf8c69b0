#!/usr/bin/env python3
"""Gradients on a GPU, the fast and the deterministic form: against float64, against the vendor's backward pass on the same input, and fifty times with equal bits.

    python3 tests/gpu/gradients.py --library build/lib/libtilewright.so [--quick] [--target h200-sm80] [--only TEXT ...] [--speed]

A gradient may be off by twice what torch's own arithmetic in the same type is, and a little more, and by what f32 loses where its terms cancel; where the vendor's library has the variant, by
1.05 times its error in root mean square and 1.25 times in maximum, of five inputs. Needs a GPU that kernels are built for, and torch with CUDA. Exit status 1 where
one is further off, or two runs differ.
"""
import argparse
import concurrent.futures
import multiprocessing
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import oracle  # noqa: E402
import tilewright  # noqa: E402

VARIANTS = ("plain", "causal", "window(70,20)", "softcap(5)", "alibi", "gemma2", "causal+alibi+softcap(4)")
# B, H, Hkv, Sq, Skv: groups, odd lengths, one row, one key, rows without keys, no keys at all, no queries.
LENGTHS = ((2, 4, 2, 300, 300), (1, 3, 1, 257, 513), (1, 8, 2, 129, 127), (2, 3, 3, 1, 333), (1, 2, 2, 77, 1), (1, 8, 8, 170, 45), (1, 64, 1, 9, 40))
EMPTY = ((1, 2, 1, 5, 0), (1, 2, 2, 0, 5), (0, 2, 1, 5, 5))
DIMS = (8, 40, 64, 80, 128)
# What the vendor's library takes: B, H, S, D.
VENDOR = (("plain", 2, 8, 1024, 64), ("causal", 2, 8, 1024, 64), ("plain", 2, 8, 1024, 128), ("causal", 2, 8, 1024, 128), ("causal", 1, 16, 4096, 128))
REPEATED = (("causal", "bf16", 2, 8, 2, 1000, 1000, 64), ("alibi", "f16", 2, 8, 8, 515, 700, 128), ("plain", "bf16", 1, 4, 4, 2048, 2048, 128))
TIMED = (("plain", 4, 16, 16, 4096, 128), ("causal", 4, 16, 16, 4096, 128), ("causal", 4, 32, 32, 4096, 64))


class Case(NamedTuple):
    variant: str
    dtype: str
    b: int
    h: int
    hkv: int
    sq: int
    skv: int
    d: int

    def __str__(self):
        return f"{self.variant} {self.dtype} D {self.d} B {self.b} H {self.h} Hkv {self.hkv} Sq {self.sq} Skv {self.skv}"


def make(torch, case, seed=0):
    """Tensors by name; what is to be written is NaN."""
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[case.dtype]
    torch.manual_seed(seed + 1)

    def normal(heads, length):
        return torch.randn(case.b, heads, length, case.d, device="cuda", dtype=dtype)
    tensors = {"Q": normal(case.h, case.sq), "K": normal(case.hkv, case.skv), "V": normal(case.hkv, case.skv), "dO": normal(case.h, case.sq)}
    if "alibi" in case.variant:
        tensors["slopes"] = torch.tensor([2.0 ** (-8 * (i + 1) / case.h) for i in range(case.h)], device="cuda")
    nan = float("nan")
    tensors.update({"d" + name: torch.full_like(tensors[name], nan) for name in inputs_of(case)})
    tensors.update({"O": torch.full_like(tensors["Q"], nan), "lse": torch.full((case.b, case.h, case.sq), nan, device="cuda")})
    return tensors


def inputs_of(case):
    return ("Q", "K", "V") + (("slopes",) if "alibi" in case.variant else ())


def exact(torch, case, tensors):
    """Gradients in float64."""
    leaves = {name: tensors[name].double().requires_grad_() for name in inputs_of(case)}
    out = oracle.attention(torch, case.variant, leaves["Q"], leaves["K"], leaves["V"], leaves.get("slopes"))[0]
    if not out.requires_grad:
        return {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    found = torch.autograd.grad(out, list(leaves.values()), tensors["dO"].double(), allow_unused=True)
    return {name: torch.zeros_like(leaf) if g is None else g for (name, leaf), g in zip(leaves.items(), found)}


def weights_of(torch, case, leaves, keys):
    """By torch's operations, in the leaves' type."""
    score = leaves["Q"] @ keys.mT / case.d ** 0.5
    i = torch.arange(case.sq, device="cuda")[:, None] + (case.skv - case.sq)
    j = torch.arange(case.skv, device="cuda")[None, :]
    for name, numbers in oracle.parts(case.variant):
        if name == "alibi":
            score = score + (leaves["slopes"][:, None, None] * (j - i)).to(score.dtype)
        if name in ("softcap", "gemma2"):
            cap = (numbers or [50])[0]
            score = cap * (score / cap).tanh()
        if name == "causal":
            score = score.masked_fill(j > i, float("-inf"))
        if name in ("window", "gemma2"):
            left, right = numbers or ((127, 0) if name == "window" else (4095, 0))
            score = score.masked_fill(~oracle.keep_window(i, j, left, right), float("-inf"))
    empty = (score == float("-inf")).all(-1, keepdim=True)
    return score.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)


def eager(torch, case, tensors):
    """Gradients by torch's operations in the type itself: scores, weights and products are rounded to it."""
    leaves = {name: tensors[name].detach().clone().requires_grad_() for name in inputs_of(case)}
    keys, values = (leaves[name].repeat_interleave(case.h // case.hkv, 1) for name in "KV")
    weights = weights_of(torch, case, leaves, keys)
    return dict(zip(leaves, torch.autograd.grad(weights @ values, list(leaves.values()), tensors["dO"])))


def cancelled(torch, case, tensors):
    """What f32 may lose of each gradient where terms cancel: its unit roundoff times the sum of their magnitudes. A score's is
    p (dP - delta), both of them sums of products, of which nothing is left where a row has one key."""
    leaves = {name: tensors[name].float() for name in (*inputs_of(case), "dO")}
    keys, values = (leaves[name].repeat_interleave(case.h // case.hkv, 1) for name in "KV")
    weights = weights_of(torch, case, leaves, keys)
    upstream = leaves["dO"].abs()
    terms = weights * (upstream @ values.abs().mT + (upstream * (weights @ values.abs())).sum(-1, keepdim=True))
    distance = (torch.arange(case.skv, device="cuda")[None, :] - torch.arange(case.sq, device="cuda")[:, None] - (case.skv - case.sq)).abs()

    def grouped(x):
        return x.unflatten(1, (case.hkv, case.h // case.hkv)).sum(2)
    sums = {"Q": terms @ keys.abs() / case.d ** 0.5, "K": grouped(terms.mT @ leaves["Q"].abs()) / case.d ** 0.5, "V": grouped(weights.mT @ upstream), "slopes": (terms * distance).sum((0, 2, 3))}
    return {name: 2.0 ** -24 * (sums[name].max().item() if sums[name].numel() else 0) for name in inputs_of(case)}


def launched(torch, library, case, tensors, target, runs=1, options=None):
    """Runs forward, and backward `runs` times; returns whether all of them gave the same bits."""
    forward, backward = library.build_gradient(case.variant, case.dtype, case.d, target=target, options=options, inputs=" ".join(inputs_of(case))).bind(tensors, spoil=True)
    forward()
    backward()
    torch.cuda.synchronize()
    first = {name: tensors["d" + name].clone() for name in inputs_of(case)}
    equal = True
    for _ in range(runs - 1):
        backward()
        equal &= all(torch.equal(first[name].view(torch.uint8), tensors["d" + name].view(torch.uint8)) for name in first)
    return equal


FORMS = {"fast": None, "deterministic": "deterministic=on"}


def build(path, target, variant, dtype, d):
    """Leaves the kernels in the cache, for the process that launches them; returns why there are none, or nothing."""
    case = Case(variant, dtype, 1, 1, 1, 1, 1, d)
    try:
        for options in FORMS.values():
            tilewright.Library(path).build_gradient(variant, dtype, d, target=target, options=options, inputs=" ".join(inputs_of(case)))
    except RuntimeError as error:
        return str(error)


def build_all(args, checks):
    """Builds what the checks launch, in many processes."""
    kinds = sorted({(case.variant, case.dtype, case.d) for _, cases, _ in checks for case in cases})
    with concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(build, *zip(*[(args.library, args.target, *kind) for kind in kinds])))
    for kind, error in zip(kinds, found):
        if error:
            print(f"     {kind}: {error[:600]}", flush=True)


def errors(torch, got, want):
    difference = got.double() - want
    return (difference.pow(2).mean().sqrt().item(), difference.abs().max().item()) if difference.numel() else (0.0, 0.0)


def right(torch, library, case, target):
    """None, or what is wrong."""
    tensors = make(torch, case)
    want = exact(torch, case, tensors)
    naive = eager(torch, case, tensors) if case.b * case.h * case.sq * case.skv else want
    floor = cancelled(torch, case, tensors) if case.b * case.h * case.sq * case.skv else dict.fromkeys(inputs_of(case), 0)
    wrong = []
    for form, options in FORMS.items():
        for name in inputs_of(case):
            tensors["d" + name].fill_(float("nan"))
        launched(torch, library, case, tensors, target, options=options)
        for name in inputs_of(case):
            got = tensors["d" + name]
            if not bool(torch.isfinite(got).all()):
                wrong.append(f"d{name}, {form}, has {int((~torch.isfinite(got)).sum())} elements that are not finite")
                continue
            _, most = errors(torch, got, want[name])
            allowed = 2 * errors(torch, naive[name], want[name])[1] + 1e-3 * (want[name].abs().max().item() if want[name].numel() else 0) + floor[name]
            if most > allowed:
                wrong.append(f"d{name}, {form}, is off by {most:.3g}, allowed {allowed:.3g}")
    return "; ".join(wrong) or None


def vendor(torch, library, case, target):
    """None, or by how much cuDNN's gradients are nearer to float64, of five inputs: one element's luck says little of a maximum."""
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    backends = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "FlashAttention": SDPBackend.FLASH_ATTENTION}
    squares, most = {}, {}

    def count(kind, name, got, want):
        rms, largest = errors(torch, got, want)
        squares[kind, name] = squares.get((kind, name), 0) + rms ** 2
        most[kind, name] = max(most.get((kind, name), 0), largest)
    for seed in range(5):
        tensors = make(torch, case, seed)
        launched(torch, library, case, tensors, target)
        want = exact(torch, case, tensors)
        for name in "QKV":
            count("ours", name, tensors["d" + name], want[name])
        for kind, backend in backends.items():
            leaves = [tensors[name].detach().clone().requires_grad_() for name in "QKV"]
            with sdpa_kernel(backend):
                out = F.scaled_dot_product_attention(*leaves, is_causal=case.variant == "causal")
                found = torch.autograd.grad(out, leaves, tensors["dO"])
            for name, gradient in zip("QKV", found):
                count(kind, name, gradient, want[name])
    wrong, text = [], []
    for kind in backends:
        for name in "QKV":
            ratios = (squares["ours", name] / squares[kind, name]) ** 0.5, most["ours", name] / most[kind, name]
            text.append(f"{kind} d{name} {ratios[0]:.3f}, {ratios[1]:.2f}")
            if kind == "cuDNN" and (ratios[0] > 1.05 or ratios[1] > 1.25):
                wrong.append(f"d{name}: RMS {ratios[0]:.3f}, maximum {ratios[1]:.2f} of cuDNN's")
    print(f"     {case}: errors beside others', RMS and maximum: {'; '.join(text)}", flush=True)
    return "; ".join(wrong) or None


def timed(torch, library, case, target, rounds=9):
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    tensors = make(torch, case)
    forward, backward = library.build_gradient(case.variant, case.dtype, case.d, target=target).bind(tensors)
    forward()
    q, k, v = (tensors[name].clone().requires_grad_() for name in "QKV")
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        out = F.scaled_dot_product_attention(q, k, v, is_causal=case.variant == "causal")
    runs = {"ours": backward, "cudnn": lambda: torch.autograd.grad(out, (q, k, v), tensors["dO"], retain_graph=True)}
    times = {name: [] for name in runs}
    for _ in range(rounds + 1):              # the first warms up
        for name, run in runs.items():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            run()
            end.record()
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(end))
    flops = 10 * case.b * case.h * case.sq * case.skv * case.d / (2 if case.variant == "causal" else 1)
    speed = {name: flops / statistics.median(ms[1:]) / 1e9 for name, ms in times.items()}
    print(f"     {case}: backward, TFLOP/s: {', '.join(f'{name} {value:.0f}' for name, value in speed.items())}; ours / cudnn {speed['ours'] / speed['cudnn']:.2f}", flush=True)


def repeats(torch, library, case, target):
    """None, or that fifty runs are not equal."""
    return None if launched(torch, library, case, make(torch, case), target, runs=50, options="deterministic=on") else "fifty runs are not equal, bit for bit"


def groups(args):
    """Names, and checks: a case and the function that returns None or what is wrong."""
    out = []
    for variant in VARIANTS[:4] if args.quick else VARIANTS:
        for dtype in ("bf16", "f16"):
            dims = (64, 128) if args.quick else DIMS
            out.append((f"{variant} {dtype}", [Case(variant, dtype, *n, d) for d in dims for n in (LENGTHS[:3] + LENGTHS[5:6] if args.quick else LENGTHS)], right))
    out.append(("no keys, no queries, no batch", [Case(v, "bf16", *n, 64) for v in ("plain", "causal") for n in EMPTY], right))
    out.append(("edge row 13: one query, 128 keys", [Case("plain", "bf16", 1, 2, 2, 1, 128, 64)], right))
    out.append(("edge row 27: 77 of each", [Case("plain", "bf16", 1, 2, 2, 77, 77, 64)], right))
    out.append(("edge row 36: groups of 4", [Case("plain", "bf16", 1, 8, 2, 200, 200, 64)], right))
    out.append(("edge row 87: fifty runs are equal", [Case(*c) for c in REPEATED], repeats))
    out.append(("beside the vendor", [Case(v, dtype, b, h, h, s, s, d) for v, b, h, s, d in VENDOR for dtype in ("bf16", "f16")], vendor))
    return [group for group in out if not args.only or any(text in group[0] for text in args.only)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--target", default="gpu")
    parser.add_argument("--quick", action="store_true", help="fewer variants, head dims and lengths")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="groups whose name contains one of these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that build")
    parser.add_argument("--speed", action="store_true", help="time the backward pass beside cuDNN's too")
    args = parser.parse_args()
    checks = groups(args)
    if not checks:
        parser.error(f"--only {' '.join(args.only)}: no group's name contains any of these")
    with tempfile.TemporaryDirectory() as temporary:
        os.environ.setdefault("TILEWRIGHT_CACHE", temporary)
        build_all(args, checks)
        return run(args, checks)


def run(args, checks):
    import torch
    library = tilewright.Library(args.library)
    count = wrong = 0
    for name, cases, check in checks:
        failures = []
        for case in cases:
            try:
                found = check(torch, library, case, args.target)
            except RuntimeError as error:
                found = str(error)
            if found:
                failures.append((case, found))
        count, wrong = count + len(cases), wrong + len(failures)
        print(f"{'FAIL' if failures else 'ok  '} {name:38} {len(cases) - len(failures):4} of {len(cases):4} right", flush=True)
        for case, found in failures[:3]:
            print(f"     {case}\n     {found[:600]}", flush=True)
    for variant, b, h, hkv, s, d in TIMED if args.speed else ():
        timed(torch, library, Case(variant, "bf16", b, h, hkv, s, s, d), args.target)
    print(f"{'FAIL' if wrong else 'ok'}: {count} checks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
