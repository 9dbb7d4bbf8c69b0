// `tilewright mask`: which elements the masks of a variant keep, and how kernels treat the tiles they lie in.
#include "Commands.h"
#include "FileTensor.h"
#include "MaskDrawing.h"
#include "MaskElements.h"
#include "Options.h"
#include "Output.h"
#include "Plugin.h"
#include "Problem.h"
#include "Variant.h"
#include "VariantLaunch.h"
#include "tilewright/kernel/Nearest.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {
namespace {

struct Options {
  std::string variant, shape, target = "host", dtype = "bf16", schedule, item = "0,0", tile, out;
  std::vector<std::string> captures;
  bool json = false;
};

constexpr std::int64_t mostElements = std::int64_t(1) << 26;   // that evaluate() is asked for
constexpr const char *names[] = {"empty", "partial", "full"};

/// Everything that a look at the mask needs.
struct Look {
  Program program;
  Shape shape;
  Roles roles;
  Schedule schedule;
  Evaluation inputs;
  std::map<std::string, std::int64_t> item;
  MaskPicture picture;
  std::vector<MaskPlace> masks;
  std::vector<std::vector<ClassifiedTile>> tiles;
  std::array<std::int64_t, 3> counts{};
  std::optional<Estimate> estimate;   // on a GPU
};

void readCaptures(Look &look, const Options &options) {
  std::vector<std::string> wanted;
  std::map<std::string, TensorInfo> infos;
  for (const auto &tensor : tensorsOf(look.program)) {
    const bool isStored = std::any_of(look.program.stores.begin(), look.program.stores.end(), [&](const Store &store) { return store.tensor.name() == tensor->name; });
    if (isStored || tensor->name == "Q" || tensor->name == "K" || tensor->name == "V") {
      look.inputs.tensors[tensor->name] = {shapeOf(look.shape, tensor->name), {}};      // of these the lengths alone matter
      continue;
    }
    wanted.push_back(tensor->name);
    infos.emplace(tensor->name, *tensor);
  }
  for (const std::string &text : options.captures) {
    const auto [name, path] = parsePair("--capture", text, "name=FILE.npy");
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end())
      throw std::invalid_argument(fmt::format("--capture {}: variant '{}' reads no table of that name{}", text, options.variant, suggestion(name, wanted)));
    look.inputs.tensors[name] = tensorIn(readNpy(path), infos.at(name), path);
  }
  for (const std::string &name : wanted)
    if (!look.inputs.tensors.contains(name)) {
      const Shape narrow{look.shape.b, look.shape.h, look.shape.hkv, look.shape.sq, look.shape.skv, 8, 8};
      look.inputs.tensors[name] = randomProblem(options.variant, Type::f32, narrow, 1).inputs.tensors.at(name);
    }
}

/// What a launch would take in which every item visited the tiles that this one does.
Estimate predicted(const Look &look, const Options &options, const Target &target) {
  LaunchShape shape;
  if (!isVariantFile(trimmed(options.variant)))
    shape = launchShape(trimmed(options.variant), parseFloatType(options.dtype), look.shape);
  else
    for (const auto &[name, array] : look.inputs.tensors)
      shape.tensors[name] = array.shape;
  std::vector<CountedVisit> visits;
  for (const auto &row : look.picture.tiles) {
    const auto partial = std::count(row.begin(), row.end(), TileClass::partial), full = std::count(row.begin(), row.end(), TileClass::full);
    visits.push_back({double(partial + full), double(partial)});
  }
  return estimate(look.program, look.schedule, target, shape, visits);
}

