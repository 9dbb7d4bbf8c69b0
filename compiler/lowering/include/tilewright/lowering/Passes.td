// The passes from a tile module to the program of one thread block, one .cpp each. docs/DeviceDialect.md shows them at work.
#ifndef TILEWRIGHT_LOWERING_PASSES
#define TILEWRIGHT_LOWERING_PASSES
include "mlir/Pass/PassBase.td"

def WalkFolds : Pass<"tile-walk-folds", "::mlir::func::FuncOp"> {
  let summary = "visit the tiles of a fold from the last one to the first, and take the first visited one out of the loops";
  let description = [{
    The tile that the end of the axis or a causal bound cuts comes first then, and is the one taken out, so that
    what follows is full tiles. An ordered fold is walked upwards. With `peel` the loops of a fold become

        if there is any tile { the first one, with masks; the loops over the others }

    and both the step and the loops carry `tile.fold`. So they do where a step attempts what its first turn cannot.

    With `careful`, where masks hide elements from dots that accumulate, this becomes one of two ways,

        if careful { one loop over all tiles, exact and with all masks } else { the above }

    for kernels whose items are done again if a result is not finite: device-draw-items.
  }];
  let options = [
    Option<"peel", "peel", "bool", "true", "take the first visited tile out of the loops">,
    Option<"careful", "careful", "bool", "false", "make a second, careful way where masks hide elements">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::tile::TileDialect"];
}

def TileToDevice : Pass<"tile-to-device", "::mlir::ModuleOp"> {
  let summary = "make the program of a thread block out of the program of an item: roles, parameters, rings and barriers";
  let description = [{
    Operands of dots and vectors along the fold axis are copied into rings by the producer; tiles that are first and last used by
    dots of equal stages share barriers. The consumers keep their tile operations; what the producer copies for them is a
    `device.tile`. With `overlap` the producer copies the tiles of stage 1 one step after those of stage 0. Items are
    counted over in a static order: block b takes items b, b + grid, ….
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm90a\"", "the instruction set: sm90a, sm80, sm86, …">,
    Option<"warpgroups", "warpgroups", "int", "0", "consumer warpgroups; 0: one for every 64 rows of a block">,
    Option<"stages", "stages", "int", "2", "slots of a ring of fold tiles">,
    Option<"blockBuffers", "block-buffers", "int", "1", "slots of a ring of block tiles">,
    Option<"overlap", "overlap", "bool", "true", "dots of stage 1 will run one step behind">,
    Option<"blocksPerSM", "blocks-per-sm", "int", "1", "blocks that run on one multiprocessor at a time">,
    Option<"grouped", "grouped", "bool", "true", "let items whose bounds differ come in groups that share the level-2 cache">,
    Option<"strided", "strided", "bool", "false", "for tensors of any strides and alignment: copies and stores go element by element">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def DistributeTiles : Pass<"device-distribute-tiles", "::mlir::ModuleOp"> {
  let summary = "share out the consumers' tiles over registers, rows over two or four registers a thread, and fuse elementwise work into loops";
  let description = [{
    A value over the block axis becomes a register for each of a thread's rows, one over the block and another axis a fragment. Elementwise
    operations between dots and reductions are fused: one loop over rows, then one over elements, for each phase; a phase ends
    where something needs what a reduction of it makes. A mask becomes an interval of columns for each row. Carried values and
    accumulators are changed in place. Dots wait for their tiles, and give them back after the last stage that uses them.

    With `interleave` each dot of a step is issued as soon as its operands are there, and waited for where its result is needed, so that
    elementwise work runs under the dots whose results it does not read. Else the dots of a stage are issued and waited for together.
  }];
  let options = [
    Option<"interleave", "interleave", "bool", "false", "issue each dot of a step by itself, as early as its operands allow">,
    Option<"exchangeBuffers", "exchange-buffers", "int", "1", "slots of the ring through which warpgroups exchange what dots contract over the block axis">,
    Option<"outboxBuffers", "outbox-buffers", "int", "1", "outboxes of a warp for what steps add to tensors">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def DelaySums : Pass<"device-delay-sums", "::mlir::ModuleOp"> {
  let summary = "multiply what warpgroups have exchanged one step later, so that they need not meet within a step";
  let description = [{
    A step publishes its operand of a dot over the block axis, multiplies what the step before has published, and adds that to its tensor. Who publishes then stands at a cursor of its own, ahead of
    who reads. Before the first step of a fold something is published whose product is added nowhere; behind the last one stands what the
    last step has published. The dot is issued ahead of the step's last one that accumulates, and its result leaves under that one. Coordinates are carried from step to step.
    A kernel whose steps do more with what they exchange stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def IssueAhead : Pass<"device-issue-ahead", "::mlir::ModuleOp"> {
  let summary = "issue the first dot of each step in the one before, so that what a step adds or stores leaves under it";
  let description = [{
    Where one of a step's last dots is still in flight the next step's first one is issued, of the tile at which the step's cursor will be awaited next (`device.look_ahead`), and the turn ends with a wait for it;
    in front of the loops of a fold stands that of the first step. Which loop comes next is asked of their bounds. Where there is no next step the dot multiplies this
    step's tile once more, for nobody. Of a step's last two dots the one that reads tiles alone goes last: the operands of others need registers. Tiles are given back one dot later, so that a ring needs two slots. Loops stay as they are whose steps begin with several dots at once, or need the dot's registers to their end.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def CountRegisters : Pass<"device-count-registers", "::mlir::ModuleOp"> {
  let summary = "mark consumers whose registers would not fit, were all of them alive: what is computed of addresses is then computed where it is used";
  let description = [{
    Sets `crowded` on `device.consumers`. Every address that waits in a register there may cost a spill.
  }];
  let dependentDialects = ["::tw::device::DeviceDialect"];
}

def OverlapStages : Pass<"device-overlap-stages", "::mlir::ModuleOp"> {
  let summary = "run the dots of stage 1 of each step under the elementwise work of the next one";
  let description = [{
    `dots 0, work, dots 1` repeated becomes `dots 0, work, (dots 1 of the step before, dots 0, work)*, dots 1`; in the middle both
    dots are issued together, the work starts when those of stage 0 are done, and what the dots of stage 1 read and write is
    touched after they are. A tile of both stages gets a second cursor that trails.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def LeaveAttempts : Pass<"device-leave-attempts", "::mlir::ModuleOp"> {
  let summary = "where an item's votes have failed, take the exact way in a loop of its own";
  let description = [{
    A loop whose steps attempt a quick way is walked `steps` at a time, the first time `first`. Before each of these parts a warpgroup votes (`device.any` with `device.warpgroup`):
    where one of its warps has given up attempting, the part's steps have the exact way alone, and their tiles are given back as soon as their dots are done. Where a thread has fewer than 200 registers
    nothing is done.

    With `observe` the first part goes the exact way and attempts nothing: where one of its steps scales accumulators down so far that its attempt would have been refused, the item
    goes on in the exact way, without an attempt that fails. Every part depends on the item alone.
  }];
  let options = [
    Option<"steps", "steps", "int", "8", "steps between two votes">,
    Option<"first", "first", "int", "8", "steps until the first vote">,
    Option<"observe", "observe", "bool", "false", "take the first part in the exact way, and see whether attempts would have held">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def MergeRoles : Pass<"device-merge-roles", "::mlir::ModuleOp"> {
  let summary = "let the consumers copy for themselves, one step ahead: no warp and no registers for a producer";
  let description = [{
    The producer's copies for an item's first step go before that step. In every step, behind its dots of stage 0, stand the copies for the next one,
    where there is one: the next turn of its loop, or the first of a loop behind it. A ring of fold tiles needs two slots for that. For kernels of
    instruction sets that copy by warps, without `overlap`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def TakeTurns : Pass<"device-take-turns", "::mlir::ModuleOp"> {
  let summary = "let the warpgroups issue their dots one after the other, so that one multiplies while another works on elements";
  let dependentDialects = ["::tw::device::DeviceDialect"];
}

def TabulateDistances : Pass<"device-tabulate-distances", "::mlir::ModuleOp"> {
  let summary = "compute what elements make of the distance between their row and their column once for each distance, not once for each element";
  let description = [{
    Of the 16 x 128 elements of a warp's rows, 143 distances differ. Where a loop over elements computes something costly of the distance alone, such as a
    bias by buckets, a table of it, by warp, is made in shared memory before the loop (`device.tabulate`), and elements read it (`device.look_up`).
    What depends on more than the distance, or costs no more than a read, stays. Where a table has no room within `limit`, a remark says so.
  }];
  let options = [Option<"limit", "limit", "int", "0", "the most shared memory that a block may take; 0: any">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tw::device::DeviceDialect"];
}

def ShareLoads : Pass<"device-share-loads", "::mlir::ModuleOp"> {
  let summary = "load once for each row what a run of a row's elements reads from one place, not once for each element";
  let description = [{
    A table of blocks, read at row / 64 and column / 64, has few entries for a tile. Where a loop over elements loads what depends on its row and on `(column_offset + column) / n` alone, n a
    multiple of 8, each run of n columns has a row value of its own, loaded before the loop, and the elements choose among them by their column. Not where there are more than four runs: they take registers.
    A search (`device.among`) goes the same way, and also where all columns of the loop have one answer.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tw::device::DeviceDialect"];
}

def RollCareful : Pass<"device-roll-careful", "::mlir::ModuleOp"> {
  let summary = "decide at length about elements of the careful way in a loop that is not unrolled";
  let description = [{
    The careful way of an item (`tile.careful`) is seldom taken, but assembled every time. Conditions of 24 operations and more that its loops over elements make of an element's place alone, such as those
    on random numbers, are made before them in a loop over the columns of a thread, as bits of a word for each row.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def DrawItems : Pass<"device-draw-items", "::mlir::ModuleOp"> {
  let summary = "let blocks draw their items from a counter instead of taking every grid-size-th one";
  let description = [{
    The producer draws, decodes and tells the consumers through a mailbox; without a producer one thread of the consumers draws, one item ahead. Where the consumers isolate, they do so only for items that they have sent back
    because an accumulator was not finite at the end. An item's list of tiles is made before the item is posted, and told through the mailbox too; only so do
    the consumers know of it.
  }];
  let options = [Option<"onlyLists", "only-lists", "bool", "false", "leave kernels alone whose items have no lists">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def ListAhead : Pass<"device-list-ahead", "::mlir::ModuleOp"> {
  let summary = "let a warp of its own draw items and list their tiles, ahead of the producer, which copies";
  let description = [{
    On `sm90a`, where the producer's warpgroup has warps to spare. The lister keeps the producer's loop without its copies; the producer is told of items as the consumers are.
    A kernel whose copies need what no post says stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

def LayOutMemory : Pass<"device-lay-out-memory", "::mlir::ModuleOp"> {
  let summary = "give rings, barriers and mailboxes their places in shared memory";
  let options = [Option<"limit", "limit", "int", "0", "bytes that a block may have; 0: any">];
  let dependentDialects = ["::tw::device::DeviceDialect"];
}

def CheckProtocol : Pass<"device-check-protocol", "::mlir::ModuleOp"> {
  let summary = "prove that the roles of a kernel keep the protocol between them; changes nothing";
  let description = [{
    Follows every path through each role. Slots: copies fill what was armed; whoever reads a ring has awaited its slot; every slot is
    acquired and left, awaited, given back and left, once. Dots: what a dot in flight reads or writes is not touched, its slots
    are not given back, and a fence has ordered its registers; each wait names what it frees; nothing is in flight where a loop
    begins or a turn of it ends. Turns: taken and passed on alternately.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::tw::device::DeviceDialect"];
}

#endif
