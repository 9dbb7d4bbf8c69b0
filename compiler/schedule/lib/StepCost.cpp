// The parts of a multiprocessor as rates a cycle, and how a warpgroup's dots and elementwise work share the time.
#include "StepCost.h"
#include <algorithm>
#include <cmath>

namespace tw {
namespace {

constexpr double warpsOfWarpgroup = 4;

/// Two terms of which the longer one hides most of the other.
double together(std::initializer_list<double> terms, double sharpness) {
  const double most = std::max(terms);
  if (most <= 0)
    return 0;
  double sum = 0;
  for (double term : terms)
    sum += std::pow(term / most, sharpness);
  return most * std::pow(sum, 1 / sharpness);
}

} // namespace

const Coefficients &coefficientsOf(const Target &target) {
  static constexpr Coefficients withCopyEngine{4.25, 270, 260, 875, 0, 265, 1.95, 5.8e-6};
  static constexpr Coefficients without{7.75, 370, 85, 725, 490, 1450, 0.54, 5.8e-6};
  return target.isHopper() ? withCopyEngine : without;
}

StepCost stepCost(const Work &work, const Schedule &schedule, const Target &target, double copied) {
  const Coefficients &k = coefficientsOf(target);
  const double perCycle = 1 / (target.clockHz * target.sms);   // a rate of the GPU to one of a multiprocessor's cycle
  const double groups = schedule.warpgroups;
  StepCost cost;
  double flop = 0, sharedBytes = copied;
  for (const DotWork &dot : work.dots) {
    flop += 2 * points(dot.axes, schedule);
    // The columns' operand is read once by each warpgroup, or, where warps multiply by themselves, by each warp.
    const double readers = target.isHopper() ? groups : warpsOfWarpgroup * groups;
    sharedBytes += points(dot.columns, schedule) * dot.columnBytes * readers + points(dot.rows, schedule) * dot.rowBytes;
  }
  cost.tensor = flop / (target.tensorFlopsF16 * target.tensorShare * perCycle);
  cost.exponentials = total(work.exponentials, schedule) / (target.exp2PerSecond * perCycle);
  double operations = total(work.operations, schedule);
  if (!schedule.stabilised)
    operations += total(work.restabilising, schedule);
  if (!target.isHopper())
    operations += copied / 16 * 4 + (sharedBytes - copied) / 16 + flop / 128;   // addresses and copies of 16 bytes, operands to registers, dots of 16 × 8 × 16
  cost.operations = operations * k.operationShare / (target.f32PerSecond * perCycle) + cost.exponentials * target.exp2PerSecond / target.f32PerSecond;
  cost.masking = total(work.masking, schedule) * k.operationShare / (target.f32PerSecond * perCycle);
  cost.shared = sharedBytes / (target.sharedBytesPerSecond * perCycle);
  cost.l2 = copied / (target.l2BytesPerSecond * perCycle);

  const double dots = cost.tensor / groups, elements = std::max(cost.exponentials, cost.operations) / groups;
  const double longer = std::max(dots, elements), shorter = std::min(dots, elements);
  cost.chain = (schedule.overlap ? longer : longer + shorter) + k.stepCycles;
  cost.chain += schedule.stages < 2 ? k.refillCycles + k.fillCycles + cost.l2 : k.refillCycles / (schedule.stages - 1);
  cost.fill = k.itemCycles + (schedule.blockBuffers < 2 ? k.fillCycles : 0) + (schedule.overlap ? shorter : 0);
  return cost;
}

double itemCycles(const StepCost &cost, const Schedule &schedule, const Target &target, double steps, double partial) {
  const Coefficients &k = coefficientsOf(target);
  const double blocks = schedule.blocksPerSM, masks = partial * (cost.masking * blocks + k.partialCycles);
  if (schedule.blocksPerSM < 2)
    return cost.fill + steps * together({cost.tensor, cost.exponentials, cost.operations, cost.shared, cost.l2, cost.chain}, k.sharpness) + masks;
  const double shared = steps * blocks * together({cost.tensor, cost.exponentials, cost.operations, cost.shared, cost.l2}, k.sharpness);
  return together({cost.fill + steps * cost.chain, shared}, k.sharpness) + masks;
}

} // namespace tw