Look lookAt(const Options &options) {
  Look look;
  look.program = programOf(trimmed(options.variant), {.type = parseFloatType(options.dtype), .lse = false});
  (void)factsFor(trimmed(options.variant), Type::f32);   // refuses a program that has no mask over q and k
  look.shape = parseShape(options.shape);
  const Shape &s = look.shape;
  const Target target = findTarget(options.target);
  look.schedule = options.schedule.empty() ? defaultSchedule(look.program, target, {{"d", s.d}, {"e", s.dv}}) : parseSchedule(options.schedule);
  look.roles = rolesOf(look.program, look.schedule.block);
  readCaptures(look, options);
  look.inputs.extents = {{"b", s.b}, {"h", s.h}, {"q", s.sq}, {"k", s.skv}, {"d", s.d}, {"e", s.dv}};
  const auto item = parseNumbers("--item", options.item, "b,h");
  if (item.size() != 2 || item[0] < 0 || item[0] >= s.b || item[1] < 0 || item[1] >= s.h)
    throw std::invalid_argument(fmt::format("--item {}: expected b,h with b from 0 to {} and h from 0 to {}", options.item, s.b - 1, s.h - 1));
  look.item = {{"b", item[0]}, {"h", item[1]}};

  const TileClasses classes(look.program, look.schedule, target);
  look.masks = classes.masks();
  for (MaskPlace &mask : look.masks)
    if (mask.name.empty() && !masksAt(look.roles, mask.where))
      mask.where = {};   // the compiler's own
  MaskPicture &picture = look.picture;
  picture.rows = look.inputs.extents.at(classes.blockAxis());
  picture.columns = look.inputs.extents.at(classes.foldAxis());
  picture.tileRows = classes.blockWidth();
  picture.tileColumns = classes.foldWidth();
  auto place = look.item;
  for (std::int64_t first = 0; first < picture.rows; first += picture.tileRows) {
    place[classes.blockAxis()] = first;
    look.tiles.push_back(classes.classify(look.inputs, place));
    picture.tiles.emplace_back();
    for (const ClassifiedTile &tile : look.tiles.back()) {
      picture.tiles.back().push_back(tile.is);
      ++look.counts[static_cast<std::size_t>(tile.is)];
    }
  }
  if (!target.isHost())
    look.estimate = predicted(look, options, target);
  const auto condition = keptBy(look.roles);
  std::int64_t points = picture.rows * picture.columns;
  if (condition)
    for (const Axis &axis : condition->axes())
      points *= look.roles.of(axis) == Role::free ? look.inputs.extents.at(axis.name()) : 1;
  if (condition && points <= mostElements)
    picture.kept = keptElements(*condition, look.roles, look.inputs, look.item);
  return look;
}

std::int64_t keptIn(const MaskPicture &p, std::int64_t row, std::int64_t column) {
  std::int64_t kept = 0;
  for (std::int64_t y = row * p.tileRows; y < std::min((row + 1) * p.tileRows, p.rows); ++y)
    for (std::int64_t x = column * p.tileColumns; x < std::min((column + 1) * p.tileColumns, p.columns); ++x)
      kept += p.kept[static_cast<std::size_t>(y * p.columns + x)];
  return kept;
}

std::string placeOf(const MaskPlace &mask) {
  const std::string file = mask.where.file;
  std::string line = mask.where.line ? fmt::format("{}:{}", file.substr(file.rfind('/') + 1), mask.where.line) : "the end of the axis";
  return mask.name.empty() ? line : fmt::format("{} ({})", mask.name, line);
}

/// Why the tile is what it is, mask by mask.
std::vector<std::string> reasons(const Look &look, std::int64_t row, std::int64_t column) {
  const ClassifiedTile &tile = look.tiles[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < look.masks.size(); ++i) {
    const MaskAnswer &answer = tile.answers[i];
    lines.push_back(placeOf(look.masks[i]) + (answer.empty ? " excludes every element" : answer.full ? " keeps every element" : " excludes some elements, or ranges of what it compares do not tell"));
  }
  if (!tile.endsInside && tile.is != TileClass::empty)
    lines.push_back("the tile reaches past the end of its axis");
  return lines;
}

