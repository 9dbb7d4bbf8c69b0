#include "SharedLibrary.h"
#include <dlfcn.h>

namespace tw::cuda {

void *SharedLibrary::find(const char *symbol) const { return handle ? dlsym(handle, symbol) : nullptr; }

SharedLibrary openFirst(const std::vector<std::string> &names) {
  SharedLibrary library;
  for (const std::string &name : names) {
    library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle) {
      library.name = name;
      library.trouble.clear();
      return library;
    }
    // "cannot open shared object file: No such file or directory" for each place would bury what matters.
    const std::string said = dlerror();
    if (said.find("No such file") == std::string::npos)
      library.trouble += (library.trouble.empty() ? "" : "; ") + said;
  }
  return library;
}

} // namespace tw::cuda
