#!/usr/bin/env python3
"""Masks that skip tiles by lists, on a GPU against float64: odd lengths, rows without keys, groups of heads, NaN in keys and values that a mask hides.

    python3 tests/gpu/masks.py --library build/lib/libtilewright.so [--target h200-sm80] [--head-dims 64 128]

Exit status 1 where a launch is wrong. Needs torch with CUDA.
"""
import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import tilewright  # noqa: E402

# B, H, Hkv, Sq, Skv
SHAPES = ((2, 3, 1, 300, 300), (2, 4, 4, 129, 1031), (1, 8, 2, 1000, 2047), (2, 2, 2, 1, 70), (1, 2, 1, 333, 5), (1, 2, 2, 7, 0), (4, 16, 4, 1531, 1531))


def padded_rows(torch, table):
    """The same table with rows at multiples of 16 bytes, as the kernels that list tiles want it; others go to kernels for any strides."""
    width = table.shape[-1]
    memory = torch.zeros(*table.shape[:-1], -(-width // 16) * 16, dtype=table.dtype, device="cuda")
    memory[..., :width] = table
    return memory[..., :width]


def document_of(torch, b, n):
    """Documents of 37 to 300 rows, others in each batch."""
    places = torch.arange(n)[None] + 13 * torch.arange(b)[:, None]
    return padded_rows(torch, ((places // 37) ** 0.8).to(torch.int32))


def documents(torch, b, sq, skv):
    return {"query_documents": document_of(torch, b, sq), "key_documents": document_of(torch, b, skv)}


def prefixes(torch, b, sq, skv):
    return {"prefixes": torch.tensor([skv // (2 + i) for i in range(b)], dtype=torch.int32, device="cuda")}


def lengths(torch, b, sq, skv):
    return {"lengths": torch.tensor([skv if i % 2 == 0 else skv // 3 for i in range(b)], dtype=torch.int32, device="cuda")}


def blocks(torch, b, sq, skv):
    shape = (-(-sq // 64), -(-skv // 64))
    return {"blocks": (torch.rand(shape, generator=torch.Generator().manual_seed(5)) < 0.3).to(torch.int32).cuda()}


def globals_of(torch, b, sq, skv):
    return {"global_queries": torch.arange(sq, device="cuda") % 100 == 0, "global_keys": torch.arange(skv, device="cuda") % 100 == 0}


def packing(torch, b, sq, skv):
    """Sequences of 1 to 400 queries, none among them, and of as many keys more or less, in a pack without a batch."""
    sizes = torch.tensor([100, 1, 0, 400, 37, 250, 3, 0, 180, 90] * 20)
    queries, keys = (torch.cat([torch.zeros(1, dtype=torch.int64), (sizes * part).int().cumsum(0)]).clamp(max=n) for n, part in ((sq, 1), (skv, 1.3)))
    queries[-1], keys[-1] = sq, skv
    return {"sequences": (torch.searchsorted(queries, torch.arange(sq), right=True) - 1).to(torch.int32).cuda(), "query_offsets": queries.to(torch.int32).cuda(), "key_offsets": keys.to(torch.int32).cuda()}


def in_pack(t, i, j):
    s = t["sequences"].long()[i]
    return (t["key_offsets"][s] <= j) & (j < t["key_offsets"][s + 1]) & (j <= i + t["key_offsets"][s + 1] - t["query_offsets"][s + 1])


def none(torch, b, sq, skv):
    return {}


def same(t, *coordinates):
    return t["query_documents"][:, :, None] == t["key_documents"][:, None]


# Variant, its tables, and its mask: of tables, coordinates that broadcast to [1, Sq, Skv] and Skv - Sq.
MASKS = {
    "documents": (documents, same),
    "documents+causal": (documents, lambda t, i, j, s: same(t) & (j <= i + s)),
    "jagged": (packing, lambda t, i, j, s: in_pack(t, i, j)),
    "prefix": (prefixes, lambda t, i, j, s: (j <= i + s) | (j < t["prefixes"][:, None, None])),
    "padded": (lengths, lambda t, i, j, s: (j < t["lengths"][:, None, None]) & (i >= 0)),
    "streaming(4,90)": (none, lambda t, i, j, s: (j <= i + s) & ((i + s - j <= 90) | (j < 4))),
    "dilated(30,4)": (none, lambda t, i, j, s: (j <= i + s) & (i + s - j <= 120) & ((i + s - j) % 4 == 0)),
    "strided(40)": (none, lambda t, i, j, s: (j <= i + s) & ((i + s - j < 40) | ((i + s - j) % 40 == 0))),
    "chunked(100)": (none, lambda t, i, j, s: (j <= i + s) & (j // 100 == (i + s) // 100)),
    "longformer": (globals_of, lambda t, i, j, s: ((i + s - j).abs() <= 64) | t["global_queries"][i] | t["global_keys"][j]),
    "bigbird(64)": (blocks, lambda t, i, j, s: t["blocks"][i // 64, j // 64] != 0),
}


def expected(torch, q, k, v, kept):
    q, k, v = (x.double() for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // max(1, k.shape[1]), 1) for x in (k, v))
    scores = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).masked_fill(~kept[:, None], float("-inf"))
    if scores.shape[-1] == 0:
        return torch.zeros(*q.shape[:3], v.shape[-1], device="cuda", dtype=torch.float64), torch.full(q.shape[:3], float("-inf"), device="cuda", dtype=torch.float64)
    weights = scores.softmax(-1)
    weights = torch.where(scores == float("-inf"), torch.zeros_like(weights), weights)      # a row without keys, too
    # A weight of 0 hides what it meets, NaN too; a NaN that a row sees is its own.
    spoilt = v.isnan().any(-1)
    out = weights @ v.nan_to_num(0.0)
    sees = (kept[:, None] & spoilt[:, :, None]).any(-1)
    return out.masked_fill(sees[..., None], float("nan")), scores.logsumexp(-1)


def check(torch, kernel, variant, shape, d, poisoned):
    """None, or what is wrong."""
    b, h, hkv, sq, skv = shape
    q, k, v = (torch.randn(b, n, s, d, device="cuda", dtype=torch.bfloat16) for n, s in ((h, sq), (hkv, skv), (hkv, skv)))
    if poisoned:
        v[:, :, skv // 2 : skv // 2 + 3] = float("nan")
    make, keeps = MASKS[variant]
    tables = make(torch, b, sq, skv)
    i, j = torch.arange(sq, device="cuda")[None, :, None], torch.arange(skv, device="cuda")[None, None]
    kept = keeps(tables, i, j, skv - sq).expand(b, sq, skv)
    o, lse = torch.full_like(q, 7.0), torch.full((b, h, sq), 7.0, device="cuda")
    kernel.bind({"Q": q, "K": k, "V": v, "O": o, "lse": lse, **tables})()
    want, want_lse = expected(torch, q, k, v, kept)
    if not torch.equal(o.isnan(), want.isnan()):
        return f"{int((o.isnan() != want.isnan()).sum())} elements are NaN on one side only"
    worst = (o.double() - want).nan_to_num().abs().max().item() if o.numel() else 0
    finite = want_lse > float("-inf")
    if not torch.equal(lse > float("-inf"), finite):
        return "lse is not -inf where rows have no keys"
    worst_lse = (lse.double() - want_lse)[finite].abs().max().item() if bool(finite.any()) else 0
    return None if worst < 0.03 and worst_lse < 1e-3 else f"off by {worst:.3g}, lse by {worst_lse:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--target", default="gpu")
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128])
    args = parser.parse_args()
    import torch
    library = tilewright.Library(args.library)
    torch.manual_seed(0)
    specs = [(variant, d) for variant in MASKS for d in args.head_dims]
    start = time.perf_counter()
    with ThreadPoolExecutor(16) as pool:
        kernels = dict(zip(specs, pool.map(lambda spec: library.build(spec[0], "bf16", spec[1], target=args.target), specs)))
    print(f"{torch.cuda.get_device_name()}, {args.target}: {len(specs)} kernels built in {time.perf_counter() - start:.0f} s")
    failures = launches = 0
    for variant, d in specs:
        wrong = []
        for shape in SHAPES:
            for poisoned in (False, True):
                launches += 1
                if said := check(torch, kernels[variant, d], variant, shape, d, poisoned):
                    wrong.append(f"{shape}{' with NaN' if poisoned else ''}: {said}")
        torch.cuda.synchronize()
        print(f"{'WRONG' if wrong else 'right'} {variant} D {d}" + "".join("\n    " + line for line in wrong[:4]), flush=True)
        failures += len(wrong)
    print(f"{failures} of {launches} launches are wrong")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