int drawMask(const Options &options) {
  const Look look = lookAt(options);
  const MaskPicture &p = look.picture;
  const std::int64_t all = look.counts[0] + look.counts[1] + look.counts[2];
  const double skipped = all ? double(look.counts[0]) / double(all) : 0;
  std::optional<std::int64_t> kept;
  if (!p.kept.empty() || !p.rows || !p.columns)
    kept = std::count(p.kept.begin(), p.kept.end(), true);

  std::optional<std::pair<std::int64_t, std::int64_t>> asked;
  if (!options.tile.empty()) {
    const auto at = parseNumbers("--tile", options.tile, "i,j");
    const std::int64_t rows = std::int64_t(p.tiles.size()), columns = rows ? std::int64_t(p.tiles[0].size()) : 0;
    if (!all)
      throw std::invalid_argument(fmt::format("--tile {}: there are no tiles in {} × {} elements; leave it out, or give --shape longer axes", options.tile, p.rows, p.columns));
    if (at.size() != 2 || at[0] < 0 || at[0] >= rows || at[1] < 0 || at[1] >= columns)
      throw std::invalid_argument(fmt::format("--tile {}: expected i,j with i from 0 to {} and j from 0 to {}", options.tile, rows - 1, columns - 1));
    asked = {at[0], at[1]};
  }
  if (!options.out.empty()) {
    const std::string &path = options.out;
    const std::string bytes = path.ends_with(".png") ? drawPng(p) : path.ends_with(".svg") ? drawSvg(p) : path.ends_with(".txt") || path == "-" ? drawText(p) : "";
    if (bytes.empty() && p.rows && p.columns)
      throw std::invalid_argument(fmt::format("-o {}: pictures are made as .png, .svg and .txt", path));
    if (path == "-")
      printText(bytes);
    else
      writeFile(path, bytes);
  }
  if (options.json) {
    Json json = {{"variant", options.variant}, {"target", options.target}, {"schedule", print(look.schedule)}, {"rows", p.rows}, {"columns", p.columns}, {"tile", {p.tileRows, p.tileColumns}},
                 {"tiles", {{"empty", look.counts[0]}, {"partial", look.counts[1]}, {"full", look.counts[2]}}}, {"skipped", skipped}};
    json["kept_elements"] = kept ? Json(*kept) : Json();
    json["predicted_seconds"] = look.estimate ? Json(look.estimate->seconds) : Json();
    for (const MaskPlace &mask : look.masks)
      json["masks"].push_back(placeOf(mask));
    if (asked)
      json["asked"] = {{"class", names[static_cast<int>(p.tiles[std::size_t(asked->first)][std::size_t(asked->second)])]}, {"why", reasons(look, asked->first, asked->second)}};
    printJson(json);
    return right;
  }
  std::string out = fmt::format("{} for {}: {} × {} elements in tiles of {} × {}, item ({})\n", options.variant, options.target, p.rows, p.columns, p.tileRows, p.tileColumns, options.item);
  for (const MaskPlace &mask : look.masks)
    out += fmt::format("{:<10}{}\n", "mask", placeOf(mask));
  if (kept)
    out += fmt::format("{:<10}{} kept, {:.1f}%\n", "elements", *kept, p.kept.empty() ? 0.0 : 100 * double(*kept) / double(p.kept.size()));
  else
    out += fmt::format("{:<10}not counted: {}\n", "elements", keptBy(look.roles) ? "there are too many" : "a mask depends on computed values");
  out += fmt::format("{:<10}{} empty (skipped), {} partial (with the mask), {} full (without it); {:.1f}% skipped\n", "tiles", look.counts[0], look.counts[1], look.counts[2], 100 * skipped);
  if (look.estimate)
    out += fmt::format("{:<10}{} predicted, bound by {}, were all items of the launch like this one\n", "time", timeOf(look.estimate->seconds), name(look.estimate->bound));
  else
    out += fmt::format("{:<10}not predicted: the cost model is of GPUs; take one by --target h200\n", "time");
  if (asked) {
    const auto [row, column] = *asked;
    out += fmt::format("{:<10}({}, {}), from row {}, column {}: {}", "tile", row, column, row * p.tileRows, column * p.tileColumns, names[static_cast<int>(p.tiles[std::size_t(row)][std::size_t(column)])]);
    out += kept ? fmt::format(", {} elements kept\n", keptIn(p, row, column)) : "\n";
    for (const std::string &reason : reasons(look, row, column))
      out += fmt::format("{:<10}{}\n", "", reason);
  } else if (options.out.empty() && p.tiles.size() <= 64 && (p.tiles.empty() || p.tiles[0].size() <= 128)) {
    out += "\n" + drawText(p) + "\n. empty   / partial   # full\n";
  }
  if (options.out != "-")
    printText(out);
  return right;
}

} // namespace

Command mask(CLI::App &program) {
  auto options = std::make_shared<Options>();
  CLI::App *app = program.add_subcommand("mask", "Draw what the masks of a variant keep, and which tiles kernels skip");
  addVariant(*app, options->variant);
  app->add_option("--shape", options->shape, "the lengths")->required()->type_name(shapeForm);
  app->add_option("--target", options->target, "the processor whose kernel is looked at; host if left out")->type_name("NAME");
  addDtype(*app, options->dtype);
  addSchedule(*app, options->schedule);
  app->add_option("--item", options->item, "the batch and the head that are looked at; 0,0 if left out")->type_name("b,h");
  app->add_option("--capture", options->captures, "a table that the variant reads; may be given several times")->type_name("name=FILE.npy");
  app->add_option("--tile", options->tile, "say of this tile, by row and column of tiles, why it is empty, partial or full")->type_name("i,j");
  app->add_option("-o,--out", options->out, "the picture: .png, .svg or .txt; - is the text on stdout")->type_name("FILE");
  addCompiler(*app);
  app->add_flag("--json", options->json, "the numbers as JSON");
  refuseEmpty(*app);
  app->footer("Examples:\n"
              "  tilewright mask 'window(100,20)' --shape 1,1,1,512,512,64\n"
              "  tilewright mask documents --shape 1,1,1,2048,2048,64 --target h200 -o mask.png");
  return {app, [options] { return drawMask(*options); }};
}

} // namespace tw::cli
