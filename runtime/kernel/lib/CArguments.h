// What the C functions share: exceptions as a status and a text, texts as options, C's arrays as arguments.
#pragma once
#include "Given.h"
#include "tilewright/kernel/C.h"
#include "tilewright/kernel/Kernel.h"
#include <fmt/format.h>
#include <new>

namespace tw::capi {

/// Keeps the text for tilewright_error(), of this thread.
tilewright_status failed(tilewright_status status, std::string_view message);
[[nodiscard]] const std::string &lastError();

/// Runs `work`; no exception leaves it.
template <class F> tilewright_status guarded(F work) {
  try {
    work();
    return TILEWRIGHT_OK;
  } catch (const ProgramError &error) {
    return failed(TILEWRIGHT_BAD_PROGRAM, render(error.diagnostic));
  } catch (const ArgumentError &error) {
    return failed(TILEWRIGHT_BAD_ARGUMENTS, error.what());
  } catch (const std::invalid_argument &error) {
    return failed(TILEWRIGHT_BAD_OPTIONS, error.what());
  } catch (const CompileError &error) {
    return failed(TILEWRIGHT_COMPILER, error.what());
  } catch (const RuntimeError &error) {
    return failed(TILEWRIGHT_MACHINE, error.what());
  } catch (const std::bad_alloc &) {
    return failed(TILEWRIGHT_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return failed(TILEWRIGHT_UNEXPECTED, error.what());
  }
}

template <class T> void needPointer(const T *pointer, const char *what) {
  if (!pointer)
    throw ArgumentError(fmt::format("{} is NULL", what));
}

[[nodiscard]] std::string_view given(const char *text, const char *what);
[[nodiscard]] Type typeOf(const char *text, const char *what);
/// Options of a build; `lse` and `accumulates` are null where they make no sense.
[[nodiscard]] BuildOptions parseOptions(const char *target, const char *text, bool *lse, bool *accumulates = nullptr);
[[nodiscard]] std::map<std::string, std::int64_t> parseExtents(std::string_view text);

/// Of one call of a thread at a time, so that a launch allocates nothing.
[[nodiscard]] Given givenOf(const tilewright_arguments *arguments);

} // namespace tw::capi
