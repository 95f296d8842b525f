// The one pool of threads: everything that runs in parallel runs as chunks of it.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

namespace anadrome {

/// A function that is only called while the call that received it lasts: two words, never a copy.
template <class Signature> class FunctionRef;
template <class R, class... Args> class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
        }) {}
  R operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

/// Calls f(0) ... f(chunks - 1), each once, and returns when all are done. Which thread calls what is not
/// fixed: what a chunk computes, and where it adds, must follow from its number alone. The caller works too
/// and waits only for chunks that others have started. Neighbouring chunks tend to meet the same thread again
/// at the next call. Inside a chunk, and while another thread's call has the pool, the chunks run one after
/// another on the calling thread. Rethrows the exception of the first chunk that threw; chunks not started by
/// then are left out.
void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t chunk)> f);

/// Cuts [0, n) into ranges whose ends are multiples of `multiple` (and n) and calls f(begin, end) for each as
/// parallel_for does; on the calling thread alone, as f(0, n), when the whole takes less than waking others
/// costs. `item_nanoseconds` is what one item is estimated to take on one thread. Where the cuts are depends
/// on the number of threads and on timing: use it for items that are independent of each other.
void parallel_ranges(std::int64_t n, double item_nanoseconds,
                     FunctionRef<void(std::int64_t begin, std::int64_t end)> f, std::int64_t multiple = 1);

/// True when work of so many nanoseconds on one thread is worth spreading now.
bool worth_spreading(double nanoseconds);

/// What ANADROME_NUM_THREADS means. Throws TypeError unless it is a number from 1 to 1024.
int threads_from_text(std::string_view text);

/// Wakes the threads, so that they are there for the calls of the next 50 microseconds. Costs some 10
/// microseconds when they sleep, next to nothing when they do not.
void wake_threads();

}  // namespace anadrome
