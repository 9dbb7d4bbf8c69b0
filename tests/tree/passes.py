"""Every pass has a lit file that runs it."""
import os
import re
import tree

PASS = re.compile(r'^def\s+\w+\s*:\s*Pass<\s*"([\w-]+)"', re.MULTILINE)


def runs(text, name):
    """Whether a RUN line of this lit file names the pass."""
    run_lines = "\n".join(line for line in text.split("\n") if "RUN:" in line)
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])|--?{re.escape(name)}(?![\w-])", run_lines) is not None


def check(root):
    tests = ["\n".join(tree.lines(root, f)) for f in tree.text_files(root, "tests/lit") if f.endswith((".mlir", ".test"))]
    tables = [f for f in tree.text_files(root, "compiler") if os.path.basename(f) == "Passes.td"]
    complaints = [] if tables else ["compiler: no Passes.td found"]
    for file in tables:
        for name in PASS.findall("\n".join(tree.lines(root, file))):
            if not any(runs(text, name) for text in tests):
                complaints.append(f"{file}: no file under tests/lit runs the pass {name}")
    return complaints


if __name__ == "__main__":
    tree.main(check)
