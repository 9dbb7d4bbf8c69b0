"""The shared library exports Tilewright's own API and nothing of what is linked into it."""
import re
import subprocess
import sys

OURS = re.compile(r"^(tw::|(typeinfo|typeinfo name|vtable) for tw::|tilewright_)")
THEIRS = re.compile(r"\b(mlir|llvm|sqlite3?|nlohmann|fmt|CLI)(::|_|\b)")
WANTED = ("tw::build(tw::Program", "tw::Kernel::launch(", "tw::evaluate[abi:cxx11](", "tw::Attention::Attention(", "tw::parseProgram(", "tilewright_build", "tilewright_launch", "tilewright_error")

nm, library = sys.argv[1:]
listing = subprocess.run([nm, "-DC", "--defined-only", library], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
names = [line.split(maxsplit=2)[2] for line in listing.splitlines() if len(line.split(maxsplit=2)) == 3]
wrong = [name for name in names if not OURS.match(name) or THEIRS.search(name)]
missing = [name for name in WANTED if not any(found.startswith(name) for found in names)]
for name in wrong:
    print(f"exported, but not of the public API: {name}")
for name in missing:
    print(f"of the public API, but not exported: {name}")
print(f"{len(names)} symbols exported")
sys.exit(1 if wrong or missing else 0)
