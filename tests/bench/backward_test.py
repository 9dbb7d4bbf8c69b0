"""What backward.py does without a GPU: kernels of a gradient from the texts of its programs, of which only a process's first build writes any."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import backward  # noqa: E402

PARTS = """kernel made
  schedule  block=q q=128

kernel made_rows
  schedule  block=q q=128 stages=2
  stores    dtotal f32[3]

kernel made_dK_dQ
  schedule  block=k k=128 q=64 stages=2 delayed=no
  loads     dtotal f32[3]
  adds to   dQ_sum f32[4]
  axis      d inner, 64 wide, 60 long: dimension 3 of Q
"""


class Described:
    def __init__(self, text):
        self.text = text

    def describe(self):
        return self.text


class Library:
    """Keeps kernels in memory, and dumps those that are not there."""

    def __init__(self):
        self.known, self.built = set(), []

    def build_gradient(self, variant, dtype, d, target, options):
        folder = os.environ.get("TILEWRIGHT_DUMP")
        for name in ("made", "made_rows", "made_dK_dQ"):
            if folder and (name, d) not in self.known:
                self.known.add((name, d))
                (Path(folder) / (name + "-12345678")).mkdir()
                (Path(folder) / (name + "-12345678") / "01-program.txt").write_text(f"program {name} {variant} {d} for {target} by {options}")
        return Described(PARTS)

    def build_program(self, text, extents, target, options):
        self.built.append((text, extents, target, options))
        return Described(text)


library = Library()
os.environ["TILEWRIGHT_DUMP"] = "elsewhere"
for fields in ("", "delayed=yes exchangeBuffers=2", "stages=1"):
    made = backward.Scheduled(library, "made", 64, "accumulates=on", fields, "h200")
    assert made.between == {"dtotal": 3, "dQ_sum": 4}, made.between
assert os.environ["TILEWRIGHT_DUMP"] == "elsewhere"
by = "for h200 by accumulates=on;cache=off;tune=never"
rows = (f"program made_rows made 64 {by}", "", "h200", "cache=off;schedule=block=q q=128 stages=2")
expected = [rows, (f"program made_dK_dQ made 64 {by}", "d=60", "h200", "cache=off;schedule=block=k k=128 q=64 stages=2 delayed=no ")]
expected += [rows, (expected[1][0], "d=60", "h200", "cache=off;schedule=block=k k=128 q=64 stages=2 delayed=yes exchangeBuffers=2")]
expected += [rows, (expected[1][0], "d=60", "h200", "cache=off;schedule=block=k k=128 q=64 delayed=no stages=1")]
assert library.built == expected, library.built
del os.environ["TILEWRIGHT_DUMP"]
backward.Scheduled(library, "made", 128, None, "", "h200")      # other head dims are other programs
assert library.built[-1][0] == "program made_dK_dQ made 128 for h200 by cache=off;tune=never", library.built[-1]
assert "TILEWRIGHT_DUMP" not in os.environ
