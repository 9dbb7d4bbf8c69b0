#!/usr/bin/env python3
"""Every variant of the gallery, and some combinations, on a GPU against float64, as a user runs them: `tilewright run NAME --on gpu --check`.

    python3 tests/gpu/gallery.py --program build/bin/tilewright [--target h200-sm80] [--jobs 16] [--only TEXT ...]

Exit status 1 where a run is wrong or refused. Kernels go to the cache, so that a shape finds those of the one before. No torch is needed.
"""
import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

# B, H, Hkv, Sq, Skv, D, Dv: several tiles with tails, groups of heads; more queries than keys, so that causal rows are empty; wide heads.
SHAPES = {"bf16": ("2,4,2,333,517,64", "1,6,2,300,130,64", "1,2,2,257,640,128"), "f16": ("1,3,1,129,1000,80", "1,2,1,1,700,80")}
COMBINED = ("documents+causal+alibi", "sink+streaming+softcap(10)", "sigmoid+prefix+t5", "jagged+kerple+offbyone", "longformer+forgetting+tanhgated", "qknorm+causal+temperature",
            "differential+padded+dropout(0.5)", "relu2+chunked(100)+gated")


def run(program, variant, dtype, shape, target):
    """None, or what is wrong."""
    command = [program, "run", variant, "--on", "gpu", "--check", "--repeat", "1", "--dtype", dtype, "--shape", shape] + (["--target", target] if target else [])
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "took more than 120 s"
    return None if ran.returncode == 0 else (ran.stdout[-600:] + ran.stderr[-600:]).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="tilewright")
    parser.add_argument("--target", help="in place of what GPU 0 is")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--only", nargs="*", help="variants with one of these in their names")
    args = parser.parse_args()
    named = json.loads(subprocess.run([args.program, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    variants = [each["name"] for each in named] + list(COMBINED)
    variants = [name for name in variants if not args.only or any(text in name for text in args.only)]
    start = time.perf_counter()

    def all_of(job):
        variant, dtype = job
        return [(shape, run(args.program, variant, dtype, shape, args.target)) for shape in SHAPES[dtype]]

    jobs = [(variant, dtype) for variant in variants for dtype in SHAPES]
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
