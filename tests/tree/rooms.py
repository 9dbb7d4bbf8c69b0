"""Each room links and includes only what the table of rooms in docs/Design.md allows."""
import os
import re
import tree

ROW = re.compile(r"^\| `([\w/]+)` \|.*\| ([^|]*) \|$")
INCLUDE = re.compile(r'^\s*#?include\s+["<](tilewright|mlir|llvm)(?:-c)?/(\w+)[/.]')
LINKED = re.compile(r"\btilewright(?:::|_)(\w+)|\b((?:MLIR|LLVM)\w+)")


def table(root):
    """Folder of each room -> what it may use: names of rooms, `MLIR`, `LLVM`; None for a room that may use all."""
    allowed = {}
    for line in tree.lines(root, "docs/Design.md"):
        if match := ROW.match(line):
            folder, uses = match.groups()
            allowed[folder] = None if uses.strip() == "every room" else set(re.findall(r"`(\w+)`", uses))
    return allowed


def used(root, folder, rooms):
    """(what, where) for each of `rooms` and each library that the room in `folder` names."""
    for file in tree.text_files(root, folder):
        is_cmake = os.path.basename(file) == "CMakeLists.txt"
        for number, line in enumerate(tree.lines(root, file), 1):
            where = f"{file}:{number}"
            if is_cmake:
                for room, library in LINKED.findall(line.split("#")[0]):
                    if library:
                        yield library[:4], where
                    elif room in rooms:
                        yield room, where
            elif match := INCLUDE.match(line):
                project, room = match.groups()
                yield (room if project == "tilewright" else project.upper()), where


def check(root):
    allowed = table(root)
    rooms = {os.path.basename(folder) for folder in allowed}
    complaints = []
    for parent in ("compiler", "runtime"):
        for name in sorted(os.listdir(os.path.join(root, parent))):
            folder = f"{parent}/{name}"
            if os.path.exists(os.path.join(root, folder, "CMakeLists.txt")) and folder not in allowed:
                complaints.append(f"{folder}: this room is not in the table of docs/Design.md")
    for folder, may_use in allowed.items():
        if not os.path.isdir(os.path.join(root, folder)):
            complaints.append(f"docs/Design.md: the table names {folder}, which is not there")
        elif may_use is not None:
            room = os.path.basename(folder)
            for what, where in used(root, folder, rooms):
                if what != room and what not in may_use and not (what == "LLVM" and "MLIR" in may_use):
                    complaints.append(f"{where}: {room} uses {what}; docs/Design.md allows {', '.join(sorted(may_use)) or 'nothing'}")
    return complaints


if __name__ == "__main__":
    tree.main(check)
