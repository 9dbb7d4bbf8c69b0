#!/usr/bin/env python3
"""Times masks against the tiles that they keep: a kernel should take as much of the dense one's time as its tiles are of all tiles.

    python3 tests/bench/sparsity.py --library build/lib/libtilewright.so [--flex] [--count] [--json out.json] [--only TEXT ...]

Needed tiles are counted element by element, in tiles of the kernel's own schedule, on the GPU. Some rows of every result are checked against float64
first. A time is the median over rounds in which all candidates run once, in random order. The last columns are the time allowed, 1.25 times the dense
one's share and 10 us, the part of it that was taken, and how many times as fast as the dense one a kernel is. `--flex` then times some beside
FlexAttention. `--count` counts the tiles that kernels multiply, by Nsight Compute: the products issued by a
sparse kernel to those of the dense one. Needs torch with CUDA.
"""
import argparse
import csv
import io
import json
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers  # noqa: E402
import tilewright  # noqa: E402

PRODUCTS = {"gpu": "sm__inst_executed_pipe_tensor_op_gmma.sum", "h200-sm80": "sm__inst_executed_pipe_tensor_op_hmma.sum"}


class Mask(NamedTuple):
    name: str
    variant: str
    length: int
    keeps: Callable            # (tables without their batch, rows, columns) -> the mask's elements, of index tensors that broadcast
    tables: Callable = lambda torch, n: {}
    in_flex: bool = False
    bias: Callable = None      # (tables, head, rows, columns) -> what is added to scores


def title(mask):
    return f"{mask.name} {mask.length // K}k"


def documents(torch, n):
    """Documents of 2048 on average, one after the other, in one batch."""
    starts = torch.randperm(n - 1, generator=torch.Generator().manual_seed(1))[: n // 2048 - 1] + 1
    ids = torch.zeros(n, dtype=torch.int32)
    ids[starts] = 1
    ids = ids.cumsum(0).to(torch.int32)[None].cuda().contiguous()
    return {"query_documents": ids, "key_documents": ids.clone()}


def packing(torch, n):
    """Sequences of 2048 on average, each causal."""
    starts = torch.randperm(n - 1, generator=torch.Generator().manual_seed(1))[: n // 2048 - 1].sort().values + 1
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), starts, torch.tensor([n])])
    sequences = torch.searchsorted(offsets, torch.arange(n), right=True) - 1
    return {"sequences": sequences.to(torch.int32).cuda(), "query_offsets": offsets.to(torch.int32).cuda(), "key_offsets": offsets.to(torch.int32).cuda()}


