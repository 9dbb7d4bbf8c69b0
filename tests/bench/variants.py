#!/usr/bin/env python3
"""Times variants beside our own plain causal kernel and beside FlexAttention, in one process, per FLOP of the tiles they visit.

    python3 tests/bench/variants.py --library build/lib/libtilewright.so [--head-dim 128] [--length 16384] [--json out.json]

A variant's speed counts the products of the tiles of 128 x 128 scores that its mask touches, for every candidate alike, so that a variant that skips
nothing it could skip is slow here. Results are held against float64 on some rows first, and a wrong one is not timed. Rounds run all candidates in
random order; times are medians. Ours are default builds. Needs an H100 or H200 and torch with CUDA.
"""
import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers  # noqa: E402
import tilewright  # noqa: E402

TILE = 128

# Our name; the score and the mask by FlexAttention's signature (all causal, Sq = Skv).
VARIANTS = {
    "causal": (None, None),
    "causal+alibi": ("alibi", None),
    "window(1023,0)": (None, 1024),
    "softcap(50)+causal": ("softcap", None),
    "gemma2": ("softcap", 4096),
    "softcapfast(50)+causal": ("softcap", None),
    "softcapfast(50)+window(4095,0)": ("softcap", 4096),
    "softcap(50)+alibi+window(1023,0)": ("both", 1024),
}


def score_mod(torch, kind, slopes):
    def alibi(s, b, h, i, j):
        return s + slopes[h] * (j - i)

    def softcap(s, b, h, i, j):
        return 50 * torch.tanh(s / 50)

    return {None: None, "alibi": alibi, "softcap": softcap, "both": lambda s, b, h, i, j: alibi(softcap(s, b, h, i, j), b, h, i, j)}[kind]


def kept(window):
    return (lambda b, h, i, j: (i >= j)) if window is None else (lambda b, h, i, j: (i >= j) & (i - j < window))


def tiles(torch, length, window):
    """Tiles of TILE x TILE scores that the mask touches."""
    blocks = torch.arange((length + TILE - 1) // TILE)
    low, high = blocks * TILE, (blocks * TILE + TILE - 1).clamp(max=length - 1)
    touched = low[None, :] <= high[:, None]
    if window is not None:
        touched &= high[None, :] > low[:, None] - window
    return int(touched.sum())


def worst_error(torch, q, k, v, o, score, keep):
    """Over some rows of head 1, in float64."""
    rows = torch.cat([torch.arange(0, q.shape[2], max(1, q.shape[2] // 61), device=q.device), torch.tensor([q.shape[2] - 1], device=q.device)])
    s = q[0, 1, rows].double() @ k[0, 1].double().T / q.shape[-1] ** 0.5
    i, j = rows[:, None], torch.arange(k.shape[2], device=q.device)[None]
    if score:
        s = score(s, 0, 1, i, j)
    s = s.masked_fill(~keep(0, 1, i, j), float("-inf"))
    return (s.softmax(-1) @ v[0, 1].double() - o[0, 1, rows].double()).abs().max().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--length", type=int, default=16384)
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--without-flex", action="store_true", help="do not compile and time FlexAttention")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", help="write the rows to this file")
    args = parser.parse_args()
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    library = tilewright.Library(args.library)
    torch.manual_seed(0)
    random.seed(0)
    batch, heads, length, d = max(1, args.tokens // args.length), 2048 // args.head_dim, args.length, args.head_dim
    q, k, v = (torch.randn(batch, heads, length, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    slopes = torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)], device="cuda")
    runs, wrong = {}, False
    torch._dynamo.config.recompile_limit = 64
    for name in args.variants:
        kind, window = VARIANTS[name]
        score, keep = score_mod(torch, kind, slopes), kept(window)
        try:
            kernel = library.build(name, "bf16", d)
            o = torch.empty_like(q)
            tensors = {"Q": q, "K": k, "V": v, "O": o, "lse": torch.empty(q.shape[:3], device="cuda")}
            launch = kernel.bind(tensors | ({"slopes": slopes} if kind in ("alibi", "both") else {}))
            launch()
            error = worst_error(torch, q, k, v, o, score, keep)
            if not error < 0.03:
                raise RuntimeError(f"wrong by {error:.3g}")
            runs["ours", name] = launch
        except RuntimeError as failure:
            print(f"{name} is left out: {failure}", file=sys.stderr)
            wrong = True
        if not args.without_flex and ("flex", kind, window) not in runs:
            mask = create_block_mask(keep, None, None, length, length, device="cuda")
            flex = torch.compile(flex_attention)
            runs["flex", kind, window] = lambda flex=flex, score=score, mask=mask: flex(q, k, v, score_mod=score, block_mask=mask)
    times = peers.measure(torch, runs, args.rounds, 0)
    print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}; D {d}, S {length}, TFLOP/s of the tiles visited, medians of {args.rounds}")
    rows = []
    for name in args.variants:
        kind, window = VARIANTS[name]
        flops = 4 * batch * heads * tiles(torch, length, window) * TILE * TILE * d
        ours, flex = times.get(("ours", name)), times.get(("flex", kind, window))
        if not ours:
            continue
        row = {"variant": name, "milliseconds": ours, "tflops": flops / ours / 1e9, "flex_tflops": flex and flops / flex / 1e9}
        causal = rows[0]["tflops"] if rows and rows[0]["variant"] == "causal" else row["tflops"]
        row["to_causal"], row["to_flex"] = row["tflops"] / causal, flex and flex / ours
        rows.append(row)
        print(f"{name:40} {ours:7.3f} ms {row['tflops']:6.1f}   to causal {row['to_causal']:.2f}" + (f"   flex {row['flex_tflops']:6.1f}, ours {row['to_flex']:.2f} times as fast" if flex else ""), flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "head_dim": d, "length": length, "rows": rows}, indent=2) + "\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
