// evaluate(): checks the requirements and interprets a program piece by piece, on all cores.
#include "tilewright/dsl/Evaluate.h"
#include "Fail.h"
#include "Interpret.h"
#include "Numbers.h"
#include "Walk.h"
#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace tw {
namespace {

using namespace detail;

void checkRequirements(const Program &program, const Evaluation &inputs, const Lengths &lengths) {
  Machine machine{inputs, lengths};
  Frame frame(machine, {});
  for (const Requirement &requirement : program.requirements) {
    const Value &holds = frame.value(requirement.condition);
    if (holds.fault(0))
      throw ProgramError(machine.faults.diagnostic(holds.fault(0)));
    if (holds.data[0] != 0)
      continue;
    std::string values;
    Walk walk;
    walk.node = [&](const Tile &tile) {
      const Node &node = tile.node();
      std::string what = node.op == Op::extent      ? "extent(" + node.consumed[0].name() + ")"
                         : node.op == Op::dimension ? node.tensor->name + ".dimension(" + std::to_string(node.slot) + ")"
                         : node.op == Op::scalar    ? node.label
                                                    : "";
      if (!what.empty() && values.find(what + " = ") == std::string::npos)
        values += (values.empty() ? "" : ", ") + what + " = " + shortest(frame.value(tile).data[0]);
    };
    walk.over(requirement.condition);
    fail(requirement.where, requirement.message, values.empty() ? std::vector<Note>{} : std::vector<Note>{{requirement.where, "here " + values}});
  }
}

class Evaluator {
public:
  Evaluator(const Program &program, const Evaluation &inputs, const Lengths &lengths)
      : program(program), inputs(inputs), lengths(lengths), walked(walkedAxes(program, lengths)) {
    for (const Store &store : program.stores) {
      Array array;
      std::size_t points = 1;
      for (const Axis &axis : store.index) {
        array.shape.push_back(lengths.at(axis.order()));
        points *= std::size_t(array.shape.back());
      }
      array.data.resize(points);
      outputs.push_back(std::move(array));
    }
  }

  std::map<std::string, Array> run() {
    std::int64_t pieces = 1;
    for (const Walked &w : walked)
      pieces *= piecesOf(w);
    std::atomic<std::int64_t> next{0};
    std::vector<std::exception_ptr> errors(std::size_t(pieces), nullptr);
    auto work = [&] {
      Machine machine{inputs, lengths};
      for (std::int64_t piece; (piece = next++) < pieces;)
        try {
          runPiece(machine, piece);
        } catch (...) {
          errors[std::size_t(piece)] = std::current_exception();
          next = pieces;
        }
    };
    const std::int64_t threads = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, std::max<std::int64_t>(pieces, 1));
    std::vector<std::thread> others;
    for (std::int64_t i = 1; i < threads; ++i)
      others.emplace_back(work);
    work();
    for (std::thread &thread : others)
      thread.join();
    for (const std::exception_ptr &error : errors)
      if (error)
        std::rethrow_exception(error);
    std::map<std::string, Array> byName;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      byName[program.stores[i].tensor.name()] = std::move(outputs[i]);
    return byName;
  }

private:
  std::int64_t piecesOf(const Walked &w) const { return (lengths.at(w.axis.order()) + w.width - 1) / w.width; }

  void runPiece(Machine &machine, std::int64_t piece) {
    Ranges ranges;
    for (std::size_t i = walked.size(); i-- > 0;) {
      const Walked &w = walked[i];
      const std::int64_t first = piece % piecesOf(w) * w.width;
      ranges[w.axis.order()] = {first, std::min(first + w.width, lengths.at(w.axis.order()))};
      piece /= piecesOf(w);
    }
    Frame frame(machine, ranges);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      write(machine, frame, program.stores[i], outputs[i]);
  }

  void write(Machine &machine, Frame &frame, const Store &store, Array &array) {
    const Value value = spread(frame.value(store.value), store.index, frame.lengths(store.index));
    for (std::uint32_t fault : value.faults)
      if (fault)
        throw ProgramError(machine.faults.diagnostic(fault));
    const std::size_t rank = store.index.size();
    std::vector<std::int64_t> point(rank, 0), first, strides(rank, 1);
    for (const Axis &axis : store.index)
      first.push_back(frame.range(axis).first);
    for (std::size_t d = rank; d-- > 1;)
      strides[d - 1] = strides[d] * array.shape[d];
    for (double x : value.data) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < rank; ++d)
        at += (first[d] + point[d]) * strides[d];
      array.data[std::size_t(at)] = x;
      for (std::size_t d = rank; d-- > 0;) {
        if (++point[d] < value.lengths[d])
          break;
        point[d] = 0;
      }
    }
  }

  const Program &program;
  const Evaluation &inputs;
  const Lengths &lengths;
  std::vector<Walked> walked;
  std::vector<Array> outputs;
};

} // namespace

std::map<std::string, Array> evaluate(const Program &program, const Evaluation &inputs) {
  verify(program);
  const Lengths lengths = bindLengths(program, inputs);
  checkRequirements(program, inputs, lengths);
  return Evaluator(program, inputs, lengths).run();
}

} // namespace tw
