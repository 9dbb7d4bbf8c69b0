"""Runs the commands of pages for users: each must end with 0 and print the lines that stand below it. A block of C++ with a name is that file.

    tutorial.py ROOT BUILD docs/tutorial.md …
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
text = "\n".join((root / page).read_text(encoding="utf-8") for page in sys.argv[3:])
failures = count = 0
scratch = tempfile.TemporaryDirectory()
environment = dict(os.environ, TILEWRIGHT_CACHE=f"{scratch.name}/cache")   # what was tuned here before is not what the page shows
written = re.findall(r"```cpp (\S+)\n(.*?)```", text, re.S)
for name, body in written:
    (pathlib.Path(scratch.name) / name).write_text(body, encoding="utf-8")
for block in re.findall(r"```console\n(.*?)```", text, re.S):
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *expected = part.strip().split("\n")
        count += 1
        here = re.sub(r"(?<![\w/])build/", str(build) + "/", command)
        for name, _ in written:
            here = re.sub(rf"(?<= ){re.escape(name)}(?= )", f"{scratch.name}/{name}", here)
        run = subprocess.run(here, shell=True, cwd=root, capture_output=True, encoding="utf-8", timeout=300, env=environment)
        missing = [line for line in expected if line.strip() and not line.startswith("…") and line not in run.stdout.replace(scratch.name + "/", "")]
        if run.returncode or missing:
            failures += 1
            print(f"$ {command}\nexit status {run.returncode}; not printed: {missing}\n{run.stdout}{run.stderr}")
print(f"{count} commands, {failures} failed")
sys.exit(1 if failures or not count else 0)
