// Memoised transforms: keyed by the interned program and the transform's options, bounded in bytes, owning no arrays.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/intern.h"

namespace anadrome {

/// Kinds of memoised results; a part of the key.
enum class MemoKind : std::int64_t {
  linearize,
  jvp,
  backward,
  vmap,
  depends,
  gradient,
  jacobian,
  closed,
  executable,
  invert,
  cost
};

/// Least-recently-used cache of results by (program structure, kind, options). Safe from several threads; when two
/// threads make the same result, the first one stored wins.
class Memo {
 public:
  static Memo& instance();
  /// The stored result, or `make()` stored and returned. `bytes` estimates what the result holds.
  template <class T>
  std::shared_ptr<const T> get(const ProgramPtr& interned, MemoKind kind, std::span<const std::int64_t> options,
                               const auto& make, const auto& bytes) {
    if (auto found = find({interned.get(), kind, options})) return std::static_pointer_cast<const T>(std::move(found));
    std::shared_ptr<const T> made = make();
    return std::static_pointer_cast<const T>(
        store({interned, kind, {options.begin(), options.end()}}, made, bytes(*made)));
  }
  void clear();
  std::int64_t bytes() const;

 private:
  struct Key {
    ProgramPtr program;  // interned: equal structure means equal pointer
    MemoKind kind;
    std::vector<std::int64_t> options;
  };
  /// A key to look up: nothing is copied.
  struct KeyView {
    const Program* program;
    MemoKind kind;
    std::span<const std::int64_t> options;
    KeyView(const Program* p, MemoKind k, std::span<const std::int64_t> o) : program(p), kind(k), options(o) {}
    KeyView(const Key& key) : KeyView(key.program.get(), key.kind, key.options) {}
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(const KeyView& key) const;
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const {
      return a.program == b.program && a.kind == b.kind && std::ranges::equal(a.options, b.options);
    }
  };
  struct Entry {
    Key key;
    std::shared_ptr<const void> value;
    std::size_t bytes;
  };
  std::shared_ptr<const void> find(const KeyView& key);
  std::shared_ptr<const void> store(Key key, std::shared_ptr<const void> value, std::size_t bytes);

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash, KeyEqual> index_;
  std::size_t bytes_ = 0;
};

/// An estimate of the memory a program takes.
std::size_t program_bytes(const Program& program);

}  // namespace anadrome
