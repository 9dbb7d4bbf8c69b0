#include "Operands.h"
#include "Phrase.h"
#include "Report.h"

namespace tw::simulated {
namespace {

struct Descriptor {
  std::uint32_t start, leading, stride, base, mode;   // bytes; mode 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes

  explicit Descriptor(std::uint64_t bits)
      : start(std::uint32_t(bits & 0x3fff) << 4), leading(std::uint32_t(bits >> 16 & 0x3fff) << 4), stride(std::uint32_t(bits >> 32 & 0x3fff) << 4),
        base(std::uint32_t(bits >> 49 & 7)), mode(std::uint32_t(bits >> 62 & 3)) {}

  /// Address bits that the swizzle permutes; pieces of 16 bytes in a row of the swizzled atom.
  [[nodiscard]] int bits() const { return mode ? 4 - int(mode) : 0; }
  [[nodiscard]] int piecesPerRow() const { return 1 << bits(); }
  [[nodiscard]] std::uint32_t patternBytes() const { return 128u << bits(); }

  [[nodiscard]] Address swizzled(Address address) const {
    const std::uint32_t row = ((address >> 7) - base) & ((1u << bits()) - 1);
    return address ^ (row << 4);
  }

  /// Before swizzling, from the start: contiguous along K.
  [[nodiscard]] std::uint32_t alongK(int row, int piece) const {
    return std::uint32_t((row & 7) * 16 * piecesPerRow()) + std::uint32_t(row >> 3) * stride + std::uint32_t(piece) * (mode ? 16 : leading);
  }
  /// Contiguous along rows; `piece` counts eights of them.
  [[nodiscard]] std::uint32_t alongRows(int piece, int k) const {
    const auto eight = std::uint32_t(k >> 3), within = std::uint32_t(k & 7), at = std::uint32_t(piece), width = std::uint32_t(piecesPerRow());
    return mode ? at % width * 16 + at / width * leading + within * 16 * width + eight * stride : at * stride + within * 16 + eight * leading;
  }
};

}   // namespace

void findPieces(const Operand &operand, int begin, int end, const char *what, int line, std::vector<OperandPiece> &pieces) {
  const Descriptor descriptor(operand.descriptor);
  // The atom of 8 rows starts at a multiple of its size; columns within a row may be stepped through.
  if (descriptor.mode && (descriptor.start & (descriptor.patternBytes() - 1) & ~127u) && !descriptor.base)
    report("WGMMA-ALIGN", line, 0,
           phrase("{} at line {}: a swizzled operand starts at {}, not on its pattern of {} bytes, with base offset 0", what, line,
                  hex(descriptor.start), descriptor.patternBytes()));
  pieces.clear();
  auto add = [&](std::uint32_t linear, int row, int k) {
    const Address base = machine->options.sharedBase, address = descriptor.swizzled((descriptor.start + linear) & 0x3ffff);
    if (address < base || address - base + 16 > machine->sharedBytes)
      stop("SHARED-BOUNDS", line,
           phrase("{} at line {}: descriptor {} (start {}, leading offset {}, stride offset {}, swizzle mode {}) reaches {}, outside {}..{}", what,
                  line, hex(operand.descriptor), hex(descriptor.start), descriptor.leading, descriptor.stride, descriptor.mode, hex(address),
                  hex(base), hex(base + machine->sharedBytes)));
    pieces.push_back({address - base, row, k});
  };
  if (operand.transposed)
    for (int k = 0; k < 16; ++k)
      for (int piece = begin / 8; piece < end / 8; ++piece)
        add(descriptor.alongRows(piece, k), piece * 8, k);
  else
    for (int row = begin; row < end; ++row)
      for (int piece = 0; piece < 2; ++piece)
        add(descriptor.alongK(row, piece), row, piece * 8);
}

}   // namespace tw::simulated
