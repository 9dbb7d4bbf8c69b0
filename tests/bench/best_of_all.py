#!/usr/bin/env python3
"""Holds what a build takes by the cost model, and by a tuning, to the fastest of all schedules.

    python3 tests/bench/best_of_all.py list --program build/bin/tilewright --target h200 causal:4,16,4096,128 causal:1,16,16384,128 plain:4,32,4096,64 > list.json
    build/bin/tilewright tune causal --target h200 --shapes 4,16,16,4096,4096,128 1,16,16,16384,16384,128 --json > causal.json     (and the other variants)
    python3 tests/bench/exhaust.py --library build/lib/libtilewright.so --list list.json --json times.json
    python3 tests/bench/best_of_all.py compare --list list.json --times times.json causal.json …

(or, in place of what `tilewright tune` prints, what tests/gpu/tune.py --json has written).
`list` writes all schedules that a launch of these shapes (VARIANT:B,H,S,D) may take: those of the search space that the model predicts to be within `--within`
of its first choice for one of the shapes (the model is off by 8 to 15 %, and thousands take long to compile). "" stands for what a build without a schedule makes, which may be two
kernels; "model" is what tune=model builds. `compare` prints a line a pair, with times relative to the fastest one, which is what one half of the rounds finds, as the other half times it; and
fails where the model's choice is below 0.90 of the fastest, its geometric mean below 0.95, a tuned choice below 0.98, or more than 3 % slower than the default schedule. Ours are of bf16.
"""
import argparse
import collections
import json
import math
import subprocess
import sys
from pathlib import Path

LEAST_MODEL, LEAST_MODEL_MEAN, LEAST_TUNED, MOST_LOSS = 0.90, 0.95, 0.98, 1.03


