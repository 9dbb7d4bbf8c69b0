"""The checks of the tree find what they are for: each is given a small tree with one thing wrong."""
import os
import subprocess
import sys
import tempfile
import unittest

import lengths
import passes
import rooms
import words

DESIGN = """\
| room | holds | may use |
| --- | --- | --- |
| `dsl` | programs | the standard library |
| `compiler/ir` | the dialect | `MLIR` |
| `compiler/import` | the way in | `dsl`, `ir` |
| `runtime/cache` | bytes | nothing of ours |
| `runtime/cli` | commands | every room |
"""
GOOD = {
    "docs/Design.md": DESIGN,
    "dsl/lib/Tile.cpp": '#include "tilewright/dsl/Tile.h"\n// softmax\n',
    "compiler/ir/CMakeLists.txt": "tilewright_room(ir SOURCES a.cpp PUBLIC MLIRIR)   # not tilewright::dsl\n",
    "compiler/ir/Passes.td": 'def Prune : Pass<"tile-prune", "FuncOp"> {}\n',
    "compiler/import/CMakeLists.txt": "tilewright_room(import SOURCES a.cpp PUBLIC tilewright::dsl tilewright::ir)\n",
    "runtime/cache/CMakeLists.txt": "tilewright_room(cache SOURCES a.cpp)\n",
    "runtime/cli/Main.cpp": '#include "tilewright/dsl/Tile.h" // attention\n',
    "tests/lit/prune.mlir": "// RUN: tilewright opt --tile-prune %s\n",
}


class Checks(unittest.TestCase):
    def complaints(self, check, **changes):
        with tempfile.TemporaryDirectory() as root:
            for file, text in {**GOOD, **{name.replace("__", "/").replace("_DOT_", "."): text for name, text in changes.items()}}.items():
                path = os.path.join(root, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(text)
            return check(root)

    def found(self, check, file, text):
        return self.complaints(check, **{file.replace("/", "__").replace(".", "_DOT_"): text})

    def test_a_good_tree_passes(self):
        for module in (lengths, passes, rooms, words):
            self.assertEqual(self.complaints(module.check), [], module.__name__)

    def test_purpose_below_the_dsl(self):
        complaints = self.found(words.check, "compiler/ir/a.cpp", "// one\n// a SoftMax\n")
        self.assertEqual(complaints, ["compiler/ir/a.cpp:2: 'SoftMax': below the DSL nothing may say what folds are used for"])

    def test_purpose_in_a_name(self):
        self.assertIn("the name says", self.found(words.check, "runtime/cpu/Query.h", "")[0])

    def test_paths_of_a_machine(self):
        self.assertIn("docs/a.md:1", self.found(words.check, "docs/a.md", "see /" + "root/x")[0])

    def test_work_left_undone(self):
        self.assertIn("dsl/a.h:1", self.found(words.check, "dsl/a.h", "// TO" + "DO: think\n")[0])

    def test_a_wrong_include(self):
        complaints = self.found(rooms.check, "compiler/ir/a.cpp", '#include "tilewright/dsl/Tile.h"\n')
        self.assertEqual(complaints, ["compiler/ir/a.cpp:1: ir uses dsl; docs/Design.md allows MLIR"])

    def test_a_wrong_link(self):
        complaints = self.found(rooms.check, "compiler/import/CMakeLists.txt", "tilewright_room(import PRIVATE tilewright::cache)\n")
        self.assertEqual(complaints, ["compiler/import/CMakeLists.txt:1: import uses cache; docs/Design.md allows dsl, ir"])

    def test_mlir_where_it_is_not_allowed(self):
        complaints = self.found(rooms.check, "dsl/lib/Tile.cpp", "#include <mlir/IR/Value.h>\n")
        self.assertEqual(complaints, ["dsl/lib/Tile.cpp:1: dsl uses MLIR; docs/Design.md allows nothing"])

    def test_a_room_outside_the_table(self):
        complaints = self.found(rooms.check, "runtime/cloud/CMakeLists.txt", "tilewright_room(cloud)\n")
        self.assertEqual(complaints, ["runtime/cloud: this room is not in the table of docs/Design.md"])

    def test_a_pass_without_a_test(self):
        complaints = self.found(passes.check, "compiler/ir/Passes.td", 'def Grow : Pass<"tile-prune-more", "FuncOp"> {}\n')
        self.assertEqual(complaints, ["compiler/ir/Passes.td: no file under tests/lit runs the pass tile-prune-more"])

    def test_a_long_file(self):
        complaints = self.found(lengths.check, "dsl/lib/Long.cpp", "int x;\n" * 601)
        self.assertEqual(complaints, ["dsl/lib/Long.cpp: 601 lines; split it by ideas, each below 500"])

    def test_the_exit_status(self):
        with tempfile.TemporaryDirectory() as root:
            status = subprocess.run([sys.executable, passes.__file__, root], stdout=subprocess.DEVNULL).returncode
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
