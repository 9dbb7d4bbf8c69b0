#!/usr/bin/env python3
"""Times our kernels beside cuDNN, FlashAttention 2 and FlexAttention, in one process.

    python3 tests/bench/peers.py --library build/libtilewright.so [--json out.json]

Every round runs all candidates once in random order (the card's clock drifts with its power), after a warm-up; a time is the median over
the rounds. Each result is checked against float64 on some heads first, and a wrong one is not timed. Ours are built with default
options. Needs torch with CUDA.
"""
import argparse
import itertools
import json
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tilewright  # noqa: E402


libraries = {}      # other builds of this library, by file


def oracle(torch, q, k, v, causal):
    q, k, v = (x.double() for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        keep = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril(k.shape[-2] - q.shape[-2])
        scores = scores.masked_fill(~keep, float("-inf"))
    return scores.softmax(-1) @ v


# What a row may differ in from the usual one: bf16, contiguous [B, H, S, D], as many heads of keys as of queries, a length that tiles divide.
FORMS = {
    "usual": {},
    "f16": {"dtype": "float16"},
    "gqa": {"group": 4},                     # 32 heads of 8 at D 64, 16 of 4 at D 128
    "bshd": {"order": (0, 2, 1, 3)},         # in memory
    "odd": {"shorter": 95},                  # 4096 becomes 4001
}


def make_inputs(torch, form, batch, heads, length, d):
    """Q, K and V of a form, as views [B, H, S, D]."""
    order = form.get("order", (0, 1, 2, 3))
    out = []
    for h in (heads, heads // form.get("group", 1), heads // form.get("group", 1)):
        shape = (batch, h, length, d)
        memory = torch.randn([shape[i] for i in order], device="cuda", dtype=getattr(torch, form.get("dtype", "bfloat16")))
        out.append(memory.permute(*order))   # these orders are their own inverse
    return out


def candidates(torch, library, args, q, k, v, causal):
    """Callables by name; each returns its output tensor."""
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    out = {}
    names = {torch.bfloat16: "bf16", torch.float16: "f16"}
    o, lse = torch.empty_like(q[..., : v.shape[-1]]), torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    for name, options in [("ours", None)] + [tuple(x.split(":", 1)) for x in args.also]:
        try:
            chosen, words, fields = library, (options or "").split(), {}
            while words and words[0].partition("=")[0] in ("library", "target", "shared-limit", "tune"):
                field, _, value = words.pop(0).partition("=")
                fields[field] = value
            if "library" in fields:
                chosen = libraries.setdefault(fields["library"], tilewright.Library(fields["library"]))
            wanted = ["schedule=" + " ".join(words)] if words else []
            if "shared-limit" in fields:
                wanted.append("shared-limit=" + fields["shared-limit"])
            if "tune" in fields:
                wanted += ["tune=" + fields["tune"], "shapes=" + " ".join(f"{tensor}={'x'.join(map(str, x.shape))}" for tensor, x in zip("QKV", (q, k, v)))]
            kernel = chosen.build("causal" if causal else "plain", names[q.dtype], q.shape[-1], v.shape[-1], target=fields.get("target", "gpu"), options=";".join(wanted) or None)
            mine = torch.empty_like(o)
            launch = kernel.bind({"Q": q, "K": k, "V": v, "O": mine, "lse": lse.clone()})
            out[name] = lambda launch=launch, mine=mine: (launch(), mine)[1]
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)

    def sdpa(backend):
        def run():
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])
        return run
    out["cudnn"] = sdpa(SDPBackend.CUDNN_ATTENTION)
    if "fa2" in args.peers:
        out["fa2"] = sdpa(SDPBackend.FLASH_ATTENTION)
    if "flex" in args.peers:
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        flex = torch.compile(flex_attention)
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, q.shape[2], k.shape[2], device=q.device) if causal else None
        out["flex"] = lambda: flex(q, k, v, block_mask=mask, enable_gqa=q.shape[1] != k.shape[1])
    return out


def measure(torch, runs, rounds, seconds):
    events = {name: [] for name in runs}
    order = list(runs)
    for name in order:
        for _ in range(3):
            runs[name]()
    torch.cuda.synchronize()
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            runs[name]()
            end.record()
            events[name].append((start, end))
    torch.cuda.synchronize()
    return {name: statistics.median(s.elapsed_time(e) for s, e in pairs) for name, pairs in events.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--lengths", type=int, nargs="+", default=[4096, 16384])
    parser.add_argument("--head-dims", type=int, nargs="+", default=[128, 64])
    parser.add_argument("--tokens", type=int, default=16384, help="batch times length")
    parser.add_argument("--hidden", type=int, default=2048, help="heads times head dim")
    parser.add_argument("--peers", nargs="*", default=["fa2", "flex"], choices=["fa2", "flex"], help="beside cuDNN")
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME:WHAT", help="ours again: a schedule, behind any of target=NAME (another target that this GPU runs), library=FILE (another build of the library), shared-limit=SIZE and tune=HOW (how a build for these shapes chooses: measure, cached)")
    parser.add_argument("--forms", nargs="+", default=["usual"], choices=list(FORMS), help="other types, layouts and heads")
    args = parser.parse_args()
    import torch
    library = tilewright.Library(args.library)
    torch.manual_seed(0)
    random.seed(0)
    rows = []
    print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}; TFLOP/s, medians of {args.rounds}")
    for form, d, longest in itertools.product(args.forms, args.head_dims, args.lengths):
        batch, heads, length = args.tokens // longest, args.hidden // d, longest - FORMS[form].get("shorter", 0)
        q, k, v = make_inputs(torch, FORMS[form], batch, heads, length, d)
        group = heads // k.shape[1]
        for causal in (False, True):
            runs = candidates(torch, library, args, q, k, v, causal)
            expected = oracle(torch, q[:1, : 2 * group], k[:1, :2], v[:1, :2], causal)
            errors, rms = {}, {}
            for name in list(runs):
                try:
                    difference = runs[name]()[:1, : 2 * group].double() - expected
                    errors[name], rms[name] = difference.abs().max().item(), difference.square().mean().sqrt().item()
                    torch.cuda.synchronize()
                    if not errors[name] < 0.03:
                        raise RuntimeError(f"wrong by {errors[name]:.3g}")
                except RuntimeError as error:
                    print(f"{name} is left out: {str(error)[:300]}", file=sys.stderr)
                    del runs[name]
            times = measure(torch, runs, args.rounds, 0)
            flops = 4 * batch * heads * length * length * d / (2 if causal else 1)
            speed = {name: flops / ms / 1e9 for name, ms in times.items()}
            ratio = speed.get("ours", 0) / speed["cudnn"] if "cudnn" in speed else float("nan")
            rows.append({"variant": "causal" if causal else "plain", "form": form, "head_dim": d, "length": length, "batch": batch, "heads": heads,
                         "tflops": speed, "milliseconds": times, "max_error": errors, "rms_error": rms, "ours_to_cudnn": ratio})
            text = "  ".join(f"{name} {value:6.1f}" for name, value in speed.items())
            print(f"{rows[-1]['variant']:7} {form:5} D{d:<4} S{length:<6} {text}   ours/cudnn {ratio:.3f}; errors {errors.get('ours', 0) / errors.get('cudnn', 1):.2f} max, {rms.get('ours', 0) / rms.get('cudnn', 1):.2f} rms", flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
