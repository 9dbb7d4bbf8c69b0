// Parameters and shared memory: fields, constants, and the facts of the launch.
#include "Declarations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
using namespace mlir;

namespace tw::emit {
namespace {

// Bytes by which the start of shared memory may have to move up, for tiles to be aligned.
constexpr std::int64_t tileAlignment = 1024;

std::string elementName(Type type) {
  return type.isF16() ? "f16" : type.isBF16() ? "bf16" : type.isF32() ? "f32" : type.isInteger(32) ? "i32" : type.isInteger(64) ? "i64" : "bool";
}

const char *fieldType(const ParameterField &field) {
  using Kind = ParameterField::Kind;
  switch (field.kind) {
  case Kind::map: return "TMap ";
  case Kind::pointer: return field.type == "f32"   ? "float* "
                             : field.type == "i32" ? "int* "
                             : field.type == "i64" ? "i64* "
                             : field.type == "bool" ? "unsigned char* "
                                                    : "unsigned short* ";
  case Kind::stride: return "i64 ";
  case Kind::scalar: return field.type == "f32"   ? "float "
                            : field.type == "i32" ? "int "
                            : field.type == "i64" ? "i64 "
                            : field.type == "bool" ? "bool "
                                                   : "unsigned short ";
  case Kind::counters:
  case Kind::lists: return "int* ";
  default: return "int ";
  }
}

/// Loops around an operation.
int loopDepth(Operation *op) {
  int depth = 0;
  for (Operation *outer = op->getParentOp(); outer; outer = outer->getParentOp())
    depth += isa<scf::ForOp, scf::WhileOp>(outer);
  return depth;
}

std::string dimensionsOf(device::RingType ring) {
  return ring.isVector() ? fmt::format("[{}]", ring.columns()) : fmt::format("[{}][{}][64]", ring.chunks(), ring.rows());
}

} // namespace

bool isDeclaration(Operation *op) {
  return isa<device::TensorMapOp, device::TensorOp, device::StrideOp, device::ExtentOp, device::DimensionOp, device::ScalarOp, device::CountOp,
             device::CountersOp, device::ListsOp, device::RingOp, device::BarriersOp, device::MailboxOp>(op);
}

FailureOr<Declarations> Declarations::of(device::KernelOp kernel, Names &names) {
  Declarations made(kernel);
  made.launch.blockAxis = kernel.getBlock().str();
  made.launch.blockWidth = int(kernel.getWidth());
  for (Attribute axis : kernel.getFree())
    made.launch.freeAxes.push_back(cast<StringAttr>(axis).str());
  made.launch.threads = int(kernel.threads());
  made.launch.blocksPerSM = int(kernel.getBlocksPerSM());
  made.launch.grouped = kernel.getGrouped();
  made.launch.softwareMaps = !device::isHopper(kernel);
  made.launch.strided = kernel.getStrided();
  Names members(Names::For::members);
  for (Operation &op : kernel.getBody().front()) {
    if (auto tensor = dyn_cast<device::TensorOp>(op); tensor && !memoryType(tensor.getResult().getType().getElement()))
      return op.emitError() << "is a tensor of " << tensor.getResult().getType().getElement() << ", which device code does not hold";
    made.addParameter(op, members);
    if (failed(made.addShared(op, names)))
      return failure();
  }
  made.launch.sharedBytes = int(std::max<std::int64_t>(made.sharedEnd, kernel.getSharedBytes().value_or(0)) + tileAlignment);
  made.addRingTensors();
  kernel.walk([&](device::StoreTileOp store) {
    const std::string tensor = store.getPointer().getDefiningOp<device::TensorOp>().getTensor().str();
    if (!store.getStride() && !llvm::is_contained(made.launch.storedPieces, tensor))
      made.launch.storedPieces.push_back(tensor);
  });
  if (made.launch.softwareMaps) {
    constexpr std::uint64_t leastAsyncBytes = 4;
    kernel.walk([&](device::AcquireOp acquire) {
      if (acquire.getBytes())
        made.filledByLanes.insert(device::barriersOf(acquire.getCursor()).getResult());
    });
    kernel.walk([&](device::CopyOp copy) {
      const std::uint64_t elementBytes = copy.getRing().getType().getElement().getIntOrFloatBitWidth() / 8;
      if (std::uint64_t(copy.getDivisor()) < leastAsyncBytes || (kernel.getStrided() && elementBytes < leastAsyncBytes))
        made.storedThere.insert(device::barriersOf(copy.getCursor()).getResult());
    });
  }
  return made;
}

void Declarations::addField(Operation *op, ParameterField field, Names &names) {
  const std::string key = fmt::format("{}:{}:{}:{}", int(field.kind), field.axis, field.tensor, field.dimension);
  std::string &name = field.kind == ParameterField::Kind::map ? fields[op->getResult(0)] : known[key];
  if (name.empty()) {
    field.name = names.unique(field.name);
    name = field.name;
    launch.fields.push_back(field);
  }
  fields[op->getResult(0)] = name;
}

void Declarations::addParameter(Operation &op, Names &names) {
  using Kind = ParameterField::Kind;
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](device::TensorMapOp map) {
        const std::string tensor = map.getTensor().str();
        ParameterField field{.kind = Kind::map, .name = "tm_" + tensor, .tensor = tensor, .type = elementName(map.getElement()), .swizzle = int(map.getSwizzle())};
        for (auto [dimension, chunk, size, box] : llvm::zip(map.getDimensions(), map.getChunks(), map.getSizes(), map.getBox()))
          field.dimensions.push_back({int(dimension), int(chunk), int(size), int(box)});
        addField(map, field, names);
      })
      .Case([&](device::TensorOp tensor) {
        const std::string type = elementName(tensor.getResult().getType().getElement());
        addField(tensor, {.kind = Kind::pointer, .name = tensor.getTensor().str(), .tensor = tensor.getTensor().str(), .type = type}, names);
      })
      .Case([&](device::StrideOp stride) {
        const std::string tensor = stride.getTensor().str();
        const int dimension = int(stride.getDimension());
        addField(stride, {.kind = Kind::stride, .name = fmt::format("{}_s{}", tensor, dimension), .tensor = tensor, .dimension = dimension}, names);
      })
      .Case([&](device::ExtentOp extent) {
        addField(extent, {.kind = Kind::extent, .name = "len_" + extent.getAxis().str(), .axis = extent.getAxis().str()}, names);
      })
      .Case([&](device::DimensionOp length) {
        const std::string tensor = length.getTensor().str();
        const int dimension = int(length.getDimension());
        addField(length, {.kind = Kind::length, .name = fmt::format("{}_dim{}", tensor, dimension), .tensor = tensor, .dimension = dimension}, names);
      })
      .Case([&](device::ScalarOp scalar) {
        const std::string name = scalar.getName().str();
        addField(scalar, {.kind = Kind::scalar, .name = name, .axis = name, .type = elementName(scalar.getType())}, names);
      })
      .Case([&](device::CountOp count) {
        switch (count.getWhat()) {
        case device::Count::Items: return addField(count, {.kind = Kind::items, .name = "items"}, names);
        case device::Count::Blocks: return addField(count, {.kind = Kind::blocks, .name = "blocks"}, names);
        case device::Count::Frees: return addField(count, {.kind = Kind::frees, .name = "frees"}, names);
        case device::Count::Group: return addField(count, {.kind = Kind::group, .name = "group_items"}, names);
        }
      })
      .Case([&](device::ListsOp lists) {
        launch.listAxis = lists.getAxis().str();
        launch.listWidth = int(lists.getWidth());
        launch.listSlots = int(lists.getSlots().value_or(1));
        addField(lists, {.kind = Kind::listRoom, .name = "list_tiles"}, names);
        addField(lists, {.kind = Kind::lists, .name = "lists"}, names);
      })
      .Case([&](device::CountersOp counters) {
        launch.counters = int(counters.getNumber());
        addField(counters, {.kind = Kind::counters, .name = "counters"}, names);
      });
}

