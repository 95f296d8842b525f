// The cache of transforms.
#include "transforms/memo.h"

#include "anadrome/compile.h"

namespace anadrome {
namespace {

/// What all memoised results together may hold.
constexpr std::size_t budget = std::size_t{256} << 20;

}  // namespace

Memo& Memo::instance() {
  static Memo* memo = new Memo;  // never destroyed: threads may still transform programs while the process ends
  return *memo;
}

std::size_t Memo::KeyHash::operator()(const KeyView& key) const {
  std::uint64_t h = mix(key.program->hash, static_cast<std::uint64_t>(key.kind));
  for (std::int64_t o : key.options) h = mix(h, static_cast<std::uint64_t>(o));
  return h;
}

std::shared_ptr<const void> Memo::find(const KeyView& key) {
  std::lock_guard lock(mutex_);
  auto it = index_.find(key);
  if (it == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->value;
}

std::shared_ptr<const void> Memo::store(Key key, std::shared_ptr<const void> value, std::size_t bytes) {
  std::vector<std::shared_ptr<const void>> evicted;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  if (auto it = index_.find(key); it != index_.end()) return it->second->value;
  bytes += 256 + program_bytes(*key.program);
  entries_.push_front({key, value, bytes});
  index_.emplace(std::move(key), entries_.begin());
  bytes_ += bytes;
  while (bytes_ > budget && entries_.size() > 1) {
    Entry& last = entries_.back();
    bytes_ -= last.bytes;
    evicted.push_back(std::move(last.value));
    index_.erase(last.key);
    entries_.pop_back();
  }
  return value;
}

void Memo::clear() {
  std::list<Entry> old;
  std::lock_guard lock(mutex_);
  index_.clear();
  old.swap(entries_);
  bytes_ = 0;
}

std::int64_t Memo::bytes() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(bytes_);
}

std::size_t program_bytes(const Program& program) {
  return sizeof(Program) + program.types.size() * sizeof(Type) + program.equations.size() * (sizeof(Equation) + 64);
}

void clear_program_cache() { Memo::instance().clear(); }
std::int64_t program_cache_bytes() { return Memo::instance().bytes(); }

}  // namespace anadrome
