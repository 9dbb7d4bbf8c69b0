"""Nothing below the DSL knows what its folds are for, and nothing names the machine it was written on."""
import re
import tree

BELOW_THE_DSL = ("compiler", "templates", "runtime")
MAY_KNOW = ("runtime/cli/", "runtime/kernel/")
PURPOSE = re.compile("attention|softmax|query|flash", re.IGNORECASE)
# Written apart, so that this file does not contain them.
MACHINE = re.compile("/" + r"(work|root|home/\w+)/|\b(TO" + "DO|FIX" + r"ME|X" + r"XX)\b")


def check(root):
    complaints = []
    for folder in BELOW_THE_DSL:
        for file in tree.text_files(root, folder):
            if file.startswith(MAY_KNOW):
                continue
            if PURPOSE.search(file):
                complaints.append(f"{file}: the name says what folds are used for; below the DSL nothing may")
            for number, line in enumerate(tree.lines(root, file), 1):
                if match := PURPOSE.search(line):
                    complaints.append(f"{file}:{number}: '{match.group()}': below the DSL nothing may say what folds are used for")
    for file in tree.text_files(root):
        for number, line in enumerate(tree.lines(root, file), 1):
            if match := MACHINE.search(line):
                complaints.append(f"{file}:{number}: '{match.group()}': a path of one machine, or work left undone")
    return complaints


if __name__ == "__main__":
    tree.main(check)