LogicalResult Declarations::addShared(Operation &op, Names &names) {
  std::optional<std::uint64_t> offset;
  std::int64_t bytes = 0;
  constexpr std::int64_t barrierBytes = 8;
  if (auto ring = dyn_cast<device::RingOp>(op)) {
    device::RingType type = ring.getResult().getType();
    offset = ring.getOffset();
    bytes = type.getSlots() * type.slotBytes();
    stems[ring.getResult()] = names.uniqueStem(ring.getName(), {"_AT", "_BYTES"});
  } else if (auto barriers = dyn_cast<device::BarriersOp>(op)) {
    offset = barriers.getOffset();
    bytes = 2 * barriers.getResult().getType().getSlots() * barrierBytes;
    stems[barriers.getResult()] = names.uniqueStem(barriers.getName(), {"_FULL", "_EMPTY"});
  } else if (auto mailbox = dyn_cast<device::MailboxOp>(op)) {
    offset = mailbox.getOffset();
    bytes = device::bytesOf(mailbox);
    stems[mailbox.getResult()] = names.uniqueStem(mailbox.getName(), {"_AT", "_BACK"});
  } else {
    return success();
  }
  if (!offset)
    return op.emitError() << "has no place in shared memory yet; device-lay-out-memory gives it an offset";
  sharedEnd = std::max(sharedEnd, std::int64_t(*offset) + bytes);
  return success();
}

