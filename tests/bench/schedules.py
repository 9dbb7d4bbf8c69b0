"""What the schedule benchmarks compute without a GPU: schedules as fields, the changes to try, and the work of a fold under a mask."""
import re

# FLOP that the tensor cores of one multiprocessor do in a cycle: f16 or bf16 dots, f32 accumulators, no sparsity. The test compares
# them with `tilewright list --targets --json`.
FLOP_PER_CYCLE = {"a100": 2048, "a100-80gb": 2048, "h100": 4096, "h100-pcie": 4096, "h200": 4096, "h200-sm80": 4096, "b200": 8192, "a10": 1024, "l4": 1024, "l40s": 1024,
                  "rtx3090": 512, "rtx4090": 512, "rtx5090": 512}
FIELDS = ("warpgroups", "stages", "blockBuffers", "overlap", "turns", "drawn", "stabilised", "producer", "blocksPerSM", "registerRows", "registerVectors")
FLAGS = ("overlap", "turns", "drawn", "stabilised", "producer")
ROWS_OF_A_WARPGROUP = 64


def parse(text):
    """`block=q q=128 k=64 …` as a dict of texts and numbers, in its order."""
    pairs = (item.split("=", 1) for item in text.split())
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


def show(schedule):
    return " ".join(f"{name}={value}" for name, value in schedule.items())


class Description:
    """What a kernel's description says of it."""

    def __init__(self, text):
        lines = [line.split(None, 1) for line in text.splitlines() if len(line.split(None, 1)) == 2]
        self.target = next(rest for word, rest in lines if word == "target")
        self.schedule = parse(next(rest for word, rest in lines if word == "schedule"))
        axes = [re.match(r"(\w+) (\w+)", rest).groups() for word, rest in lines if word == "axis"]
        self.fold = next(name for name, role in axes if role == "fold")
        self.block = self.schedule["block"]
        self.loads = [rest.split()[0] for word, rest in lines if word == "loads"]
        resources = re.search(r"(\d+) threads a block, (\d+) registers a thread, (\d+) bytes spilled, (\d+) bytes of shared", text)
        self.resources = dict(zip(("threads", "registers", "spilled_bytes", "shared_bytes"), map(int, resources.groups()))) if resources else {}


def changes(schedule, block, fold, folds=()):
    """(name, schedule) of every schedule that differs from `schedule` in one thing. A block has as many rows as its warpgroups multiply, so
    that these change together. `folds` are further widths along the fold."""
    out = []

    def add(**fields):
        changed = {**schedule, **fields}
        name = " ".join(f"{field}={value}" for field, value in fields.items())
        if changed != schedule and all(name != other for other, _ in out):
            out.append((name, changed))

    for warpgroups in (1, 2, 3, 4):
        add(**{"warpgroups": warpgroups, block: ROWS_OF_A_WARPGROUP * warpgroups})
    width = schedule[fold]
    for other in sorted({width // 2, width - 16, width + 16, width * 2, *folds}):
        if other >= 16 and other % 16 == 0:
            add(**{fold: other})
    for stages in (schedule["stages"] - 1, schedule["stages"] + 1):
        if stages >= 1:
            add(stages=stages)
    add(blockBuffers=2 if schedule["blockBuffers"] == 1 else 1)
    add(blocksPerSM=2 if schedule["blocksPerSM"] == 1 else 1)
    for flag in FLAGS:
        add(**{flag: "no" if schedule[flag] == "yes" else "yes"})
    return out


def kept_span(variant):
    """How far before and after its own place a query sees keys (places are aligned at the end); None: without bound."""
    left = right = None

    def narrow(a, b):
        return b if a is None else a if b is None else min(a, b)

    for part in variant.split("+"):
        name, numbers = re.fullmatch(r"\s*(\w+)\s*(?:\(([^)]*)\))?\s*", part).groups()
        spans = {"causal": (None, 0), "window": (127, 0), "gemma2": (4095, 0)}
        if name == "window" and numbers:
            spans["window"] = tuple(int(float(n)) for n in numbers.split(","))
        if name in spans:
            left, right = narrow(left, spans[name][0]), narrow(right, spans[name][1])
    return left, right


def span_of(variant, queries, keys):
    """A function from a query to the range [first, end) of keys that it sees."""
    left, right = kept_span(variant)

    def of(query):
        place = query + keys - queries
        first = 0 if left is None else max(0, place - left)
        end = keys if right is None else min(keys, place + right + 1)
        return first, max(first, end)
    return of


def kept_pairs(variant, queries, keys):
    span = span_of(variant, queries, keys)
    return sum(end - first for first, end in map(span, range(queries)))


def visited_tiles(variant, queries, keys, rows, columns):
    """Tiles of rows × columns that hold a pair which the mask keeps: ranges of keys move up with the query, so that a block sees from its first
    row's first to its last row's last."""
    span, tiles = span_of(variant, queries, keys), 0
    for begin in range(0, queries, rows):
        spans = [span(query) for query in range(begin, min(begin + rows, queries))]
        first, end = min(s[0] for s in spans), max(s[1] for s in spans)
        if end > first:
            tiles += (end + columns - 1) // columns - first // columns
    return tiles


def visited_flop(variant, shape, schedule, block, fold):
    """What the dots of all visited tiles are, tiles that a mask or an end cuts counted whole. `shape`: batch, heads, queries, keys."""
    batch, heads, queries, keys = shape
    inner = schedule["d"] + schedule["e"]
    tiles = visited_tiles(variant, queries, keys, schedule[block], schedule[fold])
    return 2 * batch * heads * tiles * schedule[block] * schedule[fold] * inner


def utilisation(flop, cycles, multiprocessors, target):
    """The share of what the tensor cores could do in these cycles of all multiprocessors; None for a target or a clock that is not known."""
    rate = FLOP_PER_CYCLE.get(target)
    return flop / (cycles * multiprocessors * rate) if rate and cycles else None
