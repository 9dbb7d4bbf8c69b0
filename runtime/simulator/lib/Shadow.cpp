// The shadow of shared memory: for each word its last write and the reads since, checked against the clocks at every access.
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include <algorithm>

namespace tw::simulated {
namespace {

bool happenedBefore(const Access &access, int agent, int epoch) {
  if (agent == access.agent || agent == access.thread->number || access.thread->happened[agent] >= epoch)
    return true;
  auto &lanes = access.thread->warp->lanes;
  return access.byWarp &&
         std::any_of(lanes.begin(), lanes.end(), [&](const Thread *lane) { return lane->number == agent || lane->happened[agent] >= epoch; });
}

bool publishedBefore(const Access &access, int thread, int epoch) {
  if (access.thread->published[thread] >= epoch)
    return true;
  auto &lanes = access.thread->warp->lanes;
  return access.byWarp && std::any_of(lanes.begin(), lanes.end(), [&](const Thread *lane) { return lane->published[thread] >= epoch; });
}

std::string atWord(const Block *block, std::uint32_t word) { return nameOf(block, word * 4 + machine->options.sharedBase); }

/// Checks a read of a word, and returns the index of its reads with this one.
std::uint32_t checkRead(Block *block, std::uint32_t word, const Access &access) {
  const Write write = machine->writes[block->writeOf[word]];
  auto what = [&] { return phrase("{} at line {} ({}) reads ", access.what, access.line, nameOf(access.thread)); };
  switch (write.kind) {
  case Write::Kind::none:
    if (machine->options.checkUninitialized)
      report("UNINIT", access.line, 0, what() + atWord(block, word) + ", which nobody has written");
    break;
  case Write::Kind::mbarrier:
    report("MBAR-CLOBBER", access.line, write.line, what() + "an mbarrier at " + atWord(block, word));
    break;
  default:
    if (!happenedBefore(access, write.agent, write.epoch))
      report("RACE-RAW", access.line, write.line,
             what() + atWord(block, word) +
                 phrase(" written by the {} of line {} [{}] with no wait or barrier between", write.kind == Write::Kind::copy ? "copy" : "store",
                        write.line, nameOfAgent(write.agent)));
    else if (access.asynchronous && write.kind == Write::Kind::generic && !publishedBefore(access, write.agent, write.epoch))
      report("PROXY", access.line, write.line,
             what() + atWord(block, word) +
                 phrase(" through the asynchronous proxy; the store of line {} [{}] has no fence.proxy.async after it", write.line,
                        nameOfAgent(write.agent)));
  }
  std::vector<Read> reads;
  for (auto &read : machine->reads[block->readsOf[word]])
    if (read.agent != access.agent && !(read.agent < machine->threadCount && happenedBefore(access, read.agent, read.epoch)))
      reads.push_back(read);
  reads.push_back({access.agent, access.epoch, access.line});
  machine->reads.push_back(std::move(reads));
  return std::uint32_t(machine->reads.size() - 1);
}

/// `partial`: of less than a word, so other threads may own the rest of it.
void checkWrite(Block *block, std::uint32_t word, const Access &access, bool partial) {
  const Write write = machine->writes[block->writeOf[word]];
  auto what = [&] { return phrase("{} at line {} ({}) overwrites ", access.what, access.line, nameOf(access.thread)); };
  if (write.kind == Write::Kind::mbarrier) {
    report("MBAR-CLOBBER", access.line, write.line, what() + phrase("the mbarrier that line {} initialised at ", write.line) + atWord(block, word));
    return;
  }
  const bool written = write.kind != Write::Kind::none;
  if (written && !partial && !happenedBefore(access, write.agent, write.epoch))
    report("RACE-WAW", access.line, write.line,
           what() + atWord(block, word) + phrase(" written by line {} [{}] with no wait or barrier between", write.line, nameOfAgent(write.agent)));
  else if (access.asynchronous && write.kind == Write::Kind::generic && !publishedBefore(access, write.agent, write.epoch))
    report("PROXY", access.line, write.line,
           what() + atWord(block, word) +
               phrase(" through the asynchronous proxy; the store of line {} [{}] has no fence.proxy.async after it", write.line,
                      nameOfAgent(write.agent)));
  for (auto &read : machine->reads[block->readsOf[word]])
    if (!(partial && read.agent < machine->threadCount) && !happenedBefore(access, read.agent, read.epoch))
      report("RACE-WAR", access.line, read.line,
             what() + atWord(block, word) +
                 phrase(" while the read of line {} [{}] may be in flight: nothing orders its end before this", read.line, nameOfAgent(read.agent)));
}

}   // namespace

void noteRead(Block *block, std::uint32_t offset, std::uint32_t bytes, const Access &access, ReadMemo &memo) {
  if (!machine->options.checkOrder)
    return;
  for (std::uint32_t word = offset / 4, end = (offset + bytes + 3) / 4; word < end; ++word) {
    if (block->writeOf[word] != memo.write || block->readsOf[word] != memo.reads) {
      memo.write = block->writeOf[word];
      memo.reads = block->readsOf[word];
      memo.then = checkRead(block, word, access);
    }
    block->readsOf[word] = memo.then;
  }
}

void noteRead(Block *block, std::uint32_t offset, std::uint32_t bytes, const Access &access) {
  ReadMemo memo;
  noteRead(block, offset, bytes, access, memo);
}

void noteWrite(Block *block, std::uint32_t offset, std::uint32_t bytes, const Access &access, Write::Kind kind) {
  if (!machine->options.checkOrder)
    return;
  std::uint32_t checkedWrite = ~0u, checkedReads = ~0u;
  machine->writes.push_back({kind, access.agent, access.epoch, access.line});
  const auto index = std::uint32_t(machine->writes.size() - 1);
  for (std::uint32_t word = offset / 4, end = (offset + bytes + 3) / 4; word < end; ++word) {
    if (block->writeOf[word] != checkedWrite || block->readsOf[word] != checkedReads) {
      checkedWrite = block->writeOf[word];
      checkedReads = block->readsOf[word];
      checkWrite(block, word, access, bytes < 4);
    }
    if (machine->writes[block->writeOf[word]].kind == Write::Kind::mbarrier)
      continue;
    block->writeOf[word] = index;
    block->readsOf[word] = 0;
  }
}

std::uint32_t sharedOffset(const Block *block, Address address, std::uint32_t bytes, std::uint32_t alignment, const char *what, int line) {
  const std::uint32_t base = machine->options.sharedBase, offset = address - base;
  if (address & (alignment - 1))
    stop("ALIGN", line, phrase("{} at line {}: {} is not aligned to {} bytes ({})", what, line, nameOf(block, address), alignment, nameOf(running)));
  if (address < base || offset > machine->sharedBytes || bytes > machine->sharedBytes - offset)
    stop("SHARED-BOUNDS", line,
         phrase("{} at line {}: {} bytes at {} are outside the {} bytes of dynamic shared memory at {} ({})", what, line, bytes,
                nameOf(block, address), machine->sharedBytes, hex(base), nameOf(running)));
  return offset;
}

}   // namespace tw::simulated
