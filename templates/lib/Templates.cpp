// Finds template texts and puts them together in order.
#include "Embedded.h"
#include <stdexcept>

namespace tw {
namespace {

std::string joined(const std::vector<std::string_view> &files) {
  std::string text;
  for (auto file : files)
    text += templateText(file);
  return text;
}

}   // namespace

std::string_view templateText(std::string_view file) {
  for (auto &embedded : embeddedTexts())
    if (embedded.file == file)
      return embedded.text;
  std::string known;
  for (auto &embedded : embeddedTexts())
    known += (known.empty() ? "" : ", ") + std::string(embedded.file);
  throw std::out_of_range("there is no template '" + std::string(file) + "'; there are " + known);
}

const std::vector<std::string_view> &templateFiles(Instructions instructions) {
  static const std::vector<std::string_view> sm80{"common/types.cuh",
                                                  "since_sm80/keywords.cuh",
                                                  "since_sm80/arithmetic.cuh",
                                                  "since_sm80/global_memory.cuh",
                                                  "since_sm80/shared_memory.cuh",
                                                  "sm80/async_proxy.cuh",
                                                  "since_sm80/named_barriers.cuh",
                                                  "sm80/mbarrier.cuh",
                                                  "common/box_copies.cuh",
                                                  "common/integers.cuh",
                                                  "common/extremes.cuh", "common/lists.cuh",
                                                  "since_sm80/warp_matrices.cuh",
                                                  "common/fragments.cuh",
                                                  "common/finite.cuh",
                                                  "common/tile_reductions.cuh"};
  static const std::vector<std::string_view> sm90{"common/types.cuh",
                                                  "since_sm80/keywords.cuh",
                                                  "since_sm80/arithmetic.cuh",
                                                  "sm90/registers.cuh",
                                                  "since_sm80/global_memory.cuh",
                                                  "since_sm80/shared_memory.cuh",
                                                  "sm90/async_proxy.cuh",
                                                  "since_sm80/named_barriers.cuh",
                                                  "sm90/mbarrier.cuh",
                                                  "sm90/bulk_loads.cuh",
                                                  "sm90/bulk_stores.cuh",
                                                  "common/integers.cuh",
                                                  "common/extremes.cuh", "common/lists.cuh",
                                                  "common/descriptors.cuh",
                                                  "sm90/wgmma.cuh",
                                                  "since_sm80/warp_matrices.cuh",
                                                  "sm90/matrix_stores.cuh",
                                                  "common/fragments.cuh",
                                                  "common/finite.cuh",
                                                  "common/tile_reductions.cuh"};
  return instructions == Instructions::sm80 ? sm80 : sm90;
}

const std::string &deviceTemplates(Instructions instructions) {
  static const std::string sm80 = joined(templateFiles(Instructions::sm80)), sm90 = joined(templateFiles(Instructions::sm90));
  return instructions == Instructions::sm80 ? sm80 : sm90;
}

const std::string &hostTemplates() {
  static const std::string text =
      joined({"include/tilewright/templates/HostInterface.h", "common/types.cuh", "host/keywords.cuh", "host/arithmetic.cuh", "host/threads.cuh",
              "host/global_memory.cuh", "host/shared_memory.cuh", "host/mbarrier.cuh", "host/bulk_copies.cuh", "common/box_copies.cuh",
              "common/integers.cuh", "common/extremes.cuh", "common/lists.cuh", "common/descriptors.cuh", "host/matrix_products.cuh", "common/fragments.cuh",
              "common/finite.cuh", "common/tile_reductions.cuh", "host/entry.cuh"});
  return text;
}

}   // namespace tw
