// The statements of a kernel: one function for each operation, gathered by what they concern.
#pragma once
#include "Declarations.h"
#include "DotFunctions.h"
#include "Values.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Device.h"

namespace tw::emit {

class Statements {
public:
  Statements(const Declarations &declared, DotFunctions &dots, Text &text, Names &names)
      : declared(declared), dots(dots), text(text), names(names), values(text, names) {}

  /// What stands in the kernel itself beside declarations and roles: numbers that both roles use.
  llvm::LogicalResult shared(device::KernelOp kernel);
  llvm::LogicalResult producer(device::ProducerOp role);
  llvm::LogicalResult lister(device::ListerOp role);
  llvm::LogicalResult consumers(device::ConsumersOp role);

private:
  llvm::LogicalResult block(mlir::Block &block);
  llvm::LogicalResult statement(mlir::Operation *op);

  // ---- ControlFlow.cpp
  llvm::LogicalResult print(mlir::scf::ForOp op);
  llvm::LogicalResult print(mlir::scf::WhileOp op);
  llvm::LogicalResult print(mlir::scf::IfOp op);
  /// `variables` become `results` of an iteration, all at once.
  void assign(llvm::ArrayRef<std::pair<mlir::Value, std::string>> variables, mlir::ValueRange results);

  // ---- Rings.cpp
  llvm::LogicalResult print(device::CursorOp op);
  llvm::LogicalResult print(device::AcquireOp op);
  llvm::LogicalResult print(device::CopyOp op);
  llvm::LogicalResult print(device::AdvanceOp op);
  llvm::LogicalResult print(device::AwaitOp op);
  llvm::LogicalResult print(device::LookAheadOp op);
  llvm::LogicalResult print(device::ReleaseOp op);
  llvm::LogicalResult print(device::ReserveOp op);
  llvm::LogicalResult print(device::PublishOp op);
  llvm::LogicalResult print(device::DrawOp op);
  llvm::LogicalResult print(device::RetireOp op);
  llvm::LogicalResult print(device::PostOp op);
  llvm::LogicalResult print(device::ListTilesOp op);
  llvm::LogicalResult print(device::KeptAtOp op);
  llvm::LogicalResult print(device::RowExtremesOp op);
  llvm::LogicalResult print(device::AmongOp op);
  /// Declares what lanes keep of the extremes that the role's lists ask for.
  void keepExtremes(mlir::Operation *role);
  llvm::DenseMap<mlir::Operation *, std::string> knownExtremes;   // of each
  std::string turn;                                               // of the list that is printed
  llvm::LogicalResult print(device::ReadPostOp op);
  std::string word(mlir::Value mailbox, mlir::Value cursor, int64_t n);
  std::string answers(mlir::Value mailbox, mlir::Value cursor);
  llvm::LogicalResult print(device::SendBackOp op);
  llvm::LogicalResult print(device::SentBackOp op);
  llvm::LogicalResult print(device::SpoiledOp op);
  llvm::LogicalResult print(device::TurnOp op);
  /// `sb + K_FULL + 8 * K_slot`: of the cursor's slot.
  std::string barrier(mlir::Value cursor, const char *which) const;
  /// `sb + K_AT + K_slot * K_BYTES`; without a cursor, of the warpgroup's own slot.
  std::string slotAddress(mlir::Value ring, mlir::Value cursor) const;

  // ---- Elements.cpp
  llvm::LogicalResult print(device::RegistersOp op);
  llvm::LogicalResult print(device::FillOp op);
  llvm::LogicalResult print(device::EachRowOp op);
  llvm::LogicalResult print(device::EachElementOp op);
  llvm::LogicalResult print(device::RowOp op);
  llvm::LogicalResult print(device::ColumnOp op);
  llvm::LogicalResult print(device::GetOp op);
  llvm::LogicalResult print(device::SetOp op);
  llvm::LogicalResult print(device::CombineOp op);
  llvm::LogicalResult print(device::JoinOp op);
  llvm::LogicalResult print(device::LoadColumnOp op);
  llvm::LogicalResult print(device::ReduceTileOp op);
  llvm::LogicalResult print(device::LoadOp op);
  llvm::LogicalResult print(device::AnyOp op);

  // ---- Tables.cpp
  llvm::LogicalResult print(device::TabulateOp op);
  llvm::LogicalResult print(device::LookUpOp op);
  /// What the loop's elements read of tables is held in registers of its own.
  void declareDistances(device::EachElementOp loop);
  /// The address of the warp's slot.
  std::string tableOfWarp(mlir::Value table) const;
  /// A thread's elements of a fragment so many columns wide; of an operand, two of them are a register.
  int64_t elementsOf(int64_t width) const { return width * rowsOfThread / 4; }
  /// `s[i]` or `top[r]`: the present element.
  std::string present(mlir::Value registers) const;

  // ---- Dots.cpp
  llvm::LogicalResult print(device::MultiplyOp op);
  llvm::LogicalResult print(device::FenceOp op);
  llvm::LogicalResult print(device::CommitOp op);
  llvm::LogicalResult print(device::WaitOp op);
  llvm::LogicalResult print(device::PackOp op);
  llvm::LogicalResult print(device::RepeatOp op);
  llvm::LogicalResult print(device::ScanOp op);
  llvm::LogicalResult print(device::IsolateOp op);
  /// Waits for the slot where the cursor does, and gives a call that looks for what is not finite in it.
  std::string scanned(mlir::Value ring, mlir::Value cursor);
  /// The constants from which the descriptors of the operands in shared memory are stepped.
  void descriptors(device::ConsumersOp role);
  bool isAfresh = false;      // descriptors are computed where they are used
  std::string pins(mlir::ValueRange registers) const;
  /// The row of a left tile whose address this lane gives to ldmatrix, in the warp's first 16.
  std::string leftRow() const;

  // ---- Stores.cpp
  llvm::LogicalResult print(device::StoreTileOp op);
  llvm::LogicalResult print(device::LoadTileOp op);
  llvm::LogicalResult print(device::StoreRowsOp op);
  llvm::LogicalResult print(device::AddTileOp op);
  llvm::LogicalResult print(device::AddApartOp op);

  struct Cursor {
    std::string slot, phase;   // variables; no slot where there is one only, no phase where it only trails
  };
  const Declarations &declared;
  DotFunctions &dots;
  Text &text;
  Names &names;
  Values values;
  llvm::DenseMap<mlir::Value, Cursor> cursors;
  llvm::DenseMap<mlir::Value, std::string> registers;            // what they are called
  llvm::StringMap<std::string> descriptorNames;                  // of operand and tile
  llvm::DenseMap<mlir::Value, std::string> outboxTurns;          // of rings from which a warp sends by turns: which one is next
  llvm::DenseMap<mlir::Value, std::string> chains;               // of the rows that the present loop combines into
  llvm::DenseSet<mlir::Value> readByLanes;                       // barriers of slots that lanes read themselves
  int64_t warpgroups = 1;
  int64_t rowsOfWarp = 16, rowsOfThread = 2;
  std::string copier = "lane", first = "lane == 0";   // off Hopper, of the threads that copy: a thread's number, and what holds in one of them
  bool hopper = true;
  bool oneThread = true;                                         // the producer is
};

} // namespace tw::emit
