// A VFS of SQLite in front of the system's own: every call may fail first, else it is handed on.
#include "FaultyFiles.h"

#include <sqlite3.h>

#include <cstdlib>
#include <string>

namespace tw::cache::test {
namespace {

FaultyFiles::Decide decideFault;
sqlite3_vfs* real = nullptr;
sqlite3_vfs faulty;
thread_local int lastSystemError = 0;

/// A file of ours; the real one lies behind it in the same memory.
struct File {
  sqlite3_file base;
  const char* name;
  [[nodiscard]] sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

int faultOf(FileCall call, const char* name) {
  const Fault fault = decideFault(call, name ? name : "");
  if (fault.code != SQLITE_OK) lastSystemError = fault.systemError;
  return fault.code;
}

/// Makes a method of ours out of one of the real file: fails, or hands on.
template <FileCall call, auto method, class... Arguments>
int handOn(sqlite3_file* base, Arguments... arguments) {
  File* file = reinterpret_cast<File*>(base);
  if (const int code = faultOf(call, file->name); code != SQLITE_OK) return code;
  lastSystemError = 0;
  return (file->inner()->pMethods->*method)(file->inner(), arguments...);
}

int closeFile(sqlite3_file* base) {
  sqlite3_file* inner = reinterpret_cast<File*>(base)->inner();
  return inner->pMethods->xClose(inner);
}
int unlockFile(sqlite3_file* base, int level) {
  sqlite3_file* inner = reinterpret_cast<File*>(base)->inner();
  return inner->pMethods->xUnlock(inner, level);
}
int controlFile(sqlite3_file* base, int operation, void* argument) {
  sqlite3_file* inner = reinterpret_cast<File*>(base)->inner();
  return inner->pMethods->xFileControl(inner, operation, argument);
}
int sectorSize(sqlite3_file* base) {
  sqlite3_file* inner = reinterpret_cast<File*>(base)->inner();
  return inner->pMethods->xSectorSize(inner);
}
int characteristics(sqlite3_file* base) {
  sqlite3_file* inner = reinterpret_cast<File*>(base)->inner();
  return inner->pMethods->xDeviceCharacteristics(inner);
}
void barrier(sqlite3_file* base) {
  sqlite3_file* inner = reinterpret_cast<File*>(base)->inner();
  inner->pMethods->xShmBarrier(inner);
}
int unmap(sqlite3_file* base, int remove) {
  sqlite3_file* inner = reinterpret_cast<File*>(base)->inner();
  return inner->pMethods->xShmUnmap(inner, remove);
}
/// Releasing a lock never fails, as with the system's files; taking one may.
int lockShared(sqlite3_file* base, int offset, int count, int flags) {
  File* file = reinterpret_cast<File*>(base);
  if (flags & SQLITE_SHM_LOCK)
    if (const int code = faultOf(FileCall::Lock, file->name); code != SQLITE_OK) return code;
  return file->inner()->pMethods->xShmLock(file->inner(), offset, count, flags);
}

using Methods = sqlite3_io_methods;
const Methods methods{
    .iVersion = 2,
    .xClose = closeFile,
    .xRead = handOn<FileCall::Read, &Methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = handOn<FileCall::Write, &Methods::xWrite, const void*, int, sqlite3_int64>,
    .xTruncate = handOn<FileCall::Truncate, &Methods::xTruncate, sqlite3_int64>,
    .xSync = handOn<FileCall::Sync, &Methods::xSync, int>,
    .xFileSize = handOn<FileCall::Size, &Methods::xFileSize, sqlite3_int64*>,
    .xLock = handOn<FileCall::Lock, &Methods::xLock, int>,
    .xUnlock = unlockFile,
    .xCheckReservedLock = handOn<FileCall::Lock, &Methods::xCheckReservedLock, int*>,
    .xFileControl = controlFile,
    .xSectorSize = sectorSize,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = handOn<FileCall::Share, &Methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = lockShared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap,
};

int openFile(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* base, int flags, int* flagsOut) {
  File* file = reinterpret_cast<File*>(base);
  file->base.pMethods = nullptr;
  file->name = name;
  if (const int code = faultOf(FileCall::Open, name); code != SQLITE_OK) return code;
  const int code = real->xOpen(real, name, file->inner(), flags, flagsOut);
  if (file->inner()->pMethods) file->base.pMethods = &methods;
  return code;
}
int removeFile(sqlite3_vfs*, const char* name, int syncFolder) {
  if (const int code = faultOf(FileCall::Remove, name); code != SQLITE_OK) return code;
  return real->xDelete(real, name, syncFolder);
}
int access(sqlite3_vfs*, const char* name, int flags, int* result) {
  if (const int code = faultOf(FileCall::Exists, name); code != SQLITE_OK) return code;
  return real->xAccess(real, name, flags, result);
}
int lastError(sqlite3_vfs*, int size, char* text) {
  return lastSystemError != 0 ? lastSystemError : real->xGetLastError(real, size, text);
}

}  // namespace

FaultyFiles::FaultyFiles(Decide decide) {
  decideFault = std::move(decide);
  real = sqlite3_vfs_find(nullptr);
  faulty = *real;
  faulty.pNext = nullptr;
  faulty.zName = "faulty";
  faulty.szOsFile = int(sizeof(File)) + real->szOsFile;
  faulty.xOpen = openFile;
  faulty.xDelete = removeFile;
  faulty.xAccess = access;
  faulty.xGetLastError = lastError;
  if (sqlite3_vfs_register(&faulty, 1) != SQLITE_OK) std::abort();
}

FaultyFiles::~FaultyFiles() {
  sqlite3_vfs_unregister(&faulty);
  sqlite3_vfs_register(real, 1);
}

}  // namespace tw::cache::test
