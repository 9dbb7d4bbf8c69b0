"""What the checks of the tree share: walking it, and reporting what is wrong."""
import os
import sys

SKIPPED_FOLDERS = {".git", "__pycache__", "install", "venv", "node_modules"}
BINARY_SUFFIXES = (".npy", ".pyc", ".png")


def files(root, under="."):
    """The files of the tree below the folder `under`, as paths relative to `root`, sorted; no build folders."""
    found = []
    for folder, folders, names in os.walk(os.path.join(root, under)):
        at_root = os.path.relpath(folder, root) == "."
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS
                            and not (at_root and (f == "build" or f.startswith("build-"))))
        found += [os.path.normpath(os.path.relpath(os.path.join(folder, name), root)) for name in names]
    return sorted(f for f in found if os.path.isfile(os.path.join(root, f)))


def text_files(root, under="."):
    return [f for f in files(root, under) if not f.endswith(BINARY_SUFFIXES)]


def lines(root, file):
    with open(os.path.join(root, file), encoding="utf-8") as stream:
        return stream.read().split("\n")


def main(check):
    """Runs check(root) -> list of complaints on the tree named on the command line."""
    complaints = check(sys.argv[1])
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)
