// A fold with its stabilisers held: every other carried value is then a plain sum over tiles.
#pragma once
#include "Algebra.h"
#include "tilewright/dsl/Program.h"

namespace tw::detail {

/// Results do not depend on the exactness of a stabiliser, so let each be a constant c from the first tile on. What was
/// carried as  r · e^(old − new) + term  is then  start + Σ term,  and differentiates tile by tile.
struct HeldFold {
  struct Slot {
    std::string name;               // that the program gave the carried value, or its number
    bool isHeld = false;            // a stabiliser
    Tile result;                    // a placeholder: c, or the sum
    std::optional<Tile> term;       // of a sum: what one tile adds
    std::optional<Tile> start;      // of a sum: what it starts from, unless that is 0
  };
  std::shared_ptr<const Fold> fold;
  std::vector<Slot> slots;
};

/// Throws ProgramError at the user's line where a carried value is neither a stabiliser nor, these held, a sum.
[[nodiscard]] HeldFold holdStabilisers(Algebra &algebra, const std::shared_ptr<const Fold> &fold);

/// n if the value is e^(−n·c) times something that does not depend on `c`; nothing if it is not of that form.
/// Degrees of other values may be told. A 0 has any degree.
class Degrees {
public:
  struct Degree {
    bool isKnown = true, isAny = false;
    int n = 0;
  };
  Degrees(const Tile &c) : c(c) {}
  void set(const Tile &value, Degree degree) { told[&meant(value).node()] = degree; }
  Degree of(const Tile &tile);
  bool depends(const Tile &tile);

private:
  Degree compute(const Node &node);
  Tile c;
  std::map<const Node *, Degree> told, known;
  std::map<const Node *, bool> onC;
};

} // namespace tw::detail
