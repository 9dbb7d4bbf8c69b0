// How to run a program: plain data, made by hand, by the default choice or by the tuner.
#pragma once
#include <compare>
#include <map>
#include <string>
#include <string_view>

namespace tw {

/// How an inner axis that is too wide for SRAM is walked: dots over it are folds of their own, inside the step.
struct Chunks {
  int width = 0;     // elements of a chunk
  int stages = 0;    // slots of the ring that chunks of both operands come through

  friend bool operator==(const Chunks &, const Chunks &) = default;
};

/// One program and one schedule give exactly one source text. Axes go by name.
struct Schedule {
  std::string block;                     // the axis of which a thread block (a task on the CPU) owns one tile
  std::map<std::string, int> widths;     // elements of a tile along the block axis, the fold axis and the inner axes
  int warpgroups = 2;                    // consumer warpgroups of a thread block
  int stages = 2;                        // slots of a ring of fold tiles
  int blockBuffers = 1;                  // slots of a ring of block tiles
  bool overlap = true;                   // stage-1 dots of the tile before run under this tile's elementwise work
  bool turns = true;                     // warpgroups issue their dots one after the other
  bool drawn = false;                    // thread blocks draw their items from a counter, else each takes every grid-size-th
  bool stabilised = false;               // hold stabilisers back where the program allows it
  bool producer = true;                  // a warp of its own copies tiles, else the warps that multiply do, a step ahead (a GPU without a copy engine)
  int blocksPerSM = 1;                   // thread blocks that share a multiprocessor
  int registerRows = 6;                  // CPU: rows of a register block of a dot
  int registerVectors = 2;               // CPU: vectors a row of a register block of a dot
  int exchangeBuffers = 1;               // slots of the ring through which warpgroups exchange what steps add to tensors (a GPU with a copy engine)
  int outboxBuffers = 1;                 // outboxes of a warp, from which the copy engine adds in the background
  bool delayed = false;                  // dots over the block axis run one step behind, so that warpgroups need not meet within one
  bool ahead = false;                    // a step's first dot is issued in the step before
  int votes = 8;                         // steps of an item between two votes on whether it goes on in the exact way
  int firstVote = 0;                     // steps until the first of them; 0: as many
  bool observed = false;                 // until then nothing is attempted: how scores grow decides
  std::map<std::string, Chunks> nested = {};   // inner axes walked in chunks; the others lie whole inside a tile

  friend bool operator==(const Schedule &, const Schedule &) = default;
};

/// `block=q q=64 k=64 d=128 e=128 warpgroups=2 …`, every field, in a fixed order; those from `exchangeBuffers` on where they are not as usual, `nested=d:64x4` where an axis is walked in chunks.
[[nodiscard]] std::string print(const Schedule &schedule);
/// Reads that back; throws std::invalid_argument naming the field, what was expected and the known fields.
[[nodiscard]] Schedule parseSchedule(std::string_view text);

} // namespace tw