// The tensors that are walked while an item stands still: those copied in the innermost loop that copies.
void Declarations::addRingTensors() {
  llvm::SmallVector<std::pair<device::CopyOp, int>> copies;
  int deepest = 0;
  kernel.walk([&](device::CopyOp copy) {
    copies.push_back({copy, loopDepth(copy)});
    deepest = std::max(deepest, copies.back().second);
  });
  for (auto [copy, depth] : copies) {
    auto map = copy.getMap().getDefiningOp<device::TensorMapOp>();
    if (map && depth == deepest && !llvm::is_contained(launch.ringTensors, map.getTensor().str()))
      launch.ringTensors.push_back(map.getTensor().str());
  }
}

int64_t Declarations::copyingThreads() const {
  constexpr int64_t warp = 32;
  return device::producerOf(kernel) ? warp : launch.threads;
}

Expression Declarations::parameter(Value value) const {
  const std::string field = "p." + fields.find(value)->second;
  return {value.getType().isF16() || value.getType().isBF16() ? widened(field, value.getType(), Float32Type::get(value.getContext())) : field};
}

std::string Declarations::roomOf(device::ListsOp) const {
  for (auto &field : launch.fields)
    if (field.kind == ParameterField::Kind::listRoom)
      return "p." + field.name;
  return {};
}

std::string Declarations::map(Value value) const { return "&p." + fields.find(value)->second; }

std::vector<std::string> Declarations::maps() const {
  std::vector<std::string> all;
  for (auto &field : launch.fields)
    if (field.kind == ParameterField::Kind::map)
      all.push_back("&p." + field.name);
  return all;
}

