// How a launch is made from a kernel's facts: its parameter block, byte by byte, and its grid.
#pragma once
#include "tilewright/artifact/DeviceFacts.h"
#include "tilewright/device/TensorMap.h"
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tw::device {

/// A tensor of one launch. `shape` and `strides` (in elements) have one number a dimension.
struct TensorArgument {
  std::uint64_t address = 0;
  std::span<const std::int64_t> shape, strides;
};

/// An element of whatever type the field asks for, in the first bytes.
struct ScalarArgument {
  alignas(8) std::array<std::byte, 8> element = {};
  template <class T> static ScalarArgument of(T value) {
    ScalarArgument argument;
    static_assert(sizeof value <= sizeof argument.element, "no scalar is larger than 8 bytes");
    std::copy_n(reinterpret_cast<const std::byte *>(&value), sizeof value, argument.element.data());
    return argument;
  }
};

/// What one launch is given, in the orders of Plan::tensors(), axes() and scalars(). Lengths count from 0 and fit i32.
struct Problem {
  std::span<const TensorArgument> tensors;
  std::span<const std::int64_t> lengths;
  std::span<const ScalarArgument> scalars;
  std::uint64_t workspace = 0;  // its address; it begins with LaunchFacts::counters i32, all 0
};

/// A part of a parameter block; whole ones hold at least its bytes.
struct alignas(tensorMapBytes) ParameterLine {
  std::byte bytes[tensorMapBytes];
};

/// What of the machine a launch depends on.
struct Machine {
  int sms = 1;
  std::int64_t l2Bytes = 0;
};

/// More items than this are not launched: item numbers, and the steps between them, are i32.
inline constexpr std::int64_t maxItems = (std::int64_t(1) << 31) - (1 << 20);

/// The launch facts of one kernel with all names resolved, made once. Any number of threads may use it.
class Plan {
public:
  /// Throws RuntimeError where the facts contradict themselves (they come out of a file).
  explicit Plan(const LaunchFacts &facts);

  // What a problem must give, by name, in this order.
  [[nodiscard]] const std::vector<std::string> &tensors() const { return tensorNames; }
  [[nodiscard]] const std::vector<std::string> &axes() const { return axisNames; }
  [[nodiscard]] const std::vector<std::string> &scalars() const { return scalarNames; }

  /// Size of the parameter block, padded to its largest alignment.
  [[nodiscard]] std::size_t parameterBytes() const { return blockBytes; }
  /// 128 where there is a map.
  [[nodiscard]] std::size_t parameterAlignment() const { return blockAlignment; }

  /// Tiles of the block axis times points of the free axes; maxItems + 1 where there are more than maxItems.
  [[nodiscard]] std::int64_t items(const Problem &problem) const;

  /// Thread blocks to launch: 0 where there is no item.
  [[nodiscard]] int blocks(std::int64_t items, const Machine &machine) const;

  /// Writes the parameter block to `out` (parameterBytes(), aligned to parameterAlignment()). There are items, and at most
  /// maxItems. What `encode` throws goes through.
  void fill(const Problem &problem, const Machine &machine, const EncodeMap &encode, std::byte *out) const;
  [[nodiscard]] std::vector<ParameterLine> filled(const Problem &problem, const Machine &machine, const EncodeMap &encode) const;

  /// The numbers that the lists of so many blocks have room for; kernels count them in i32.
  [[nodiscard]] std::int64_t listPlaces(const Problem &problem, int blocks) const;
  /// What a launch of so many blocks needs: the counters, and the lists of its items' tiles.
  [[nodiscard]] std::size_t workspaceBytes(const Problem &problem, int blocks) const;

  /// Puts another workspace into a block that fill() wrote: launches with the same arguments differ in nothing else.
  void setWorkspace(std::uint64_t workspace, std::byte *block) const;

private:
  struct Step {
    ParameterField field;
    std::size_t offset = 0;
    int size = 0;
    std::size_t index = 0;   // of the tensor, axis or scalar
    Element element = Element::i32;
  };

  [[nodiscard]] std::size_t listsAt() const;
  [[nodiscard]] std::int64_t listRoom(const Problem &problem) const;
  [[nodiscard]] std::int64_t frees(const Problem &problem) const;
  [[nodiscard]] std::int64_t tiles(const Problem &problem) const;
  [[nodiscard]] std::int64_t group(const Problem &problem, std::int64_t frees, std::int64_t l2Bytes) const;

  std::vector<std::string> tensorNames, axisNames, scalarNames;
  std::vector<Step> steps;
  std::vector<std::size_t> freeAxes;
  std::vector<std::pair<std::size_t, int>> ring;   // tensors, and bytes of their elements
  std::ptrdiff_t blockAxis = -1;
  std::int64_t blockWidth = 1;
  int blocksPerSM = 1;
  bool grouped = false;
  bool strided = false;
  static constexpr std::size_t listAlignment = 128;
  std::size_t counterBytes = 0, listAxis = 0;
  std::int64_t listWidth = 1;
  int listSlots = 0;
  std::size_t blockBytes = 0, blockAlignment = 1;
};

} // namespace tw::device