def prefix(torch, n):
    return {"prefixes": torch.tensor([n // 4], dtype=torch.int32, device="cuda")}


def blocks_of(side, density):
    """A table of blocks, of which each row keeps its own and others at random."""
    def make(torch, n):
        count = n // side
        table = torch.rand(count, count, generator=torch.Generator().manual_seed(2)) < density
        table.fill_diagonal_(True)
        return {"blocks": table.to(torch.int32).cuda()}
    return make


def slopes(torch, n):
    return {"slopes": 2.0 ** -(0.5 * torch.arange(1, 17, device="cuda", dtype=torch.float32))}


def same_document(t, i, j):
    return t["query_documents"][i] == t["key_documents"][j]


def same_sequence(t, i, j):
    return (t["sequences"][i] == t["sequences"][j]) & (j <= i)


def block_kept(side):
    return lambda t, i, j: t["blocks"][i // side, j // side] != 0


K = 1024
MASKS = [
    *(Mask("window 1024", "window(1023,0)", n, lambda t, i, j: (j <= i) & (i - j < 1024), in_flex=n == 16 * K) for n in (16 * K, 32 * K, 64 * K)),
    *(Mask("documents", "documents", n, same_document, documents, in_flex=n == 16 * K) for n in (16 * K, 64 * K)),
    Mask("ALiBi, causal", "causal+alibi", 16 * K, lambda t, i, j: j <= i, slopes, in_flex=True, bias=lambda t, h, i, j: t["slopes"][h] * (j - i)),
    Mask("documents, causal", "documents+causal", 16 * K, lambda t, i, j: same_document(t, i, j) & (j <= i), documents, in_flex=True),
    *(Mask("packed, causal", "jagged", n, same_sequence, packing) for n in (16 * K, 64 * K)),
    Mask("prefix", "prefix", 16 * K, lambda t, i, j: (j <= i) | (j < t["prefixes"][0]), prefix),
    Mask("sinks and window", "streaming(4,1023)", 16 * K, lambda t, i, j: (j <= i) & ((i - j < 1024) | (j < 4))),
    Mask("dilated", "dilated(1024,4)", 16 * K, lambda t, i, j: (j <= i) & (i - j <= 4096) & ((i - j) % 4 == 0)),
    *(Mask(f"blocks, {100 * density:.0f} %", "bigbird(128)", n, block_kept(128), blocks_of(128, density)) for n, density in ((16 * K, 0.1), (16 * K, 0.5), (64 * K, 0.1))),
]


def tiles_of(torch, mask, tables, height, width):
    """Tables of tiles: those with an element that the mask keeps, and those of which it keeps every one."""
    columns = torch.arange(mask.length, device="cuda")[None]
    some, every = [], []
    for first in range(0, mask.length, height):
        rows = torch.arange(first, min(first + height, mask.length), device="cuda")[:, None]
        kept = mask.keeps(tables, rows, columns)
        for into, row, outside in ((some, kept.any(0), False), (every, kept.all(0), True)):
            row = torch.nn.functional.pad(row, (0, -mask.length % width), value=outside).view(-1, width)
            into.append(row.all(1) if outside else row.any(1))
    return torch.stack(some), torch.stack(every)


def without_batch(tables):
    """Tables as a mask reads them: of the one batch that there is."""
    return {name: table[0].contiguous() if table.dim() == 2 and table.shape[0] == 1 else table for name, table in tables.items()}


def check(torch, mask, tables, q, k, v, o):
    """Rows from three places of the first head."""
    columns = torch.arange(mask.length, device="cuda")[None]
    for first in (0, mask.length // 2 - 100, mask.length - 77):
        rows = torch.arange(first, min(first + 150, mask.length), device="cuda")
        scores = (q[0, 0, rows].double() @ k[0, 0].double().T) / q.shape[-1] ** 0.5
        if mask.bias:
            scores = scores + mask.bias(tables, 0, rows[:, None], columns).double()
        scores = scores.masked_fill(~mask.keeps(tables, rows[:, None], columns), float("-inf"))
        worst = (scores.softmax(-1).nan_to_num() @ v[0, 0].double() - o[0, 0, rows].double()).abs().max().item()
        if not worst < 0.03:
            raise RuntimeError(f"{mask.name}: rows from {first} are wrong by {worst:.3g}")


def flex(torch, mask, tables, q, k, v, side=128):
    """FlexAttention's call. Its mask object is made of tables of tiles, of which no more than a row is looked at element by element at once: `create_block_mask` takes minutes at 16k."""
    from torch.nn.attention.flex_attention import BlockMask, flex_attention
    torch._dynamo.config.recompile_limit = 64
    some, full = tiles_of(torch, mask, tables, side, side)

    def listed(tiles):
        return tiles.sum(1, dtype=torch.int32)[None, None], tiles.to(torch.int8).argsort(dim=1, descending=True, stable=True).to(torch.int32)[None, None]

    keeps, bias = mask.keeps, mask.bias
    block_mask = BlockMask.from_kv_blocks(*listed(some & ~full), *listed(full), BLOCK_SIZE=side, mask_mod=lambda b, h, i, j: keeps(tables, i, j))
    call = torch.compile(flex_attention, dynamic=False)
    score_mod = (lambda s, b, h, i, j: s + bias(tables, h, i, j)) if bias else None
    return lambda: call(q, k, v, score_mod=score_mod, block_mask=block_mask)


def build(library, variant, d, target, schedule):
    return library.build(variant, "bf16", d, target=target, options="schedule=" + schedule if schedule else None)


def counted(args, only, variant):
    """Products of the dense kernel and of the mask's one, in this order."""
    command = ["ncu", "--csv", "--metrics", PRODUCTS[args.target], "--kernel-name", f"regex:^(plain|{re.split('[(+]', variant)[0]})", sys.executable, __file__, "--library", args.library,
               "--target", args.target, "--heads", "1", "--once", only]
    text = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
    rows = list(csv.DictReader(io.StringIO(text[text.find('"ID"'):])))
    return [float(row["Metric Value"].replace(",", "")) for row in rows]


class Case:
    """A mask's inputs, and launches of its kernel and of the dense one."""

    def __init__(self, torch, kernels, mask, args):
        shape = (1, args.heads, mask.length, args.head_dim)
        self.q, self.k, self.v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        tables, self.o, lse = mask.tables(torch, mask.length), torch.empty_like(self.q), torch.empty(shape[:3], device="cuda")
        self.tables = without_batch(tables)
        tensors = {"Q": self.q, "K": self.k, "V": self.v, "O": self.o, "lse": lse}
        self.dense = kernels["plain"].bind({**tensors, "O": torch.empty_like(self.o), "lse": lse.clone()})
        self.ours = kernels[mask.variant].bind({**tensors, **tables})
        text = kernels[mask.variant].describe()
        self.tile = [int(re.search(rf"\b{axis}=(\d+)", text)[1]) for axis in "qk"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilewright.so")
    parser.add_argument("--target", default="gpu", choices=list(PRODUCTS), help="h200-sm80: the kernels for GPUs without Hopper's instructions")
    parser.add_argument("--schedule", help="of every kernel, in place of the default ones")
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--flex", action="store_true", help="then beside FlexAttention, at 16k")
    parser.add_argument("--count", action="store_true", help="count tiles by Nsight Compute")
    parser.add_argument("--only", nargs="*", help="masks with one of these in their names, as 'documents 16k'")
    parser.add_argument("--lengths", nargs="*", type=int, help="these lengths only, in thousands of 1024")
    parser.add_argument("--once", help=argparse.SUPPRESS)   # under Nsight Compute: the dense kernel and this mask's, once each
    args = parser.parse_args()
    start = time.perf_counter()
    import torch
    library = tilewright.Library(args.library)
    torch.manual_seed(0)
    random.seed(0)
    chosen = [mask for mask in MASKS if not (args.once and title(mask) != args.once or args.only and not any(text in title(mask) for text in args.only)
                                             or args.lengths and mask.length // K not in args.lengths)]
    variants = ["plain", *dict.fromkeys(mask.variant for mask in chosen)]
    with ThreadPoolExecutor(16) as pool:
        kernels = dict(zip(variants, pool.map(lambda variant: build(library, variant, args.head_dim, args.target, args.schedule), variants)))
    if args.once:
        case = Case(torch, kernels, chosen[0], args)
        case.dense(), case.ours()
        torch.cuda.synchronize()
        return
    print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}; B 1, H {args.heads}, D {args.head_dim}, bf16; milliseconds, medians of {args.rounds}; "
          f"{len(kernels)} kernels built after {time.perf_counter() - start:.0f} s", flush=True)
    print(f"{'mask':26} {'tiles needed':>20} {'visited':>8} {'dense':>8} {'ours':>8} {'allowed':>8} {'part':>6} {'of dense':>8}", flush=True)
    rows = []
    for mask in chosen:
        case = Case(torch, kernels, mask, args)
        some, _ = tiles_of(torch, mask, case.tables, *case.tile)
        needed, every = int(some.sum()), some.numel()
        case.ours()
        torch.cuda.synchronize()
        check(torch, mask, case.tables, case.q, case.k, case.v, case.o)
        times = peers.measure(torch, {"dense": case.dense, "ours": case.ours}, args.rounds, 0)
        visited = None
        if args.count:
            products = counted(args, title(mask), mask.variant)
            visited = round(every * products[1] / products[0]) if len(products) == 2 else None
        allowed = times["dense"] * needed / every * 1.25 + 0.010
        rows.append({"mask": mask.name, "variant": mask.variant, "length": mask.length, "needed": needed, "every": every, "visited": visited, "milliseconds": times, "allowed": allowed})
        print(f"{title(mask):26} {needed:>7} of {every:>7} {100 * needed / every:3.0f}% {visited if visited is not None else '':>8} {times['dense']:8.3f} {times['ours']:8.3f} {allowed:8.3f} "
              f"{times['ours'] / allowed:6.2f} {times['dense'] / times['ours']:7.2f}x", flush=True)
    if args.flex:
        print(f"\n{'beside FlexAttention':26} {'ours':>8} {'flex':>8} {'times as fast':>14}", flush=True)
        for mask in (mask for mask in chosen if mask.in_flex):
            case = Case(torch, kernels, mask, args)
            peer, start = flex(torch, mask, case.tables, case.q, case.k, case.v), time.perf_counter()
            check(torch, mask, case.tables, case.q, case.k, case.v, peer())
            seconds = time.perf_counter() - start
            times = peers.measure(torch, {"ours": case.ours, "flex": peer}, args.rounds, 0)
            rows.append({"mask": mask.name, "variant": mask.variant, "length": mask.length, "milliseconds": times})
            print(f"{title(mask):26} {times['ours']:8.3f} {times['flex']:8.3f} {times['flex'] / times['ours']:14.2f}   compiled in {seconds:.1f} s", flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
