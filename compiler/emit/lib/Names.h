// Identifiers: what a value is called in the text.
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace tw::emit {

/// Names in nested scopes, as C++ nests them. No name hides another, nor a word that the text itself uses.
class Names {
public:
  /// Members of a struct stand behind a dot, and so only keep clear of C++'s own words.
  enum class For { variables, members };
  explicit Names(For purpose = For::variables);
  /// `hint` as an identifier, with a number behind it where it is taken; taken from here on, until the scope ends.
  std::string unique(llvm::StringRef hint);
  /// A stem such that stem + suffix is free for every suffix; all of these are taken from here on.
  std::string uniqueStem(llvm::StringRef hint, llvm::ArrayRef<llvm::StringRef> suffixes);
  void enter() { scopes.emplace_back(); }
  void leave() { scopes.pop_back(); }

private:
  bool isTaken(llvm::StringRef name) const;
  std::vector<llvm::StringSet<>> scopes;
};

/// `hint` with every character that C++ does not allow replaced.
std::string identifier(llvm::StringRef hint);
/// What the user or a pass called the value (the name in its location); else `stem`.
std::string hintFor(mlir::Value value, llvm::StringRef stem);

/// A scope for as long as it lives.
class Scope {
public:
  explicit Scope(Names &names) : names(names) { names.enter(); }
  ~Scope() { names.leave(); }
  Scope(const Scope &) = delete;

private:
  Names &names;
};

} // namespace tw::emit
