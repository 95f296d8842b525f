// What the workloads share: their inputs, how they are timed, and what is printed of them.
#pragma once
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "anadrome/anadrome.h"

namespace workloads {

using anadrome::Array;
using Figures = nlohmann::ordered_json;  // one line of the output: name, times, bytes

/// How a workload is timed: the best of `repeats` means over `calls` calls.
struct Timing {
  int calls = 1;
  int repeats = 7;
  bool compared = true;  // else the result is not written: rounding grows in it without bound
};

/// One run of one workload: where its inputs come from, and where its outputs go.
class Bench {
 public:
  Bench(std::string name, std::filesystem::path inputs, std::filesystem::path outputs, bool shows_schedule = false)
      : name_(std::move(name)), inputs_(std::move(inputs)), outputs_(std::move(outputs)), shows_schedule_(shows_schedule) {}

  /// The input `name`: read from INPUTS/workload/name.npy when a folder of inputs was named, else normally
  /// distributed numbers times `scale` plus `shift`. Throws InputError when the file is missing or of another
  /// shape or dtype.
  Array input(std::string_view name, const anadrome::Shape& shape, double scale = 1, double shift = 0,
              anadrome::DType dtype = anadrome::f32) const;

  /// Records, compiles and runs `f` on the arguments. Where the schedule is asked for, that is all there is to see.
  template <class F, class... A> Figures measure(const F& f, Timing timing, const A&... a) const;
  /// Runs `f` as it is, without jit.
  template <class F, class... A> Figures measure_eager(const F& f, Timing timing, const A&... a) const;

  /// Writes the leaves of a result as OUTPUTS/workload/0.npy, 1.npy ..., when a folder for outputs was named.
  /// A second result of the workload, which is compared but not timed, goes on from there.
  template <class T> void write(const T& result) const {
    [[maybe_unused]] const T same = anadrome::map_leaves(result, [this](const Array& leaf) {
      write_leaf(leaf);
      return leaf;
    });
  }

 private:
  void write_leaf(const Array& leaf) const;

  std::string name_;
  std::filesystem::path inputs_, outputs_;
  bool shows_schedule_;
  mutable int written_ = 0;
};

using Clock = std::chrono::steady_clock;

inline double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

/// Microseconds of a call: the best of the means. As in the peer scripts the last result lives until the next
/// is there.
template <class R, class Call> double best_time(const Call& call, R& result, Timing timing) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < timing.repeats; ++i) {
    const auto start = Clock::now();
    for (int k = 0; k < timing.calls; ++k) result = call();
    best = std::min(best, milliseconds(Clock::now() - start) / timing.calls);
  }
  return best * 1e3;
}

template <class F, class... A> Figures Bench::measure(const F& f, Timing timing, const A&... a) const {
  const auto start = Clock::now();
  const auto lowered = anadrome::jit(f).lower(a...);
  const auto recorded = Clock::now();
  const auto compiled = lowered.compile();
  const auto built = Clock::now();
  if (shows_schedule_) return {{"name", name_}, {"schedule", compiled.text()}};
  const auto jitted = anadrome::jit(f);
  auto result = jitted(a...);
  Figures figures;
  figures["name"] = name_;
  figures["trace_ms"] = milliseconds(recorded - start);
  figures["compile_ms"] = milliseconds(built - recorded);
  figures["run_us"] = best_time([&] { return jitted(a...); }, result, timing);
  figures["temp_bytes"] = compiled.memory_analysis().temp_size_in_bytes;
  figures["flops"] = compiled.cost_analysis().flops;
  if (timing.compared) write(result);
  return figures;
}

template <class F, class... A> Figures Bench::measure_eager(const F& f, Timing timing, const A&... a) const {
  auto result = f(a...);
  Figures figures;
  figures["name"] = name_;
  figures["run_us"] = best_time([&] { return f(a...); }, result, timing);
  write(result);
  return figures;
}

/// A workload: its name, and what runs it.
struct Workload {
  std::string_view name;
  Figures (*run)(const Bench&);
};

// Each file of workloads gives its own, in the order in which they are printed.
std::vector<Workload> small_calls();
std::vector<Workload> long_arrays();
std::vector<Workload> long_programs();
std::vector<Workload> networks();
std::vector<Workload> rewinding();
std::vector<Workload> jacobians();
std::vector<Workload> mixtures();
std::vector<Workload> bundles();
std::vector<Workload> loops();

}  // namespace workloads
