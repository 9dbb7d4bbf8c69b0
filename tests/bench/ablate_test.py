"""What tests/bench/ablate.py does without a GPU: the changes, the work of folds, refusals, the report. Given the program `tilewright`."""
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import ablate
import schedules
import sm_clock

PROGRAM = ""   # tilewright
DEFAULT = "block=q d=128 e=128 k=128 q=128 warpgroups=2 stages=2 blockBuffers=1 overlap=yes turns=no drawn=yes stabilised=yes producer=yes blocksPerSM=1 registerRows=6 registerVectors=2"
DESCRIPTION = """kernel {variant}
  target    {target}
  key       0123
  schedule  {schedule}
  code      100 bytes, entry f
  resources 384 threads a block, 168 registers a thread, 12 bytes spilled, 164984 bytes of shared memory a block
  launch    1 kernel
  loads     Q bf16[4]
  loads     K bf16[4]
  loads     V bf16[4]
  stores    O bf16[4]
  axis      b free: dimension 0 of O, dimension 0 of Q
  axis      q block, 128 wide: dimension 2 of O
  axis      k fold, 128 wide: dimension 2 of K
  axis      d inner, 128 wide, 128 long: dimension 3 of Q
"""


class FakeKernel:
    def __init__(self, variant, target, schedule):
        self.schedule, self.text = schedule, DESCRIPTION.format(variant=variant, target=target, schedule=schedule)

    def describe(self):
        return self.text


class FakeLibrary:
    """Refuses what the compiler would, and keeps what it was asked for."""

    def __init__(self, target="h200"):
        self.target, self.asked = target, []

    def build(self, variant, dtype, d, dv=None, target="gpu", options=None):
        self.asked.append(options)
        text = options.split("schedule=", 1)[1] if "schedule=" in options else DEFAULT
        fields = schedules.parse(text)
        if fields["q"] == 256:
            raise RuntimeError(f"a block of rows | too wide:\n  a note. The schedule: {text}")
        return FakeKernel(variant, self.target, text)


class FakeGpu:
    """Kernels without turns take 1 ms at 1.5 GHz, with turns 2 ms; one of four stages computes nonsense."""
    name, multiprocessors, versions = "Fake GPU", 132, "torch 0"

    def __init__(self, cycles=True, error=0.001):
        self.cycles, self.wrong, self.launched = cycles, error, []

    def bind(self, kernel):
        return lambda: self.launched.append(kernel.schedule), kernel

    def difference(self, a, b):
        return float("nan") if "stages=3" in a.schedule else 0.001

    def error(self, library, variant, head_dim, o):
        return self.wrong

    def wait(self):
        pass

    def start(self, launch, times):
        for _ in range(times):
            launch()
        return 2e-3 if "turns=yes" in self.launched[-1] else 1e-3

    def finish(self, seconds):
        return seconds, seconds * 1.5e9 if self.cycles else None


def options(*more):
    return ablate.arguments(["--library", "x", "--rounds", "3", *more])


class Schedules(unittest.TestCase):
    def test_a_schedule_is_read_and_printed_as_it_was(self):
        self.assertEqual(schedules.show(schedules.parse(DEFAULT)), DEFAULT)
        self.assertEqual(schedules.parse(DEFAULT)["k"], 128)

    def test_a_description_is_understood(self):
        described = schedules.Description(DESCRIPTION.format(variant="causal", target="h200", schedule=DEFAULT))
        self.assertEqual((described.target, described.block, described.fold, described.loads), ("h200", "q", "k", ["Q", "K", "V"]))
        self.assertEqual(described.resources, {"threads": 384, "registers": 168, "spilled_bytes": 12, "shared_bytes": 164984})

    def test_every_field_is_changed_alone(self):
        base = schedules.parse(DEFAULT)
        made = dict(schedules.changes(base, "q", "k", [96]))
        for name in ("warpgroups=1 q=64", "warpgroups=3 q=192", "warpgroups=4 q=256", "k=64", "k=96", "k=112", "k=144", "k=256", "stages=1", "stages=3", "blockBuffers=2", "overlap=no", "turns=yes", "drawn=no", "stabilised=no", "producer=no", "blocksPerSM=2"):
            self.assertIn(name, made)
        self.assertEqual(len(made), 17)
        for name, schedule in made.items():
            self.assertEqual({f for f in base if base[f] != schedule[f]}, {pair.split("=")[0] for pair in name.split()})
            self.assertEqual(list(schedule), list(base))

    def test_no_change_is_below_what_there_can_be(self):
        base = {**schedules.parse(DEFAULT), "k": 16, "stages": 1}
        self.assertNotIn("stages=0", dict(schedules.changes(base, "q", "k")))
        self.assertEqual([name for name, _ in schedules.changes(base, "q", "k") if name.startswith("k=")], ["k=32"])


