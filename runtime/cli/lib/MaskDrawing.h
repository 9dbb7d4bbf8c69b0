// Pictures of a mask: its elements, and how a kernel treats the tiles they lie in.
#pragma once
#include "tilewright/pipeline/TileClasses.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tw::cli {

struct MaskPicture {
  std::int64_t rows = 0, columns = 0;                  // elements
  int tileRows = 1, tileColumns = 1;                   // elements of a tile
  std::vector<std::vector<TileClass>> tiles;           // by row of tiles
  std::vector<bool> kept;                              // by element, row by row; empty: not known
};

/// One letter a tile: `.` empty, `/` partial, `#` full.
[[nodiscard]] std::string drawText(const MaskPicture &picture);
/// Elements that are kept dark, masked ones light, on the colour of their tile's class; at most 2048 pixels a side.
[[nodiscard]] std::string drawPng(const MaskPicture &picture);
[[nodiscard]] std::string drawSvg(const MaskPicture &picture);

} // namespace tw::cli
