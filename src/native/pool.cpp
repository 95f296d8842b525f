// A pool of threads that spin for 50 microseconds after their last work and then sleep. A call publishes one
// job; its units are counted down in one word a participant, which also holds the number of the job: who has
// lowered the word of the current job owns a unit, and the job stays until all owned units are done. Late
// threads find nothing and touch nothing. Each takes the units of its own word first, then those of others.
#include "native/pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "anadrome/error.h"
#include "anadrome/threads.h"

namespace anadrome {
namespace {

constexpr int most_threads = 1024;
constexpr std::int64_t units_per_thread = 16;  // chunks beyond that are handed out in groups
constexpr std::int64_t ranges_per_thread = 4;  // enough to even out a thread that lost its processor
constexpr std::chrono::microseconds spin_time{50};
constexpr double hot_nanoseconds = 4000;  // worth spreading while the others spin: a fork and join is 0.9 us
constexpr double cold_nanoseconds = 100000;  // worth waking them: they come after some 50 us

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits until ready() holds: true; or for the time that spinning is worth: false.
template <class Ready> bool spin_until(Ready ready) {
  for (int i = 0; i < 64; ++i, relax())
    if (ready()) return true;
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < 16; ++i, relax())
      if (ready()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

thread_local bool inside_chunk = false;

struct InsideChunk {
  bool before = std::exchange(inside_chunk, true);
  ~InsideChunk() { inside_chunk = before; }
};

using Function = FunctionRef<void(std::int64_t)>;

#ifdef __linux__
/// Where the calling thread may run.
cpu_set_t allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}
#endif

class Pool {
 public:
  /// False, and nothing done, when another call has the pool.
  bool run(std::int64_t chunks, int threads, const Function& f);
  bool is_hot() const { return spinning_.load(std::memory_order_relaxed) > 0; }
  void wake(int threads);

 private:
  /// What one participant watches and owns. The caller is participant 0.
  struct alignas(64) Seat {
    std::atomic<std::uint32_t> call{0};   // changes when there is a job; what a thread sleeps on
    std::atomic<std::uint64_t> units{0};  // of the job whose number is the upper half: units left
    std::atomic<bool> sleeps{false};
    std::thread::native_handle_type thread{};
    int avoided = -1;  // the processor it is kept away from
  };
  static constexpr std::uint64_t number_of(std::uint64_t word) { return word >> 32; }
  static constexpr std::uint64_t left_in(std::uint64_t word) { return word & 0xffffffff; }

  void keep_away(Seat& seat);
  void start_threads(int threads);
  void call(int seat);
  void publish(std::int64_t chunks, int threads, const Function& f);
  void work(int seat);
  bool take_unit(int seat, std::uint64_t number);
  void run_unit(std::int64_t unit);
  void note_failure(std::int64_t unit);
  void thread_main(int seat);

  std::atomic_flag taken_;  // by a call
  std::unique_ptr<Seat[]> seats_ = std::make_unique<Seat[]>(most_threads);
  int started_ = 1;  // seats with a thread
  std::atomic<int> spinning_{0};
#ifdef __linux__
  const cpu_set_t allowed_ = allowed_processors();
#endif

