// build(): in memory, else from the cache, else compiled; one build a key, however many threads ask.
#include "BuildKey.h"
#include "BuildLog.h"
#include "CompileRequest.h"
#include "Dump.h"
#include "Say.h"
#include "Second.h"
#include "SharedStore.h"
#include "State.h"
#include "Strided.h"
#include "tilewright/pipeline/Compile.h"
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace tw {
namespace {

using Built = std::shared_ptr<const Kernel::State>;

struct Counters {
  std::atomic<std::uint64_t> compiled = 0, loaded = 0, found = 0;
};
Counters counters;

/// The kernels of this process. A build under way is in `builds` too, so that whoever else asks waits for it.
class Kernels {
public:
  Built byQuickKey(const std::string &quick) {
    const std::shared_lock lock(mutex);
    auto known = found.find(quick);
    return known == found.end() ? nullptr : known->second;
  }

  void remember(std::string quick, const Built &built) {
    const std::lock_guard lock(mutex);
    if (auto build = builds.find(*cache::Digest::fromHex(built->key)); build != builds.end())   // unless they were forgotten meanwhile
      found.emplace(std::move(quick), built);
  }

  /// The kernel of that key. `make` runs in the first thread that asks, outside of any lock; where it throws, all who wait
  /// get the exception and the next who asks tries again.
  template <class Make> Built get(const cache::Digest &key, Make make) {
    std::promise<Built> promise;
    std::shared_future<Built> future;
    {
      const std::lock_guard lock(mutex);
      auto [entry, isMine] = builds.try_emplace(key);
      if (!isMine)
        future = entry->second;
      else
        entry->second = promise.get_future().share();
    }
    if (future.valid()) {
      Built built = future.get();
      ++counters.found;
      return built;
    }
    try {
      Built built = make();
      promise.set_value(built);
      return built;
    } catch (...) {
      {
        const std::lock_guard lock(mutex);
        builds.erase(key);
      }
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  void forget() {
    const std::lock_guard lock(mutex);
    found.clear();
    std::erase_if(builds, [](const auto &entry) { return entry.second.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  }

private:
  std::shared_mutex mutex;
  std::unordered_map<std::string, Built> found;                                // by quick key
  std::unordered_map<cache::Digest, std::shared_future<Built>> builds;         // by key
};

Kernels &kernels() {
  static Kernels *all = new Kernels;   // never destroyed: threads may build while the process ends
  return *all;
}

/// The kernel out of the cache, or nothing. What cannot be used is said and built anew.
std::shared_ptr<Kernel::State> fromCache(cache::Store &store, const Program &program, const Request &request) {
  auto bytes = store.get(request.key);
  if (!bytes)
    return nullptr;
  try {
    Artifact artifact = parseArtifact(*bytes);
    // Lines are those of this program.
    const std::vector<IndexFacts> reads = readsOf(program, parseSchedule(artifact.schedule));
    for (std::size_t i = 0; i < std::min(reads.size(), artifact.indices.size()); ++i)
      artifact.indices[i].where = reads[i].where;
    return Kernel::State::load(std::move(artifact), request.inner, request.key.hex());
  } catch (const std::exception &error) {
    say(fmt::format("a kernel in the cache cannot be used and is built anew: {}", error.what()));
    return nullptr;
  }
}

/// Lets launches whose tensors the kernel cannot copy have another one.
std::shared_ptr<Kernel::State> withStrided(std::shared_ptr<Kernel::State> state, const Program &program, const BuildOptions &options) {
  if (state->device)
    state->cureWithoutStrided = cureWithoutStrided(program);
  if (state->device && !options.strided && state->cureWithoutStrided.empty())
    state->buildStrided = [program, options] { return sharedStateOf(build(program, stridedOptions(options))); };
  return state;
}

std::shared_ptr<Kernel::State> makeAlone(const Program &program, const BuildOptions &options, const Request &request) {
  std::shared_ptr<cache::Store> store = options.useCache ? sharedStore() : nullptr;
  const auto start = std::chrono::steady_clock::now();
  // Stages are made by compiling only.
  if (store && !dumps())
    if (auto built = fromCache(*store, program, request)) {
      ++counters.loaded;
      logLoaded(built->artifact, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      return withStrided(std::move(built), program, options);
    }
  Artifact artifact = compileRequest(program, request);
  const std::string bytes = store ? serialise(artifact) : "";
  const cache::Facts facts{{"program", artifact.program}, {"target", artifact.target}, {"schedule", artifact.schedule}};
  auto built = withStrided(Kernel::State::load(std::move(artifact), request.inner, request.key.hex()), program, options);
  if (store)
    store->put(request.key, bytes, facts);
  ++counters.compiled;
  return built;
}

/// Says in the cache that there is no second kernel, so that the next process need not find out: the first one stands in its place.
void keepAlone(const BuildOptions &options, const Request &second, const Artifact &first) {
  if (auto store = options.useCache ? sharedStore() : nullptr)
    store->put(second.key, serialise(first), {{"program", first.program}, {"target", first.target}, {"schedule", first.schedule}});
}

/// The kernel and its second one, at the same time.
Built make(const Program &program, const BuildOptions &options, const Request &request) {
  if (!request.second)
    return makeAlone(program, options, request);
  const Request own = secondOf(program, options, request);
  auto second = std::async(std::launch::async, [&] { return kernels().get(own.key, [&] { return makeAlone(program, options, own); }); });
  const std::shared_ptr<Kernel::State> built = makeAlone(program, options, request);
  try {
    if (Built other = second.get(); other->artifact.schedule != built->artifact.schedule)
      built->second = std::make_shared<const Kernel::State::Second>(program, targetOf(request), built->artifact, std::move(other));
  } catch (const SlowCodeError &error) {
    logAlone(error.what());
    keepAlone(options, own, built->artifact);
  }
  return built;
}

} // namespace

Kernel build(const Program &program, const BuildOptions &options) {
  if (options.checked) {
    BuildOptions plain = options;
    plain.checked = false;
    const Kernel kernel = build(program, plain);
    const Kernel::State &known = stateOf(kernel);
    auto state = Kernel::State::load(known.artifact, known.inner, known.key);   // one of its own: others of this key are not checked
    state->readChecks = std::make_shared<const ReadChecks>(program);
    return Kernel(withStrided(std::move(state), program, plain));
  }
  std::string quick = quickKey(program, options);
  if (Built built = kernels().byQuickKey(quick)) {
    ++counters.found;
    return Kernel(built);
  }
  const Request request = complete(program, options);
  Built built = kernels().get(request.key, [&] { return make(program, options, request); });
  kernels().remember(std::move(quick), built);
  return Kernel(built);
}

BuildCounts buildCounts() { return {counters.compiled, counters.loaded, counters.found}; }

void forgetKernels() { kernels().forget(); }

} // namespace tw
