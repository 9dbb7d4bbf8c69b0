#!/usr/bin/env python3
"""Lines of a shipped table of schedules (runtime/tune/tables) from times that tests/bench/exhaust.py took.

    python3 tests/bench/shipped_table.py --program build/bin/tilewright tests/unit/schedule/data/h200_times.dat times.json … >> runtime/tune/tables/h200.txt

Files are tables of that form, or what exhaust.py writes; what a later one has of a variant and shape replaces what earlier ones have. Of each variant and shape the fastest schedule is kept, if it takes 2.5% less than the
default one at least: a time is the median of a few rounds, and the fastest of many is lucky. Where a schedule was timed in several sets of a file, the mean of its ratios to the default one counts.
"""
import argparse
import json
import subprocess
import sys

FIELDS = ("q", "k", "warpgroups", "stages", "blockBuffers", "blocksPerSM")
FLAGS = {"o": "overlap", "t": "turns", "d": "drawn", "p": "producer"}
LEAST_GAIN = 0.025


def read(path):
    """{(target, variant, head dim, batch, heads, length): {schedule: [(set, seconds)]}}; a schedule as its first seven columns."""
    pairs, sets, current = {}, 0, None
    if path.endswith(".json"):
        for row in json.load(open(path, encoding="utf-8"))["rows"]:
            if "seconds" in row:
                pair = row["target"], row["variant"], str(row["head_dim"]), *map(str, row["shape"])
                pairs.setdefault(pair, {})[columns(row["schedule"])] = [(0, row["seconds"])]
        return pairs
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if not words or words[0] == "#":
            continue
        if words[0] == "set":
            sets += 1
            current = pairs.setdefault(tuple(words[2:]), {})
        else:
            current.setdefault(tuple(words[:7]), []).append((sets, float(words[-1]) * 1e-6))
    return pairs


def columns(schedule):
    fields = dict(word.split("=") for word in schedule.split())
    flags = "".join(letter for letter, name in FLAGS.items() if fields[name] == "yes")
    return tuple(fields[name] for name in FIELDS) + (flags or "-",)


def text(default, chosen):
    """The default schedule's text with the fields that were varied."""
    values = dict(zip(FIELDS, chosen)) | {name: "yes" if letter in chosen[6] else "no" for letter, name in FLAGS.items()}
    return " ".join(f"{name}={values.get(name, value)}" for name, value in (word.split("=") for word in default.split()))


def line(program, pair, times):
    target, variant, d, batch, heads, length = pair
    done = subprocess.run([program, "tune", variant, "--offline", "--target", target, "--shapes", ",".join((batch, heads, heads, length, length, d)), "--candidates", "2", "--json"],
                          capture_output=True, text=True, check=True)
    facts = json.loads(done.stdout)[0]
    explained = subprocess.run([program, "explain", variant, "--target", target, "--shape", ",".join((batch, heads, heads, length, length, d)), "--json"], capture_output=True, text=True, check=True)
    if json.loads(explained.stdout)["programs"][0].get("second", {}).get("taken"):
        print(f"{' '.join(pair)}: builds take a second kernel there, which was not timed", file=sys.stderr)
        return ""
    before = dict(times.get(columns(facts["default"]), []))
    if not before:
        print(f"{' '.join(pair)}: the default schedule was not timed", file=sys.stderr)
        return ""

    def ratio(schedule):
        shared = [seconds / before[number] for number, seconds in times[schedule] if number in before]
        # One that other sets of the pair leave out was not among the fastest there.
        return sum(shared) / len(shared) if len(shared) == len(before) else 1

    best = min(times, key=ratio)
    if ratio(best) > 1 - LEAST_GAIN:
        return ""
    seconds = min(before.values())
    return f"{target} | {variant} | bf16 | {facts['class']} | {text(facts['default'], best)} | {seconds * ratio(best):.4g} | {seconds:.4g}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", nargs="+")
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    pairs = {}
    for path in args.times:
        pairs.update(read(path))
    for pair, times in pairs.items():
        sys.stdout.write(line(args.program, pair, times))


main()
