// Pictures of a mask: text, PNG, SVG.
#include "MaskDrawing.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <stdexcept>
#include <zlib.h>

namespace tw::cli {
namespace {

using Colour = std::array<std::uint8_t, 3>;

/// Of a kept and of a masked element, by the class of the tile; without elements the first one is the tile's.
struct Palette {
  Colour kept, masked;
};
constexpr Palette palette[] = {{{{200, 200, 200}}, {{244, 244, 244}}}, {{{214, 120, 30}}, {{252, 226, 196}}}, {{{30, 90, 160}}, {{30, 90, 160}}}};
constexpr std::int64_t mostPixels = 2048;

Palette paletteOf(TileClass is) { return palette[static_cast<int>(is)]; }

Colour colourAt(const MaskPicture &p, std::int64_t row, std::int64_t column) {
  TileClass is = p.tiles[static_cast<std::size_t>(row / p.tileRows)][static_cast<std::size_t>(column / p.tileColumns)];
  bool isKept = p.kept.empty() ? is != TileClass::empty : p.kept[static_cast<std::size_t>(row * p.columns + column)];
  return isKept ? paletteOf(is).kept : paletteOf(is).masked;
}

std::string bigEndian(std::uint32_t n) { return {char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; }

std::string chunk(const std::string &kind, const std::string &data) {
  const std::string body = kind + data;
  return bigEndian(std::uint32_t(data.size())) + body + bigEndian(std::uint32_t(crc32(0, reinterpret_cast<const Bytef *>(body.data()), uInt(body.size()))));
}

std::string hex(const Colour &c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

} // namespace

std::string drawText(const MaskPicture &picture) {
  std::string out;
  for (const auto &row : picture.tiles) {
    for (TileClass is : row)
      out += "./#"[static_cast<int>(is)];
    out += '\n';
  }
  return out;
}

std::string drawPng(const MaskPicture &p) {
  const std::int64_t step = std::max<std::int64_t>(1, (std::max(p.rows, p.columns) + mostPixels - 1) / mostPixels);     // elements a pixel
  const std::int64_t height = (p.rows + step - 1) / step, width = (p.columns + step - 1) / step;
  std::string pixels;
  for (std::int64_t y = 0; y < height; ++y) {
    pixels += '\0';                                    // this line is not filtered
    for (std::int64_t x = 0; x < width; ++x)
      for (std::uint8_t channel : colourAt(p, y * step, x * step))
        pixels += char(channel);
  }
  uLongf size = compressBound(pixels.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(pixels.data()), pixels.size(), Z_BEST_COMPRESSION) != Z_OK)
    throw std::runtime_error("zlib could not compress the picture: there is not enough memory");
  packed.resize(size);
  const std::string header = bigEndian(std::uint32_t(width)) + bigEndian(std::uint32_t(height)) + std::string("\x08\x02\x00\x00\x00", 5);   // 8 bits each of red, green, blue
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", packed) + chunk("IEND", "");
}

/// Runs of elements of one colour are one rectangle.
std::string drawSvg(const MaskPicture &p) {
  const std::int64_t step = std::max<std::int64_t>(1, (std::max(p.rows, p.columns) + mostPixels - 1) / mostPixels);
  std::string out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" shape-rendering=\"crispEdges\">\n", p.columns, p.rows);
  for (std::int64_t y = 0; y < p.rows; y += step)
    for (std::int64_t x = 0; x < p.columns;) {
      const Colour colour = colourAt(p, y, x);
      const std::int64_t start = x;
      while (x < p.columns && colourAt(p, y, x) == colour)
        x += step;
      out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", start, y, std::min(x, p.columns) - start, std::min(step, p.rows - y), hex(colour));
    }
  for (std::int64_t y = p.tileRows; y < p.rows; y += p.tileRows)
    out += fmt::format("<path d=\"M0 {}H{}\" stroke=\"#888\" stroke-width=\"{}\"/>\n", y, p.columns, 0.5 * double(step));
  for (std::int64_t x = p.tileColumns; x < p.columns; x += p.tileColumns)
    out += fmt::format("<path d=\"M{} 0V{}\" stroke=\"#888\" stroke-width=\"{}\"/>\n", x, p.rows, 0.5 * double(step));
  return out + "</svg>\n";
}

} // namespace tw::cli
