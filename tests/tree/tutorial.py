"""Runs the commands of docs/tutorial.md: each must end with 0 and print the lines that stand below it. A block of C++ with a name is that file."""
import pathlib
import re
import subprocess
import sys
import tempfile

root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
text = (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
failures = count = 0
scratch = tempfile.TemporaryDirectory()
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
        run = subprocess.run(here, shell=True, cwd=root, capture_output=True, encoding="utf-8", timeout=300)
        missing = [line for line in expected if line.strip() and not line.startswith("…") and line not in run.stdout.replace(scratch.name + "/", "")]
        if run.returncode or missing:
            failures += 1
            print(f"$ {command}\nexit status {run.returncode}; not printed: {missing}\n{run.stdout}{run.stderr}")
print(f"{count} commands, {failures} failed")
sys.exit(1 if failures or not count else 0)