def explained(program, target, variant, shape):
    b, h, s, d = shape
    done = subprocess.run([program, "explain", variant, "--target", target, "--shape", f"{b},{h},{h},{s},{s},{d}", "--json", "--all"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["programs"][0]


def modelled(program, target, variant, shape):
    """What tune=model builds."""
    b, h, s, d = shape
    done = subprocess.run([program, "tune", variant, "--target", target, "--offline", "--shapes", f"{b},{h},{h},{s},{s},{d}", "--candidates", "2", "--json"], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)[0]
    return "" if result["chosen"] == result["default"] else result["chosen"]


def make_list(args):
    entries = {}
    for pair in args.pairs:
        variant, numbers = pair.split(":")
        b, h, s, d = map(int, numbers.split(","))
        entry = entries.setdefault((variant, d), {"variant": variant, "target": args.target, "head_dim": d, "shapes": [], "schedules": [""], "model": {}})
        facts = explained(args.program, args.target, variant, (b, h, s, d))
        ranked = [(each["schedule"], each["estimate"]["seconds"]) for each in facts["all"]]
        near = [schedule for schedule, seconds in ranked if seconds <= args.within * ranked[0][1]]
        known = set(entry["schedules"])
        entry["schedules"] += [schedule for schedule in [facts["schedule"], *near] if schedule not in known and not known.add(schedule)]
        entry["shapes"].append([b, h, s])
        entry["model"][f"{b},{h},{s}"] = modelled(args.program, args.target, variant, (b, h, s, d))
    json.dump(list(entries.values()), sys.stdout, indent=0)
    for entry in entries.values():
        print(f"{entry['variant']} D{entry['head_dim']}: {len(entry['schedules'])} schedules, {len(entry['shapes'])} shapes", file=sys.stderr)


def tuned_choices(files):
    """{(variant, target, head dim, shape): (schedule, its ratio to the default one's time)} of what `tune --json` chose; the default one is ""."""
    chosen = {}
    for file in files:
        for result in json.loads(Path(file).read_text()):
            result = result.get("tuned", result)
            b, h, hkv, sq, skv, d, dv = result["shape"]
            if h == hkv and sq == skv and d == dv and result["dtype"] == "bf16":
                ratio = next((each["ratio"] for each in result["schedules"] if each["schedule"] == result["chosen"] and "ratio" in each), 1)
                chosen[result["variant"], result["target"], d, f"{b},{h},{sq}"] = ("", 1) if result["chosen"] == result["default"] else (result["chosen"], ratio)
    return chosen


def share_of_best(times, schedule):
    """Times of the fastest one over those of the schedule. Of many that are alike the luckiest looks faster than it is: the half of the rounds that finds it does not time it."""
    halved = {text: row["halves"] for text, row in times.items() if "halves" in row}
    if schedule not in halved:
        return min(row["seconds"] for row in times.values()) / times[schedule]["seconds"]
    found = [min(halved, key=lambda text: halved[text][half]) for half in (0, 1)]
    return math.sqrt(halved[found[0]][1] / halved[schedule][1] * halved[found[1]][0] / halved[schedule][0])


def compare(args):
    times, wrong, rows, complaints = collections.defaultdict(dict), [], [], []
    for row in json.loads(Path(args.times).read_text())["rows"]:
        if "seconds" in row:
            times[row["variant"], row["target"], row["head_dim"], ",".join(map(str, row["shape"]))][row["schedule"]] = row
        elif "wrong" in row:
            wrong.append(row)
    tuned = tuned_choices(args.tuned)
    for entry in json.loads(Path(args.list).read_text()):
        for shape in entry["model"]:
            key = entry["variant"], entry["target"], entry["head_dim"], shape
            if not times[key]:
                continue
            best = min(times[key], key=lambda text: times[key][text]["seconds"])
            fastest = times[key][best]["seconds"]
            model = entry["model"][shape]
            chosen = {"model": model if model in times[key] else "", "default": ""}   # what a build takes where the model's is refused
            share = {what: share_of_best(times[key], schedule) for what, schedule in chosen.items()}
            if key in tuned:
                schedule, ratio = tuned[key]   # where it is not among those that were timed here, its ratio is the tuner's
                share["tuned"] = share_of_best(times[key], schedule) if schedule in times[key] else share["default"] / ratio
            rows.append((key, share))
            print(f"{key[1]:10} {key[0]:12} D{key[2]:<4} {shape:14} {len(times[key]):4} timed, fastest {fastest * 1e6:8.1f} us; of it: " + ", ".join(f"{what} {value:.3f}" for what, value in share.items()) + f"  {best or 'the default build'}")
            if share["model"] < LEAST_MODEL:
                complaints.append(f"{key}: the model's choice reaches {share['model']:.3f} of the fastest, expected {LEAST_MODEL}")
            if args.tuned and "tuned" not in share:
                complaints.append(f"{key}: was not tuned")
            elif args.tuned and share["tuned"] < LEAST_TUNED:
                complaints.append(f"{key}: the tuned choice reaches {share['tuned']:.3f} of the fastest, expected {LEAST_TUNED}")
            if share["default"] > MOST_LOSS * share.get("tuned", share["default"]):
                complaints.append(f"{key}: the tuned choice takes {share['default'] / share['tuned']:.3f} of the default one's time, expected {MOST_LOSS} at most")
    for what in ("model", "default", "tuned"):
        values = [share[what] for _, share in rows if what in share]
        if values:
            mean = math.exp(sum(map(math.log, values)) / len(values))
            print(f"{what}: geometric mean {mean:.3f}, least {min(values):.3f}, {len(values)} pairs")
            if what == "model" and mean < LEAST_MODEL_MEAN:
                complaints.append(f"the geometric mean of the model's choices is {mean:.3f}, expected {LEAST_MODEL_MEAN}")
    complaints += [f"{row['variant']} D{row['head_dim']} {row['shape']}: {row['schedule']} is off by {row['wrong']:.3g}" for row in wrong]
    for complaint in complaints:
        print("WRONG:", complaint)
    return 1 if complaints or not rows else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("list")
    listed.add_argument("--program", required=True)
    listed.add_argument("--target", default="h200")
    listed.add_argument("--within", type=float, default=1.4)
    listed.add_argument("pairs", nargs="+", metavar="VARIANT:B,H,S,D")
    compared = commands.add_parser("compare")
    compared.add_argument("--list", required=True)
    compared.add_argument("--times", required=True)
    compared.add_argument("tuned", nargs="*")
    args = parser.parse_args()
    return make_list(args) if args.command == "list" else compare(args)


if __name__ == "__main__":
    sys.exit(main())