void Declarations::printHeader(Text &text) const {
  device::KernelOp kernel = this->kernel;
  device::ConsumersOp consumers = device::consumersOf(kernel);
  text.line(fmt::format("// {}: {} at every point of [{}]", kernel.getSymName().str(),
                        launch.blockAxis.empty() ? "one item" : fmt::format("tiles of {} of {}", launch.blockWidth, launch.blockAxis),
                        fmt::join(launch.freeAxes, ", ")));
  text.line(fmt::format("// {}{} warpgroup{} of consumers; {} bytes of shared memory", device::listerOf(kernel) ? "a lister, a producer and " : device::producerOf(kernel) ? "a producer and " : "",
                        std::uint64_t(consumers.getWarpgroups()), consumers.getWarpgroups() == 1 ? "" : "s", launch.sharedBytes));
  text.line();
  text.open("struct Params {");
  for (auto &field : launch.fields)
    text.line(fieldType(field) + field.name + ";");
  text.close("};");
  for (Operation &op : kernel.getBody().front()) {
    if (auto ring = dyn_cast<device::RingOp>(op)) {
      device::RingType type = ring.getResult().getType();
      const std::string &name = stem(ring.getResult());
      text.line(fmt::format("constexpr u32 {0}_AT = {1}, {0}_BYTES = {2};   // {3} x {4} {5}{6}", name, *ring.getOffset(), type.slotBytes(),
                            type.getSlots(), dimensionsOf(type), elementName(type.getElement()), type.isVector() ? "" : ", 128-byte swizzle"));
    } else if (auto barriers = dyn_cast<device::BarriersOp>(op)) {
      const std::int64_t slots = barriers.getResult().getType().getSlots();
      text.line(fmt::format("constexpr u32 {0}_FULL = {1}, {0}_EMPTY = {2};   // {3} barrier{4} each", stem(barriers.getResult()), *barriers.getOffset(),
                            *barriers.getOffset() + 8 * std::uint64_t(slots), slots, slots == 1 ? "" : "s"));
    } else if (auto mailbox = dyn_cast<device::MailboxOp>(op)) {
      const std::int64_t slots = mailbox.getResult().getType().getSlots(), words = mailbox.getResult().getType().getWords();
      text.line(fmt::format("constexpr u32 {}_AT = {};   // {} x {} number{} from {}", stem(mailbox.getResult()), *mailbox.getOffset(), slots, words,
                            words == 1 ? "" : "s", device::listerOf(kernel) ? "the lister" : device::producerOf(kernel) ? "the producer" : "one thread"));
      if (mailbox.getAnswers())
        text.line(fmt::format("constexpr u32 {}_BACK = {};   // {} x {} answers, one from each warp", stem(mailbox.getResult()), *mailbox.getOffset() + std::uint64_t(device::answersAt(mailbox)), slots,
                              *mailbox.getAnswers()));
    }
  }
}

void Declarations::printSetup(Text &text) const {
  device::KernelOp kernel = this->kernel;
  auto eachSlot = [&](std::int64_t slots, auto print) {
    if (slots == 1)
      return print("");
    text.open(fmt::format("for (int i = 0; i < {}; i++) {{", slots));
    print(" + 8 * i");
    text.close();
  };
  for (Operation &op : kernel.getBody().front()) {
    if (auto ring = dyn_cast<device::RingOp>(op)) {
      const std::string &name = stem(ring.getResult());
      text.line(fmt::format("for (int i = 0; i < {0}; i++) smem_name(sb + {1}_AT + i * {1}_BYTES, {1}_BYTES, \"{1}\", i);",
                            ring.getResult().getType().getSlots(), name));
    } else if (auto barriers = dyn_cast<device::BarriersOp>(op)) {
      const std::string &name = stem(barriers.getResult());
      const std::int64_t slots = barriers.getResult().getType().getSlots();
      text.line(fmt::format("smem_name(sb + {0}_FULL, {1}, \"{0}_FULL\");", name, 8 * slots));
      text.line(fmt::format("smem_name(sb + {0}_EMPTY, {1}, \"{0}_EMPTY\");", name, 8 * slots));
      eachSlot(slots, [&](const char *step) {
        const std::int64_t each = copyingThreads();
        text.line(fmt::format("mbar_init(sb + {}_FULL{}, {});", name, step, barriers.getArrivals() ? int64_t(*barriers.getArrivals()) : (arrivedAtByLanes(barriers.getResult()) ? each : 1) + (storedByLanes(barriers.getResult()) ? each : 0)));
        text.line(fmt::format("mbar_init(sb + {}_EMPTY{}, {});", name, step, std::uint64_t(barriers.getReleases())));
      });
    } else if (auto mailbox = dyn_cast<device::MailboxOp>(op)) {
      const std::int64_t slots = mailbox.getResult().getType().getSlots();
      text.line(fmt::format("smem_name(sb + {0}_AT, {1}, \"{0}\");", stem(mailbox.getResult()), 4 * slots * mailbox.getResult().getType().getWords()));
      if (mailbox.getAnswers()) {
        const std::uint64_t answers = std::uint64_t(slots) * *mailbox.getAnswers();
        text.line(fmt::format("smem_name(sb + {0}_BACK, {1}, \"{0}_BACK\");", stem(mailbox.getResult()), 4 * answers));
        text.line(fmt::format("for (int i = 0; i < {1}; i++) st_shared_u32(sb + {0}_BACK + 4 * i, 0);", stem(mailbox.getResult()), answers));
      }
    }
  }
  text.line("mbar_init_fence();");
}

} // namespace tw::emit