  // The job. Plain fields are written before the words of its seats and read by owners of a unit.
  alignas(64) std::atomic<std::uint64_t> number_{0};
  std::atomic<int> participants_{0};
  const Function* function_ = nullptr;
  std::int64_t chunks_ = 0, units_ = 0;
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::int64_t failed_unit_ = 0;
  std::exception_ptr failure_;
  alignas(64) std::atomic<std::uint32_t> unfinished_{0};
};

/// Keeps the thread of a seat off the processor that this thread runs on: Linux tends to wake a thread where
/// its waker runs and leaves it waiting there for milliseconds while other processors are idle.
void Pool::keep_away(Seat& seat) {
#ifdef __linux__
  const int here = sched_getcpu();
  if (here < 0 || here == seat.avoided) return;
  cpu_set_t others = allowed_;
  if (here < CPU_SETSIZE) CPU_CLR(here, &others);
  seat.avoided = here;
  if (CPU_COUNT(&others) > 0) pthread_setaffinity_np(seat.thread, sizeof others, &others);
#else
  static_cast<void>(seat);
#endif
}

/// Tells the thread of a seat that there is something to do.
void Pool::call(int seat) {
  Seat& s = seats_[seat];
  if (s.sleeps.load(std::memory_order_relaxed)) keep_away(s);
  s.call.fetch_add(1, std::memory_order_seq_cst);
  if (s.sleeps.load(std::memory_order_seq_cst)) s.call.notify_one();
}

void Pool::start_threads(int threads) {
  for (; started_ < threads; ++started_) {
    try {
      std::thread thread([this, seat = started_] { thread_main(seat); });
      seats_[started_].thread = thread.native_handle();
      keep_away(seats_[started_]);
      thread.detach();
    } catch (const std::system_error&) {
      return;  // the caller does what no thread does
    }
  }
}

void Pool::publish(std::int64_t chunks, int threads, const Function& f) {
  const std::uint64_t number = (number_.load(std::memory_order_relaxed) + 1) & 0xffffffff;
  function_ = &f;
  chunks_ = chunks;
  units_ = std::min(chunks, threads * units_per_thread);
  failed_.store(false, std::memory_order_relaxed);
  unfinished_.store(static_cast<std::uint32_t>(units_), std::memory_order_relaxed);
  participants_.store(threads, std::memory_order_relaxed);
  number_.store(number, std::memory_order_relaxed);
  for (int seat = 0; seat < threads; ++seat) {
    const std::int64_t mine = units_ * (seat + 1) / threads - units_ * seat / threads;
    seats_[seat].units.store(number << 32 | static_cast<std::uint64_t>(mine), std::memory_order_release);
  }
  for (int seat = 1; seat < threads; ++seat) call(seat);
}

void Pool::wake(int threads) {
  if (taken_.test_and_set(std::memory_order_acquire)) return;
  start_threads(threads);
  for (int seat = 1; seat < std::min(threads, started_); ++seat)
    if (seats_[seat].sleeps.load(std::memory_order_relaxed)) call(seat);
  taken_.clear(std::memory_order_release);
}

bool Pool::run(std::int64_t chunks, int threads, const Function& f) {
  if (taken_.test_and_set(std::memory_order_acquire)) return false;
  start_threads(threads);
  publish(chunks, static_cast<int>(std::min<std::int64_t>({chunks, threads, started_})), f);
  work(0);
  const auto done = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (!spin_until(done))
    for (std::uint32_t left; (left = unfinished_.load(std::memory_order_acquire)) != 0;)
      unfinished_.wait(left);
  const std::exception_ptr failure =
      failed_.load(std::memory_order_relaxed) ? std::exchange(failure_, nullptr) : nullptr;
  taken_.clear(std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
  return true;
}

/// Takes units of the job there is now until none is left.
void Pool::work(int seat) {
  const InsideChunk inside;
  const std::uint64_t number = number_of(seats_[seat].units.load(std::memory_order_acquire));
  const int participants = participants_.load(std::memory_order_relaxed);
  if (seat >= participants) return;
  for (int k = 0; k < participants; ++k)
    while (take_unit((seat + k) % participants, number)) {
    }
}

bool Pool::take_unit(int seat, std::uint64_t number) {
  std::atomic<std::uint64_t>& word = seats_[seat].units;
  std::uint64_t old = word.load(std::memory_order_acquire);
  do
    if (number_of(old) != number || left_in(old) == 0) return false;
  while (!word.compare_exchange_weak(old, old - 1, std::memory_order_acq_rel, std::memory_order_acquire));
  // A unit is owned: the job stays until it is done.
  const int participants = participants_.load(std::memory_order_relaxed);
  run_unit(units_ * (seat + 1) / participants - static_cast<std::int64_t>(left_in(old)));
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  return true;
}

void Pool::run_unit(std::int64_t unit) {
  const std::int64_t whole = chunks_ / units_,
                     rest = chunks_ % units_;  // the first `rest` units have one more
  const std::int64_t begin = unit * whole + std::min(unit, rest), end = begin + whole + (unit < rest);
  try {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      if (failed_.load(std::memory_order_relaxed)) return;
      (*function_)(chunk);
    }
  } catch (...) {
    note_failure(unit);
  }
}

void Pool::note_failure(std::int64_t unit) {
  const std::lock_guard lock(failure_mutex_);
  if (failed_.load(std::memory_order_relaxed) && failed_unit_ < unit) return;
  failure_ = std::current_exception();
  failed_unit_ = unit;
  failed_.store(true, std::memory_order_relaxed);
}

void Pool::thread_main(int seat) {
  std::atomic<std::uint32_t>& call = seats_[seat].call;
  std::atomic<bool>& sleeps = seats_[seat].sleeps;
  std::uint32_t seen = 0;
  for (;;) {
    spinning_.fetch_add(1, std::memory_order_relaxed);
    const bool called = spin_until([&] { return call.load(std::memory_order_acquire) != seen; });
    spinning_.fetch_sub(1, std::memory_order_relaxed);
    if (!called) {
      sleeps.store(true, std::memory_order_seq_cst);
      call.wait(seen, std::memory_order_seq_cst);
      sleeps.store(false, std::memory_order_relaxed);
    }
    seen = call.load(std::memory_order_acquire);
    work(seat);
  }
}

// ---- the pool of this process ----------------------------------------------------------------------------

std::atomic<Pool*> current_pool{nullptr};

/// Never destroyed: its threads live as long as the process. A forked child starts with none.
Pool& pool() {
  if (Pool* p = current_pool.load(std::memory_order_acquire)) return *p;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  Pool* p = current_pool.load(std::memory_order_acquire);
  if (!p) {
    p = new Pool;
    static const int registered = pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });
    static_cast<void>(registered);
    current_pool.store(p, std::memory_order_release);
  }
  return *p;
}

