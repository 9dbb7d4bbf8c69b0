// A variant as users write it, for the program of an installation.
#include <tilewright/variant.h>

TILEWRIGHT_VARIANT(consumed, attention) {
  attention.score([](tw::Tile s, const tw::At &at) { return s - 0.1 * log(1.0 + abs(at.query - at.key)); }).mask(tw::causal());
}
