// Philox 4x32-10 as operations on integers. Each word runs along the axes that it depends on and no others: what a whole tile
// shares stays one number.
#include "ImportValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <array>
#include <functional>

using namespace mlir;

namespace tw {
namespace {

/// 32 bits over some axes of a tile.
struct Word {
  Value value;
  Axes axes;
};

/// Arithmetic on words. Products and the keys' sums are made in 64 bits: 32 would overflow, which C++ does not define.
class Words {
public:
  using Spread = std::function<Value(const Word &, const Axes &)>;
  Words(OpBuilder &b, mlir::Location where, Spread spread) : b(b), where(where), spread(std::move(spread)) {}

  Value constant(std::int64_t value, mlir::Type type) {
    TypedAttr number = b.getIntegerAttr(tile::elementOf(type), value);
    if (auto tile = dyn_cast<RankedTensorType>(type))
      number = SplatElementsAttr::get(tile, number);
    return arith::ConstantOp::create(b, where, number);
  }
  Value low(Value wide) { return arith::TruncIOp::create(b, where, tile::withElement(wide.getType(), b.getI32Type()), wide); }
  Value shifted(Value value, int places) { return arith::ShRUIOp::create(b, where, value, constant(places, value.getType())); }
  Value high(Value wide) { return low(shifted(wide, 32)); }
  Value extended(Value word) { return arith::ExtUIOp::create(b, where, tile::withElement(word.getType(), b.getI64Type()), word); }
  Value product(Value word, std::int64_t factor) {
    Value wide = extended(word);
    return arith::MulIOp::create(b, where, wide, constant(factor, wide.getType()));
  }
  Value sum(Value wide, std::int64_t term) { return term ? arith::AddIOp::create(b, where, wide, constant(term, wide.getType())).getResult() : wide; }
  Word exclusive(const Word &x, const Word &y) {
    Axes axes = unite(x.axes, y.axes);
    return {arith::XOrIOp::create(b, where, spread(x, axes), spread(y, axes)), axes};
  }

private:
  OpBuilder &b;
  mlir::Location where;
  Spread spread;
};

} // namespace

Value ImportValues::randomNumbers(const Tile &tile) {
  const Node &node = tile.node();
  mlir::Location where = locationOf(tile);
  auto tiled = [&](const Tile &operand) { return inTileOrder(operand.axes()); };
  auto spread = [&](const Word &word, const Axes &axes) {
    mlir::Type wanted = tile::withElement(typeOver(Type::i32, axes), tile::elementOf(word.value.getType()));
    return word.value.getType() == wanted ? word.value : tile::BroadcastOp::create(b, where, wanted, word.value).getResult();
  };
  Words words(b, where, spread);

  Value seed = get(node.operands[0]);
  const Axes seedAxes = tiled(node.operands[0]);
  const std::array<Value, 2> key{words.extended(words.low(seed)), words.shifted(seed, 32)};
  std::vector<Word> counter;
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    Value coordinate = get(node.operands[i]);
    const bool isWide = node.operands[i].type() == Type::i64;
    counter.push_back({isWide ? words.low(coordinate) : coordinate, tiled(node.operands[i])});
    if (isWide)
      counter.push_back({words.high(coordinate), tiled(node.operands[i])});
  }
  while (counter.size() < 4)
    counter.push_back({words.constant(0, b.getI32Type()), {}});

  for (std::int64_t round = 0; round < 10; ++round) {
    const Value a = words.product(counter[0].value, 0xD2511F53), c = words.product(counter[2].value, 0xCD9E8D57);
    const Word firstKey{words.low(words.sum(key[0], round * 0x9E3779B9)), seedAxes}, secondKey{words.low(words.sum(key[1], round * 0xBB67AE85)), seedAxes};
    const Axes ofA = counter[0].axes, ofC = counter[2].axes;
    counter = {words.exclusive(words.exclusive(firstKey, counter[1]), {words.high(c), ofC}), {words.low(c), ofC},
               words.exclusive(words.exclusive(secondKey, counter[3]), {words.high(a), ofA}), {words.low(a), ofA}};
  }
  Value whole = words.shifted(spread(counter[0], tiled(tile)), 8);
  mlir::Type result = typeOver(Type::f32, node.axes);
  return arith::MulFOp::create(b, where, arith::SIToFPOp::create(b, where, result, whole), constant(0x1p-24, result, where));
}

} // namespace tw
