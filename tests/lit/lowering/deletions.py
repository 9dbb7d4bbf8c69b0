"""Deletes one synchronising operation of a device module at a time; every such module must be refused by device-check-protocol.

A fence without registers orders what an earlier fence named: it may go.
"""
import re
import subprocess
import sys

OPERATION = re.compile(r"\s*device\.(acquire|copy|post|advance|await|release|fence|multiply|commit|wait|turn)\b")
DIVIDER = "\n// -----\n"


def main(program):
    lines = sys.stdin.read().rstrip().split("\n")
    deleted = [i for i, line in enumerate(lines) if (match := OPERATION.match(line)) and not re.match(r"\s*device\.fence( \{|$)", line)]
    text = DIVIDER.join("\n".join(lines[:i] + lines[i + 1:]) for i in deleted)
    said = subprocess.run([program, "opt", "-split-input-file", "-device-check-protocol", "-mlir-print-op-on-diagnostic=false", "-", "-o", "/dev/null"], input=text, capture_output=True, text=True).stderr
    starts = [0]
    for part in text.split(DIVIDER):
        starts.append(starts[-1] + part.count("\n") + 2)
    refused = {next(n for n in range(len(deleted)) if int(at) <= starts[n + 1]) for at in re.findall(r"^[^\n]*:(\d+):\d+: error:", said, re.MULTILINE)}
    for n, i in enumerate(deleted):
        if n not in refused:
            print(f"not found: without line {i + 1}: {lines[i].strip()}")
    kinds = {OPERATION.match(lines[i]).group(1) for i in deleted}
    print(f"{len(deleted)} deletions of {len(kinds)} kinds, {len(refused)} refused")
    return len(refused) != len(deleted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
