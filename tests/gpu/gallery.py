#!/usr/bin/env python3
"""Every variant of the gallery, and some combinations, on a GPU against float64, as a user runs them: `tilewright run NAME --on gpu --check`.

    python3 tests/gpu/gallery.py --program build/bin/tilewright [--every-head-dim] [--on simulator] [--target h200-sm80] [--jobs 16] [--only TEXT ...] [--head-dims 64 128]

--every-head-dim takes both types at head dims of 8 to 256, which is 700 kernels to build. With --on simulator no GPU is needed: the same at smaller shapes, in both random orders. Exit status 1 where a run is wrong or refused. Kernels go to the cache, so that a shape finds those of the one before. No torch is needed.
"""
import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

# B, H, Hkv, Sq, Skv, D, Dv: several tiles with tails, groups of heads; more queries than keys, so that causal rows are empty; one query.
SHAPES = {"gpu": {"bf16": ("2,4,2,333,517,64", "1,6,2,300,130,64", "1,2,2,257,640,128"), "f16": ("1,3,1,129,1000,80", "1,2,1,1,700,80")},
          "gpu, every head dim": dict.fromkeys(("bf16", "f16"), ("1,3,1,129,600,8", "1,2,2,257,130,40", "1,3,1,200,333,64", "1,3,1,129,300,80", "1,2,1,130,257,128", "1,2,1,130,300,192,128", "1,2,1,100,257,256")),
          "simulator": dict.fromkeys(("bf16", "f16"), ("1,3,1,70,150,8", "1,2,2,150,70,40", "2,2,1,133,267,64", "1,3,1,1,300,80", "1,2,1,257,130,128", "1,2,1,70,150,192,128", "1,2,1,70,100,256"))}
COMBINED = ("documents+causal+alibi", "sink+streaming+softcap(10)", "sigmoid+prefix+t5", "jagged+kerple+offbyone", "longformer+forgetting+tanhgated", "qknorm+causal+temperature",
            "differential+padded+dropout(0.5)", "relu2+chunked(100)+gated")


def run(args, variant, dtype, shape):
    """None, or what is wrong."""
    command = [args.program, "run", variant, "--on", args.on, "--check", "--dtype", dtype, "--shape", shape]
    command += ["--repeat", "1"] if args.on == "gpu" else []
    command += ["--target", args.target] if args.target else []
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "took more than 120 s"
    return None if ran.returncode == 0 else (ran.stdout[-600:] + ran.stderr[-600:]).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="tilewright")
    parser.add_argument("--on", choices=["gpu", "simulator"], default="gpu")
    parser.add_argument("--target", help="in place of what GPU 0 is; the simulator's, h200 by default")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--only", nargs="*", help="variants with one of these in their names")
    parser.add_argument("--every-head-dim", action="store_true", help="on a GPU too")
    parser.add_argument("--head-dims", nargs="*", help="shapes with one of these")
    args = parser.parse_args()
    if args.on == "simulator" and not args.target:
        args.target = "h200"
    shapes = {dtype: [shape for shape in each if not args.head_dims or shape.split(",")[5] in args.head_dims] for dtype, each in SHAPES[args.on + ", every head dim" * (args.on == "gpu" and args.every_head_dim)].items()}
    named = json.loads(subprocess.run([args.program, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    variants = [each["name"] for each in named] + list(COMBINED)
    variants = [name for name in variants if not args.only or any(text in name for text in args.only)]
    if not variants:
        parser.error(f"--only {' '.join(args.only)}: no variant's name contains any of these")
    start = time.perf_counter()

    def all_of(job):
        variant, dtype = job
        return [(shape, run(args, variant, dtype, shape)) for shape in shapes[dtype]]

    jobs = [(variant, dtype) for variant in variants for dtype in shapes]
    with ThreadPoolExecutor(args.jobs) as pool:
        results = dict(zip(jobs, pool.map(all_of, jobs)))
    failures = 0
    for (variant, dtype), ran in results.items():
        for shape, said in ran:
            if said:
                failures += 1
                print(f"WRONG {variant} {dtype} {shape}\n    " + said.replace("\n", "\n    "))
    launches = sum(len(ran) for ran in results.values())
    print(f"{failures} of {launches} runs of {len(variants)} variants are wrong, {time.perf_counter() - start:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
