// Calls of jitted functions: recognising one, running it, the table of entries.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "anadrome/detail/functional.h"
#include "core/intern.h"

namespace anadrome::functional {
namespace {

/// A call by value, kept beside its entry.
struct Known {
  const void* form;
  bool recorded;
  std::string structure;
  std::vector<Type> types;
  std::uint64_t hash;
  std::shared_ptr<const Entry> entry;

  Known(const Call& call, std::uint64_t h, std::shared_ptr<const Entry> e)
      : form(call.form), recorded(call.recorded), structure(call.structure.data(), call.structure.size()), hash(h),
        entry(std::move(e)) {
    for (const Array* leaf : call.leaves) types.push_back(leaf->type());
  }
  bool matches(const Call& call, std::uint64_t h) const {
    return hash == h && form == call.form && recorded == call.recorded && call.leaves.size() == types.size() &&
           structure == std::string_view(call.structure.data(), call.structure.size()) &&
           std::equal(types.begin(), types.end(), call.leaves.begin(),
                      [](const Type& t, const Array* leaf) { return leaf->node()->type == t; });
  }
};

/// 0 where a leaf is empty: such a call has no entry.
std::uint64_t hash(const Call& call) {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(call.form) + call.recorded;
  for (const Array* leaf : call.leaves) {
    if (!leaf->defined()) return 0;
    const Type& t = leaf->node()->type;
    h = (h ^ (static_cast<std::uint64_t>(t.dtype) + 64 * t.shape.size())) * 0xff51afd7ed558ccdull;
    for (std::int64_t d : t.shape) h = ((h >> 29) ^ h ^ static_cast<std::uint64_t>(d)) * 0x9E3779B97F4A7C15ull;
  }
  for (char c : call.structure) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  h ^= h >> 32;
  return h ? h : 1;
}

constexpr std::size_t recent_calls = 16;

}  // namespace

Entry::Entry(Recorded r, std::shared_ptr<const Executable> e)
    : recorded(std::move(r)), executable(std::move(e)), inputs(recorded.program->input_types()),
      gives_up(std::find(recorded.donated.begin(), recorded.donated.end(), true) != recorded.donated.end()) {}

bool accepts(const Entry& entry, std::span<const Array* const> leaves) {
  return leaves.size() == entry.inputs.size() &&
         std::equal(leaves.begin(), leaves.end(), entry.inputs.begin(), [](const Array* leaf, const Type& want) {
           return is_concrete(*leaf) && leaf->node()->type == want;
         });
}

struct CallCache::State {
  /// Of `known`, by the low bits of the hash.
  std::array<std::atomic<const Known*>, recent_calls> recent{};
  std::shared_mutex mutex;
  std::unordered_multimap<std::uint64_t, Known> known;

  const Known* find(const Call& call, std::uint64_t h) const {
    const auto [first, last] = known.equal_range(h);
    for (auto it = first; it != last; ++it)
      if (it->second.matches(call, h)) return &it->second;
    return nullptr;
  }
};

CallCache::CallCache() : state_(std::make_unique<State>()) {}
CallCache::~CallCache() = default;

const Entry* CallCache::ready(const Call& call) const {
  if (call.recorded) return nullptr;
  const std::uint64_t h = hash(call);
  const Known* known = state_->recent[h % recent_calls].load(std::memory_order_acquire);
  if (!known || !known->matches(call, h)) return nullptr;
  for (const Array* leaf : call.leaves)
    if (kind(*leaf) != Node::Kind::concrete) return nullptr;
  return known->entry.get();
}

std::shared_ptr<const Entry> CallCache::find(const Call& call) const {
  const std::uint64_t h = hash(call);
  if (h == 0) return nullptr;
  const std::shared_lock lock(state_->mutex);
  const Known* known = state_->find(call, h);
  if (!known) return nullptr;
  state_->recent[h % recent_calls].store(known, std::memory_order_release);
  return known->entry;
}

std::shared_ptr<const Entry> CallCache::keep(const Call& call, std::shared_ptr<const Entry> entry) {
  const std::uint64_t h = hash(call);
  const std::unique_lock lock(state_->mutex);
  const Known* known = state_->find(call, h);
  if (!known) known = &state_->known.emplace(h, Known(call, h, std::move(entry)))->second;
  state_->recent[h % recent_calls].store(known, std::memory_order_release);
  return known->entry;
}

}  // namespace anadrome::functional