class Work(unittest.TestCase):
    def kept(self, variant, queries, keys):
        left, right = schedules.kept_span(variant)
        return [[(left is None or q + keys - queries - k <= left) and (right is None or k - (q + keys - queries) <= right) for k in range(keys)] for q in range(queries)]

    def test_spans_of_variants(self):
        for variant, span in {"plain": (None, None), "softcap(20)": (None, None), "causal": (None, 0), "window": (127, 0), "window(30,5)": (30, 5), "gemma2": (4095, 0),
                              "causal+window(7,3)": (7, 0), "alibi+causal": (None, 0)}.items():
            self.assertEqual(schedules.kept_span(variant), span, variant)

    def test_pairs_and_tiles_are_those_of_a_table(self):
        for variant in ("plain", "causal", "window(9,4)", "causal+window(3,8)"):
            for queries, keys in ((40, 40), (33, 50), (50, 33), (1, 40), (5, 0)):
                table = self.kept(variant, queries, keys)
                self.assertEqual(schedules.kept_pairs(variant, queries, keys), sum(map(sum, table)), (variant, queries, keys))
                for rows, columns in ((16, 16), (8, 32), (64, 8)):
                    tiles = {(q // rows, k // columns) for q in range(queries) for k in range(keys) if table[q][k]}
                    self.assertEqual(schedules.visited_tiles(variant, queries, keys, rows, columns), len(tiles), (variant, queries, keys, rows, columns))

    def test_flop_of_visited_tiles(self):
        base = schedules.parse(DEFAULT)
        self.assertEqual(schedules.visited_flop("plain", (2, 3, 256, 256), base, "q", "k"), 2 * 3 * 4 * 256 * 256 * 128)
        self.assertEqual(schedules.visited_flop("causal", (2, 3, 256, 256), base, "q", "k"), 2 * 3 * 3 * 4 * 128 * 128 * 128)

    def test_shares(self):
        self.assertAlmostEqual(schedules.utilisation(4096 * 132 * 500, 1000, 132, "h200"), 0.5)
        self.assertIsNone(schedules.utilisation(1, None, 132, "h200"))
        self.assertIsNone(schedules.utilisation(1, 1000, 132, "unknown"))

    @unittest.skipUnless(sys.argv[1:], "needs the program tilewright")
    def test_rates_are_those_of_the_targets(self):
        targets = json.loads(subprocess.run([PROGRAM, "list", "--targets", "--json"], capture_output=True, text=True, check=True).stdout)
        known = {t["name"]: round(t["tensor_flops_f16"] / (t["multiprocessors"] * t["clock_hz"])) for t in targets if t["name"] != "host"}
        self.assertEqual(set(known), set(schedules.FLOP_PER_CYCLE))
        for name, rate in known.items():   # of rounded figures
            self.assertAlmostEqual(rate / schedules.FLOP_PER_CYCLE[name], 1, delta=0.02, msg=name)

    @unittest.skipUnless(sys.argv[1:], "needs the program tilewright")
    def test_visited_tiles_are_those_that_a_kernel_multiplies(self):
        for variant in ("causal", "window(40,3)"):
            command = [PROGRAM, "run", variant, "--shape", "1,1,1,300,400,64", "--on", "simulator", "--target", "h200", "--json"]
            report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            s = schedules.parse(report["schedule"])
            # A warp's instruction multiplies 16 along the summed axis: the head dim, then the tile's columns.
            each = 4 * s["warpgroups"] * (s["d"] // 16 + s["k"] // 16)
            self.assertEqual(report["settings"][0]["products"], each * schedules.visited_tiles(variant, 300, 400, s["q"], s["k"]), variant)


class Clock(unittest.TestCase):
    def test_the_median_of_multiprocessors_that_went_on(self):
        before = [[100, 1000], [200, 1000], [0, 0], [300, 1000], [5, 1000]]
        after = [[1100, 2000], [2200, 2000], [0, 0], [600, 2000], [0, 0]]
        self.assertEqual(sm_clock.between(before, after), (1000, 1000e-9))
        self.assertEqual(sm_clock.between([[0, 0]], [[0, 0]]), (None, None))


class Ablation(unittest.TestCase):
    def report(self, gpu=None, library=None, **fields):
        args = options()
        for name, value in fields.items():
            setattr(args, name, value)
        return ablate.ablate(library or FakeLibrary(), gpu or FakeGpu(), (1, 16, 4096, 4096), args)

    def row(self, report, change):
        return next(row for row in report["rows"] if row["change"] == change)

    def test_times_ratios_and_shares(self):
        report = self.report()
        self.assertEqual((report["target"], report["default"], report["rows"][0]["change"]), ("h200", DEFAULT, "default"))
        self.assertEqual(self.row(report, "turns=yes")["ratio"], 2)
        self.assertEqual(self.row(report, "default again")["ratio"], 1)
        base = self.row(report, "default")
        self.assertEqual(base["cycles"], 1.5e6)
        self.assertAlmostEqual(base["clock_hz"], 1.5e9)
        self.assertAlmostEqual(base["tflops"], 4 * 16 * 128 * (4096 * 4097 // 2) * 1e-9, places=3)
        self.assertEqual(base["visited_flop"], 16 * (32 * 33 // 2) * 4 * 128 * 128 * 128)
        self.assertAlmostEqual(base["tensor_cores"], base["visited_flop"] / (1.5e6 * 132 * 4096))
        json.dumps(report)

    def test_refusals_have_their_reason_and_no_time(self):
        report = self.report()
        self.assertEqual(self.row(report, "warpgroups=4 q=256")["refused"], "a block of rows | too wide: a note")
        self.assertNotIn("seconds", self.row(report, "warpgroups=4 q=256"))
        self.assertTrue(self.row(report, "stages=3")["refused"].startswith("WRONG: off by nan"))
        table = ablate.markdown(report["rows"])
        self.assertIn("| `warpgroups=4 q=256` | refused: a block of rows / too wide: a note | | | | | | | |\n", table)
        self.assertIn("| `turns=yes` | 2.0000 | 2.000 |", table)
        self.assertEqual({line.count("|") for line in table.splitlines()}, {10})

    def test_all_run_in_every_round_in_an_order_of_their_own(self):
        gpu, orders = FakeGpu(), []

        def shuffle(order):
            random.shuffle(order)
            orders.append([row["change"] for row in order])
        described, rows = ablate.prepare(FakeLibrary(), gpu, options())
        ablate.measure(gpu, rows, 3, 5e-3, shuffle)
        self.assertEqual(len(orders), 3)
        running = sorted(row["change"] for row in rows if "launch" in row)
        self.assertTrue(all(sorted(order) == running for order in orders))
        self.assertEqual({row["launches"] for row in rows if "launch" in row}, {5, 2})   # 5 ms of 1 ms and, to even, of 2 ms

    def test_without_cycles_there_is_no_share(self):
        report = self.report(FakeGpu(cycles=False))
        self.assertIsNone(self.row(report, "default")["tensor_cores"])
        self.assertIn("| default | 1.0000 | 1.000 | ", ablate.markdown(report["rows"]))
        self.assertIn(" | – | – | 168 | 12 | 161.1 |", ablate.markdown(report["rows"]))

    def test_a_wrong_default_ends_it(self):
        for error in (0.5, float("nan")):
            with self.assertRaisesRegex(SystemExit, "the default kernel is wrong by"):
                self.report(FakeGpu(error=error))

    def test_the_files_are_written(self):
        library = FakeLibrary()
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(ablate.tilewright, "Library", lambda path: library), mock.patch.object(ablate, "Gpu", lambda *a: FakeGpu()), \
                mock.patch("builtins.print"):
            out, report = Path(folder) / "a.md", Path(folder) / "a.json"
            self.assertEqual(ablate.main(["--library", "x", "--rounds", "3", "--out", str(out), "--json", str(report)]), 0)
            self.assertIn("Fake GPU, target h200, torch 0; causal bf16, B 4, H 16, Sq 4096, Skv 4096, D 128; medians of 3; default `block=q ", out.read_text())
            self.assertEqual(json.loads(report.read_text())["shape"], {"batch": 4, "heads": 16, "queries": 4096, "keys": 4096})
        self.assertEqual(library.asked[0], "cache=off")
        self.assertTrue(library.asked[1].startswith("cache=off;schedule=block=q d=128 "))


if __name__ == "__main__":
    PROGRAM = sys.argv[1] if sys.argv[1:] else ""
    unittest.main(argv=sys.argv[:1])
