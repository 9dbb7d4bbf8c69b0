// Pictures of the gallery's masks: a square for every 16 queries and keys.
#include "GalleryPicture.h"
#include "MaskDrawing.h"
#include "MaskElements.h"
#include "Problem.h"
#include <algorithm>

namespace tw::cli {

std::string galleryPicture(const std::string &variant) {
  constexpr std::int64_t length = 256;
  constexpr int square = 16;
  Problem problem = randomProblem(variant, Type::f32, {1, 2, 2, length, length, 8, 8}, 1);
  problem.inputs.extents = {{"b", 1}, {"h", 2}, {"q", length}, {"k", length}, {"d", 8}, {"e", 8}};
  const Roles roles = rolesOf(problem.program, "q");
  const auto condition = keptBy(roles);
  if (!condition)
    return {};
  const std::vector<bool> kept = keptElements(*condition, roles, problem.inputs, {{"b", 0}, {"h", 0}});
  if (std::all_of(kept.begin(), kept.end(), [](bool each) { return each; }))
    return {};
  MaskPicture picture{length, length, square, square, {}, kept};
  for (std::int64_t row = 0; row < length; row += square) {
    picture.tiles.emplace_back();
    for (std::int64_t column = 0; column < length; column += square) {
      int count = 0;
      for (std::int64_t i = 0; i < square * square; ++i)
        count += kept[static_cast<std::size_t>((row + i / square) * length + column + i % square)];
      picture.tiles.back().push_back(count == 0 ? TileClass::empty : count == square * square ? TileClass::full : TileClass::partial);
    }
  }
  return drawText(picture);
}

}   // namespace tw::cli
