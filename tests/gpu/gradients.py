#!/usr/bin/env python3
"""Gradients on a GPU against float64, twice with equal bits, and their speed beside cuDNN's backward pass.

    python3 tests/gpu/gradients.py --library build/lib/libtilewright.so

Needs a GPU that kernels are built for, and torch with CUDA. Exit status 1 where a gradient is further from float64 than 16 bits explain, or two runs differ.
"""
import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import tilewright  # noqa: E402

# variant, B, H, Hkv, S, D
RIGHT = (("plain", 1, 2, 2, 256, 64), ("causal", 2, 4, 2, 300, 64), ("causal", 2, 4, 2, 512, 128), ("softcap(30)+causal", 1, 4, 1, 260, 64))
TIMED = (("plain", 4, 16, 16, 4096, 128), ("causal", 4, 16, 16, 4096, 128), ("causal", 4, 32, 32, 4096, 64))
# Of bf16: inputs, weights and results are rounded to 8 bits, each by 2^-9 at most; errors of a sum's terms average out.
MOST = 4e-3


def make(torch, case):
    _, batch, heads, key_heads, length, d = case
    shape = {"Q": heads, "K": key_heads, "V": key_heads, "dO": heads}
    tensors = {name: torch.randn(batch, h, length, d, device="cuda", dtype=torch.bfloat16) for name, h in shape.items()}
    tensors.update({"O": torch.empty_like(tensors["Q"]), "lse": torch.empty(batch, heads, length, device="cuda")})
    tensors.update({"d" + name: torch.full_like(tensors[name], float("nan")) for name in "QKV"})
    return tensors


def oracle(torch, case, tensors):
    variant, _, heads, key_heads, length, d = case
    q, k, v = (tensors[name].double().requires_grad_() for name in "QKV")
    keys, values = (x.repeat_interleave(heads // key_heads, 1) for x in (k, v))
    score = q @ keys.transpose(-1, -2) / d ** 0.5
    if "softcap" in variant:
        score = 30 * torch.tanh(score / 30)
    if "causal" in variant:
        score = score.masked_fill(~torch.ones(length, length, dtype=torch.bool, device="cuda").tril(), float("-inf"))
    return torch.autograd.grad(score.softmax(-1) @ values, (q, k, v), tensors["dO"].double())


def right(torch, library, case):
    tensors = make(torch, case)
    forward, backward = library.build_gradient(case[0], "bf16", case[5]).bind(tensors)
    forward()
    backward()
    torch.cuda.synchronize()
    errors = [((tensors["d" + name].double() - want).norm() / want.norm()).item() for name, want in zip("QKV", oracle(torch, case, tensors))]
    first = [tensors["d" + name].clone() for name in "QKV"]
    backward()
    torch.cuda.synchronize()
    same = all(torch.equal(before, tensors["d" + name]) for before, name in zip(first, "QKV"))
    holds = same and all(error < MOST for error in errors)
    print(f"{'ok' if holds else 'FAIL':4} {case[0]:20} {case[1:]}: relative errors of dQ, dK, dV {', '.join(f'{e:.1e}' for e in errors)}; two runs {'equal' if same else 'DIFFER'}", flush=True)
    return holds


def timed(torch, library, case, rounds=9):
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    variant, batch, heads, _, length, d = case
    tensors = make(torch, case)
    forward, backward = library.build_gradient(variant, "bf16", d).bind(tensors)
    forward()
    q, k, v = (tensors[name].clone().requires_grad_() for name in "QKV")
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        out = F.scaled_dot_product_attention(q, k, v, is_causal=variant == "causal")
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
    flops = 10 * batch * heads * length * length * d / (2 if variant == "causal" else 1)
    speed = {name: flops / statistics.median(ms[1:]) / 1e9 for name, ms in times.items()}
    print(f"     {variant:20} {case[1:]}: backward, TFLOP/s: {', '.join(f'{name} {value:.0f}' for name, value in speed.items())}; ours / cudnn {speed['ours'] / speed['cudnn']:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    args = parser.parse_args()
    import torch
    torch.manual_seed(0)
    library = tilewright.Library(args.library)
    wrong = sum(not right(torch, library, case) for case in RIGHT)
    for case in TIMED:
        timed(torch, library, case)
    print(f"{'FAIL' if wrong else 'ok'}: {len(RIGHT)} checks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
