"""What reports of GPU runs conclude, without a GPU: how all schedules are held against each other, and when a run of checks is right."""
import contextlib
import io
import json
import random
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "gpu"))
import best_of_all  # noqa: E402
import exhaust  # noqa: E402
import matrix  # noqa: E402


class Gpu:
    """Batches of launches on a clock that comes down while it works, with noise. A launch is what it takes at the first clock."""

    def __init__(self):
        self.random, self.busy = random.Random(3), 0.0
        self.cuda = types.SimpleNamespace(synchronize=lambda: None)

    def batch(self, torch, launch, times):
        clock = 1 - 0.15 * min(1, self.busy / 20)
        one = launch() / clock * (1 + abs(self.random.gauss(0, 0.01)))
        self.busy += one * times
        return one


class Exhaust(unittest.TestCase):
    def times(self, seconds, **options):
        gpu = Gpu()
        random.seed(5)      # of the order within a round
        with mock.patch.object(exhaust, "batch", gpu.batch), mock.patch.object(exhaust, "seconds", lambda one: one):
            return exhaust.time_all(gpu, {i: lambda x=x: x for i, x in enumerate(seconds)}, **{"rounds": 30, "near": 1.2, "batch_seconds": 2, "settle_seconds": 0, **options})

    def test_ratios_do_not_follow_the_clock(self):
        times, close = self.times([1.0, 0.9, 1.0, 0.95])
        self.assertEqual(close, 4)
        for i, ratio in enumerate((1.0, 0.9, 1.0, 0.95)):
            for value in (times[i][0], *times[i][1]):
                self.assertAlmostEqual(value / times[0][0], ratio, delta=0.01)

    def test_the_first_one_is_always_timed_and_what_is_far_behind_is_not(self):
        times, close = self.times([1.5, 1.0, 1.4])
        self.assertEqual(close, 2)
        self.assertIsNotNone(times[0][1])
        self.assertIsNone(times[2][1])

    def test_what_is_merely_lucky_is_no_better(self):
        # Forty schedules that are alike: the least of forty medians is below them, by luck alone.
        times = self.times([1.0] * 40)[0]
        rows = {str(i): {"seconds": value, "halves": halves} for i, (value, halves) in times.items()}
        shares = [best_of_all.share_of_best(rows, str(i)) for i in range(40)]
        self.assertAlmostEqual(sum(shares) / len(shares), 1.0, delta=0.004)
        self.assertLess(min(row["seconds"] for row in rows.values()), 0.998 * sum(row["seconds"] for row in rows.values()) / 40)

    def test_what_was_timed_once_is_held_to_the_fastest(self):
        rows = {"a": {"seconds": 1.0, "halves": [1.0, 1.0]}, "b": {"seconds": 2.0}}
        self.assertEqual(best_of_all.share_of_best(rows, "a"), 1.0)
        self.assertEqual(best_of_all.share_of_best(rows, "b"), 0.5)


    def test_choices_of_the_tuner(self):
        def result(shape, chosen, ratio, **other):
            return {"variant": "plain", "target": "h200", "dtype": "bf16", "shape": shape, "default": "d", "chosen": chosen, "schedules": [{"schedule": chosen, "ratio": ratio}, {"schedule": "x", "refused": "it spills"}], **other}
        results = [result([1, 2, 2, 8, 8, 64, 64], "d", 1), {"tune_seconds": 3, "tuned": result([1, 2, 2, 16, 16, 64, 64], "b", 0.9)}, result([1, 2, 1, 8, 8, 64, 64], "b", 0.9)]
        with mock.patch.object(best_of_all.Path, "read_text", lambda _: json.dumps(results)):
            self.assertEqual(best_of_all.tuned_choices(["file"]), {("plain", "h200", 64, "1,2,8"): ("", 1), ("plain", "h200", 64, "1,2,16"): ("b", 0.9)})

    def test_a_pair_that_was_not_tuned_is_told_so(self):
        rows = [{"variant": "plain", "target": "h200", "head_dim": 64, "shape": [1, 2, n], "schedule": schedule, "seconds": seconds, "halves": [seconds, seconds]}
                for n in (8, 16) for schedule, seconds in (("", 1.0), ("b", 0.97), ("m", 1.2))]
        entries = [{"variant": "plain", "target": "h200", "head_dim": 64, "model": {"1,2,8": "", "1,2,16": "m"}}]
        texts = {"times": {"rows": rows}, "list": entries, "tuned": [{"variant": "plain", "target": "h200", "dtype": "bf16", "shape": [1, 2, 2, 8, 8, 64, 64], "default": "d", "chosen": "c", "schedules": [{"schedule": "c", "ratio": 0.98}]}]}
        said = io.StringIO()
        with mock.patch.object(best_of_all.Path, "read_text", lambda path: json.dumps(texts[str(path)])), contextlib.redirect_stdout(said):
            status = best_of_all.compare(types.SimpleNamespace(times="times", list="list", tuned=["tuned"]))
        self.assertEqual(status, 1)
        self.assertIn("model 0.970, default 0.970, tuned 0.990", said.getvalue())      # the default one's share, and what the tuner gained on it
        self.assertIn("'1,2,16'): was not tuned", said.getvalue())
        self.assertIn("'1,2,16'): the model's choice reaches 0.808 of the fastest, expected 0.9", said.getvalue())
        self.assertNotIn("'1,2,8')", said.getvalue())


class Kernels:
    errors, seconds = {}, {}

    def __init__(self, *_):
        pass

    def build_all(self, specs, jobs):
        pass

    def refuses(self, error):
        return "does not fit" in str(error)

    def schedule(self, spec):
        return "a schedule"


class Matrix(unittest.TestCase):
    def run_with(self, words, cost=None):
        cuda = types.SimpleNamespace(synchronize=lambda: None, get_device_name=lambda: "a GPU")
        said = io.StringIO()
        with mock.patch.dict(sys.modules, torch=types.SimpleNamespace(cuda=cuda, __version__="0")), mock.patch.object(matrix, "Kernels", Kernels), \
                mock.patch.object(matrix.edge_rows, "launch_microseconds", cost), mock.patch.object(sys, "argv", ["matrix.py", "--library", "none", *words]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                status = matrix.main()
            except SystemExit as left:
                status = left.code
        return status, said.getvalue()

    def test_the_cost_of_a_launch_is_a_check(self):
        status, said = self.run_with(["--only", "host"], lambda *_: (4.2, 4.9, 6.3, 0.4))
        self.assertEqual(status, 0, said)
        self.assertIn("4.20 us with a zeroed workspace", said)
        self.assertIn("ok: 1 checks, 0 wrong", said)
        status, said = self.run_with(["--only", "host"], lambda *_: (6.2, 6.9, 6.3, 0.4))
        self.assertEqual(status, 1, said)
        self.assertIn("5.80 us, expected 5 at most", said)

    def test_a_run_that_checks_nothing_is_not_right(self):
        status, said = self.run_with(["--only", "no such group"])
        self.assertEqual(status, 2)
        self.assertIn("no group's name contains any of these", said)

        def refused(*_):
            raise RuntimeError("it does not fit")
        status, said = self.run_with(["--only", "host"], refused)
        self.assertEqual(status, 1)
        self.assertIn("FAIL nothing was checked", said)


if __name__ == "__main__":
    unittest.main()