int available_processors() {
#ifdef __linux__
  const cpu_set_t set = allowed_processors();
  if (CPU_COUNT(&set) > 0) return std::min(CPU_COUNT(&set), most_threads);
#endif
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
}

int default_threads() {
  const char* text = std::getenv("ANADROME_NUM_THREADS");
  return text && *text ? threads_from_text(text) : available_processors();
}

std::atomic<int> thread_limit{0};  // 0: not known yet

void run_here(std::int64_t chunks, const Function& f) {
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) f(chunk);
}

}  // namespace

int threads_from_text(std::string_view text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc() && end == text.data() + text.size() && n >= 1 && n <= most_threads) return n;
  std::string message = "ANADROME_NUM_THREADS: '";
  message += text;
  throw TypeError(message + "' is no number from 1 to 1024.");
}

void set_num_threads(int threads) {
  if (threads < 1 || threads > most_threads) {
    std::string message = "set_num_threads: ";
    message += std::to_string(threads);
    throw TypeError(message + " is no number from 1 to 1024.");
  }
  thread_limit.store(threads, std::memory_order_relaxed);
}

int num_threads() {
  int n = thread_limit.load(std::memory_order_relaxed);
  if (n != 0) return n;
  const int found = default_threads();
  return thread_limit.compare_exchange_strong(n, found, std::memory_order_relaxed) ? found : n;
}

void parallel_for(std::int64_t chunks, Function f) {
  if (chunks <= 0) return;
  if (chunks == 1 || inside_chunk) return run_here(chunks, f);
  const int threads = num_threads();
  if (threads == 1 || !pool().run(chunks, threads, f)) run_here(chunks, f);
}

bool worth_spreading(double nanoseconds) {
  return nanoseconds >= hot_nanoseconds && !inside_chunk && num_threads() > 1 &&
         (nanoseconds >= cold_nanoseconds || pool().is_hot());
}

void parallel_ranges(std::int64_t n, double item_nanoseconds, FunctionRef<void(std::int64_t, std::int64_t)> f,
                     std::int64_t multiple) {
  if (n <= 0) return;
  const double total = item_nanoseconds * static_cast<double>(n);
  if (!worth_spreading(total)) return f(0, n);
  const std::int64_t blocks = (n + multiple - 1) / multiple, threads = num_threads();
  // Short work: one range a thread. Long work: more, none of them below what spreading is worth.
  const auto affordable = static_cast<std::int64_t>(total / hot_nanoseconds) / threads * threads;
  const std::int64_t ranges = std::min(blocks, std::clamp(affordable, threads, ranges_per_thread * threads));
  parallel_for(ranges, [&](std::int64_t i) {
    const std::int64_t begin = blocks * i / ranges, end = blocks * (i + 1) / ranges;
    f(begin * multiple, std::min(end * multiple, n));
  });
}

void wake_threads() {
  const int threads = num_threads();
  if (threads > 1 && !inside_chunk) pool().wake(threads);
}

}  // namespace anadrome
