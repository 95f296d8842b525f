// Runs random programs on both backends; shrinks and shows what fails.
#include "support/fuzz.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <thread>

#include "anadrome/error.h"
#include "core/eval.h"
#include "core/intern.h"
#include "core/memory.h"
#include "optimize/passes.h"
#include "support/values.h"

namespace anadrome::testing {
namespace {

/// The difference, or the text of an exception that is no refusal of eval itself.
std::optional<std::string> failure(const FuzzCase& fuzz) {
  try {
    return backends_differ(fuzz);
  } catch (const std::exception& e) {
    return std::string("threw: ") + e.what();
  }
}

/// Drops equations and inputs that no output needs.
FuzzCase cleaned(const FuzzCase& from) {
  FuzzCase out{dead_code(from.program), {}, from.structured};
  std::vector<bool> read(out.program.types.size(), false);
  for (const Equation& e : out.program.equations)
    for (const Atom& a : e.operands)
      if (a.is_var()) read[a.var] = true;
  for (const Atom& a : out.program.outputs)
    if (a.is_var()) read[a.var] = true;
  auto& inputs = out.program.inputs;
  std::vector<VarId> kept;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!read[inputs[i]]) continue;
    kept.push_back(inputs[i]);
    out.inputs.push_back(from.inputs[i]);
  }
  inputs = kept;
  canonicalize(out.program);
  return out;
}

/// The same with one equation gone, its results being inputs with their values.
FuzzCase without(const FuzzCase& from, std::size_t equation, const Arrays& values) {
  FuzzCase out = from;
  for (VarId v : from.program.equations[equation].results) {
    out.program.inputs.push_back(v);
    const Array& x = values[v];
    out.inputs.push_back(is_literal(x) ? make_array(x.type(), numbers(x)) : x);
  }
  out.program.equations.erase(out.program.equations.begin() + static_cast<std::ptrdiff_t>(equation));
  canonicalize(out.program);
  return cleaned(out);
}

/// The same with one result alone as its output.
FuzzCase ending_at(const FuzzCase& from, VarId v) {
  FuzzCase out = from;
  out.program.outputs = {Atom::variable(v)};
  return cleaned(out);
}

int environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

// ---- a crash says which program it was

thread_local char crash_text[80];

[[maybe_unused]] void show_crash(int signal_number) {  // the sanitizers show crashes themselves
  const auto written = write(STDERR_FILENO, crash_text, std::strlen(crash_text));
  static_cast<void>(written);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void name_crashes() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) signal(number, show_crash);
#endif
}

constexpr GuardedAllocation::Place places[] = {GuardedAllocation::Place::none, GuardedAllocation::Place::start,
                                               GuardedAllocation::Place::end, GuardedAllocation::Place::exact};

}  // namespace

FuzzCase shrink(FuzzCase fuzz, const std::function<bool(const FuzzCase&)>& fails) {
  FuzzCase plain{inline_calls(fuzz.program), fuzz.inputs, fuzz.structured};
  if (fails(plain)) fuzz = std::move(plain);
  else return fuzz;
  // The first value that differs, alone.
  for (const Equation& e : std::vector<Equation>(fuzz.program.equations.begin(), fuzz.program.equations.end())) {
    bool found = false;
    for (VarId v : e.results) {
      const FuzzCase smaller = ending_at(fuzz, v);
      if (!fails(smaller)) continue;
      fuzz = smaller;
      found = true;
      break;
    }
    if (found) break;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < fuzz.program.equations.size(); ++i) {
      const FuzzCase smaller = without(fuzz, i, all_values(fuzz.program, fuzz.inputs));
      if (smaller.program.equations.empty() || !fails(smaller)) continue;
      fuzz = smaller;
      changed = true;
      break;
    }
  }
  return fuzz;
}

std::string describe(const FuzzCase& fuzz, std::uint64_t seed) {
  std::string out = "seed " + std::to_string(seed) + ": " + failure(fuzz).value_or("no difference") + "\n";
  out += to_string(fuzz.program) + "\n";
  for (const Array& x : fuzz.inputs) out += x.size() <= 40 ? show(x) + "\n" : to_string(x.type()) + "\n";
  return out;
}

namespace {

/// Compares the seeds of one placement of buffers on all cores.
class Comparison {
 public:
  Comparison(std::uint64_t first, std::uint64_t end, std::uint64_t place) : end_(end), next_(first) {
    while (next_ % std::size(places) != place) ++next_;
  }
  std::vector<std::uint64_t> failing() {
    std::vector<std::thread> threads;
    for (unsigned i = std::clamp(std::thread::hardware_concurrency(), 1u, 8u); i > 0; --i)
      threads.emplace_back([this] { work(); });
    for (std::thread& t : threads) t.join();
    std::sort(failing_.begin(), failing_.end());
    return failing_;
  }

 private:
  void work() {
    for (std::uint64_t seed; (seed = next_.fetch_add(std::size(places))) < end_;) {
      std::snprintf(crash_text, sizeof crash_text, "crashed in random program %llu\n",
                    static_cast<unsigned long long>(seed));
      if (!failure(fuzz_case(seed))) continue;
      const std::lock_guard lock(mutex_);
      failing_.push_back(seed);
      if (failing_.size() > 2) next_ = end_;
    }
  }

  std::uint64_t end_;
  std::atomic<std::uint64_t> next_;
  std::mutex mutex_;
  std::vector<std::uint64_t> failing_;
};

}  // namespace

void fuzz(std::uint64_t first_seed, int count) {
  name_crashes();
  const auto first = static_cast<std::uint64_t>(environment("ANADROME_FUZZ_SEED", static_cast<int>(first_seed)));
  const auto end = first + static_cast<std::uint64_t>(environment("ANADROME_FUZZ_COUNT", count));
  int shown = 0;
  for (std::size_t place = 0; place < std::size(places) && shown < 3; ++place) {
    const GuardedAllocation guard(places[place]);
    for (std::uint64_t seed : Comparison(first, end, place).failing()) {
      if (++shown > 3) break;
      const FuzzCase drawn = fuzz_case(seed);
      const FuzzCase small = shrink(drawn, [](const FuzzCase& c) { return failure(c).has_value(); });
      ADD_FAILURE() << describe(drawn, seed) << "shrunk:\n" << describe(small, seed);
    }
  }
}

}  // namespace anadrome::testing
