// What kernels know of the tiles of a fold at given lengths and tables.
#include "tilewright/pipeline/TileClasses.h"
#include "Compilation.h"
#include "Interpreter.h"
#include "mlir/Transforms/Passes.h"
#include "tilewright/transforms/Passes.h"

using namespace mlir;

namespace tw {

struct TileClasses::State {
  State(const Program &program, const Schedule &schedule, const Target &target) : compilation(program, schedule, none) {
    std::vector<Phase> phases = tilePhases(schedule, target, false);
    auto bounded = std::find_if(phases.begin(), phases.end(), [](const Phase &phase) { return std::string_view(phase.name) == "classify-tiles" || std::string_view(phase.name) == "bound-folds"; });
    phases.erase(bounded, phases.end());
    phases.push_back({"classify-tiles", [&](OpPassManager &pm) {
                        ClassifyTilesOptions options;
                        options.all = true;
                        options.mostElements = mostElementsOf(target);
                        pm.addPass(createClassifyTiles(options));
                        pm.addPass(createCSEPass());
                      }});
    compilation.run(phases);
    kernel = *compilation.module->getOps<func::FuncOp>().begin();
    kernel.walk([&](tile::KeptOp op) { kept = op; });
    tile::KernelAttr axes = tile::kernelOf(kernel);
    for (auto [role, name, width] : {std::tuple(tile::Role::Block, &block, &blockWidth), {tile::Role::Fold, &fold, &foldWidth}})
      if (tile::AxisAttr axis = axes.withRole(role)) {
        *name = axis.getName().str();
        *width = int(axis.getWidth());
      }
    for (Attribute place : kept ? kept->getAttrOfType<ArrayAttr>("tile.masks").getValue() : ArrayRef<Attribute>()) {
      auto named = dyn_cast<NameLoc>(place);
      masks.push_back({named ? named.getName().str() : "", lineOf(cast<LocationAttr>(place)).value_or(Location())});
    }
  }

  CompileOptions none;
  Compilation compilation;
  func::FuncOp kernel;
  tile::KeptOp kept;
  std::string block, fold;
  int blockWidth = 1, foldWidth = 1;
  std::vector<MaskPlace> masks;
};

TileClasses::TileClasses(const Program &program, const Schedule &schedule, const Target &target) : state(std::make_unique<State>(program, schedule, target)) {}
TileClasses::~TileClasses() = default;

const std::vector<MaskPlace> &TileClasses::masks() const { return state->masks; }
const std::string &TileClasses::blockAxis() const { return state->block; }
const std::string &TileClasses::foldAxis() const { return state->fold; }
int TileClasses::blockWidth() const { return state->blockWidth; }
int TileClasses::foldWidth() const { return state->foldWidth; }

std::vector<ClassifiedTile> TileClasses::classify(const Evaluation &inputs, const std::map<std::string, std::int64_t> &item) const {
  std::vector<ClassifiedTile> tiles;
  const std::int64_t length = inputs.extents.at(state->fold);
  tile::KeptOp kept = state->kept;
  if (!kept) {
    for (std::int64_t k = 0; k < length; k += state->foldWidth)
      tiles.push_back({TileClass::full, {}, k + state->foldWidth <= length});
    return tiles;
  }
  Interpreter interpreter(state->kernel, inputs, item);
  const std::int64_t begin = interpreter.integer(kept.getBegin()), end = interpreter.integer(kept.getEnd());
  auto classes = cast<tile::ClassesOp>(kept.getClassify().front().getTerminator());
  for (std::int64_t k = 0; k < length; k += state->foldWidth) {
    interpreter.bind(kept.getTile(), k);
    ClassifiedTile tile;
    bool full = true, empty = k < begin || k >= end;
    for (auto [i, mask] : llvm::enumerate(state->masks)) {
      (void)mask;
      MaskAnswer answer{interpreter.integer(classes.getEmpty()[i]) != 0, interpreter.integer(classes.getFull()[i]) != 0};
      empty |= answer.empty;
      full &= answer.full;
      tile.answers.push_back(answer);
    }
    tile.endsInside = interpreter.integer(classes.getFull().back()) != 0;
    tile.is = empty ? TileClass::empty : full && tile.endsInside ? TileClass::full : TileClass::partial;
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

} // namespace tw
