"""A file holds one idea: source files stay below 600 lines; from 500 on they are named."""
import tree

SOURCES = (".h", ".cpp", ".c", ".cuh", ".td", ".py", ".cmake", ".txt")
NAMED, REFUSED = 500, 600


def check(root):
    complaints = []
    for file in tree.text_files(root):
        if file.endswith(SOURCES):
            count = len(tree.lines(root, file)) - 1
            if count > REFUSED:
                complaints.append(f"{file}: {count} lines; split it by ideas, each below {NAMED}")
            elif count > NAMED:
                print(f"{file}: {count} lines, near the limit of {REFUSED}")
    return complaints


if __name__ == "__main__":
    tree.main(check)
