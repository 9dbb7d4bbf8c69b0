// The frame of the two roles, and which function prints an operation.
#include "Statements.h"
#include "Arithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {

LogicalResult Statements::shared(device::KernelOp kernel) {
  if (device::ConsumersOp role = device::consumersOf(kernel))
    warpgroups = int64_t(role.getWarpgroups()), rowsOfWarp = int64_t(role.getRows()), rowsOfThread = rowsOfWarp / 8;
  hopper = device::isHopper(kernel);
  if (!device::producerOf(kernel))
    copier = "threadIdx.x", first = "threadIdx.x == 0";
  oneThread = !device::producesByWarp(kernel);
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](device::LoadColumnOp load) {
          if (load.getCursor())
            readByLanes.insert(device::barriersOf(load.getCursor()).getResult());
        })
        .Case([&](device::ReduceTileOp reduce) { readByLanes.insert(device::barriersOf(reduce.getCursor()).getResult()); })
        .Case([&](device::ScanOp scan) { readByLanes.insert(device::barriersOf(scan.getCursor()).getResult()); })
        .Case([&](device::IsolateOp isolate) { readByLanes.insert(device::barriersOf(isolate.getCursor()).getResult()); })
        .Case([&](device::AddApartOp sum) {
          readByLanes.insert(device::barriersOf(sum.getLeftCursor()).getResult());
          readByLanes.insert(device::barriersOf(sum.getRightCursor()).getResult());
        })
        .Case([&](device::RepeatOp repeat) {
          readByLanes.insert(device::barriersOf(repeat.getLeftCursor()).getResult());
          readByLanes.insert(device::barriersOf(repeat.getRightCursor()).getResult());
        });
  });
  for (Operation &op : kernel.getBody().front())
    if (!isa<device::ProducerOp, device::ListerOp, device::ConsumersOp>(op) && failed(statement(&op)))
      return failure();
  return success();
}

LogicalResult Statements::producer(device::ProducerOp role) {
  Scope scope(names);
  if (role.getRegisters())
    text.line(fmt::format("reg_dec<{}>();", std::uint64_t(role.getRegisters())));
  if (!hopper) {
    keepExtremes(role);
    return block(role.getBody().front());
  }
  text.open(oneThread ? "if (warp == 0 && lane == 0) {" : "if (warp == 0) {");
  for (const std::string &map : declared.maps())
    text.line("tma_prefetch_desc(" + map + ");");
  keepExtremes(role);
  if (failed(block(role.getBody().front())))
    return failure();
  text.close();
  return success();
}

LogicalResult Statements::lister(device::ListerOp role) {
  Scope scope(names);
  text.open("if (warp == 1) {");
  text.line("// ---- lister");
  keepExtremes(role);
  if (failed(block(role.getBody().front())))
    return failure();
  text.close();
  return success();
}

LogicalResult Statements::consumers(device::ConsumersOp role) {
  Scope scope(names);
  if (role.getRegisters())
    text.line(fmt::format("reg_inc<{}>();", std::uint64_t(role.getRegisters())));
  const bool isBehindProducer = hopper && device::producerOf(role->getParentOfType<device::KernelOp>());
  text.line(fmt::format("const int cw = {};   // this warpgroup among the consumers", isBehindProducer ? "wg - 1" : "wg"));
  text.line(fmt::format("const int row = cw * {} + (warp & 3) * {} + (lane >> 2), col = 2 * (lane & 3);   // of the first element in a fragment", 4 * rowsOfWarp, rowsOfWarp));
  if (hopper)
    descriptors(role);
  role.walk([&](device::AddTileOp op) {
    std::string &turn = outboxTurns[op.getOutbox()];
    if (!turn.empty() || op.getOutbox().getType().getSlots() == 4 * warpgroups)
      return;
    turn = names.unique(declared.stem(op.getOutbox()) + "_turn");
    text.line(fmt::format("int {} = 0;", turn));
  });
  if (failed(block(role.getBody().front())))
    return failure();
  if (role.walk([](device::AddTileOp) { return WalkResult::interrupt(); }).wasInterrupted())
    text.line("if (lane == 0) tma_store_wait_read();   // shared memory must stay until the last sums have left it");
  return success();
}

LogicalResult Statements::block(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(statement(&op)))
      return failure();
  return success();
}

LogicalResult Statements::statement(Operation *op) {
  using Result = LogicalResult;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<scf::ForOp, scf::WhileOp, scf::IfOp, device::CursorOp, device::AcquireOp, device::CopyOp, device::AdvanceOp, device::AwaitOp,
            device::LookAheadOp, device::ReserveOp, device::PublishOp, device::AddTileOp, device::AddApartOp, device::LoadTileOp, device::ReleaseOp, device::DrawOp,
            device::RetireOp, device::PostOp, device::ListTilesOp, device::KeptAtOp, device::RowExtremesOp, device::ReadPostOp,
            device::SendBackOp, device::SentBackOp, device::SpoiledOp, device::TurnOp, device::RegistersOp, device::FillOp, device::EachRowOp,
            device::EachElementOp, device::RowOp, device::ColumnOp, device::GetOp, device::SetOp, device::CombineOp, device::JoinOp,
            device::LoadColumnOp, device::TabulateOp, device::LookUpOp, device::ReduceTileOp, device::LoadOp, device::AmongOp, device::AnyOp, device::MultiplyOp, device::FenceOp, device::CommitOp,
            device::WaitOp, device::PackOp, device::RepeatOp, device::ScanOp, device::IsolateOp, device::StoreTileOp, device::StoreRowsOp>(
          [&](auto known) { return print(known); })
      .Case<device::TensorMapOp, device::RingOp, device::BarriersOp, device::MailboxOp>([](auto) { return success(); })
      .Case<device::TensorOp, device::StrideOp, device::ExtentOp, device::DimensionOp, device::ScalarOp, device::CountOp, device::CountersOp,
            device::ListsOp>([&](auto parameter) {
        values.bind(parameter.getResult(), declared.parameter(parameter.getResult()));
        return success();
      })
      .Case<device::BlockIndexOp>([&](auto index) {
        values.bind(index.getResult(), {"(int)blockIdx.x", Precedence::unary});
        return success();
      })
      .Case<device::GridSizeOp>([&](auto size) {
        values.bind(size.getResult(), {"(int)gridDim.x", Precedence::unary});
        return success();
      })
      .Case<device::RowOffsetOp>([&](auto offset) {
        values.bind(offset.getResult(), {"row"});
        return success();
      })
      .Case<device::ColumnOffsetOp>([&](auto offset) {
        values.bind(offset.getResult(), {"col"});
        return success();
      })
      .Default([&](Operation *) -> Result {
        std::optional<Computed> computed = arithmetic(op, values, op->getParentOfType<device::EachElementOp>() || op->getParentOfType<device::TabulateOp>());
        if (!computed)
          return op->emitError() << "has no text in CUDA C++";
        if (isa<arith::ConstantOp>(op))
          values.bind(op->getResult(0), computed->expression);
        else
          values.define(op->getResult(0), computed->expression, computed->stem);
        return success();
      });
}

} // namespace tw::emit
