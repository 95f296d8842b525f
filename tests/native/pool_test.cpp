// The pool: every chunk once, nested and concurrent calls, exceptions, limits, forks.
#include "native/pool.h"

#include <anadrome/error.h>
#include <anadrome/threads.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace anadrome {
namespace {

/// Sets the number of threads for one test.
struct Threads {
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before = num_threads();
};

TEST(Pool, EveryChunkIsCalledOnce) {
  for (int threads : {1, 2, 3, 5}) {
    const Threads limit(threads);
    for (std::int64_t chunks : {0, 1, 2, 3, 7, 31, 32, 33, 100, 5000}) {
      std::vector<int> calls(static_cast<std::size_t>(chunks));
      parallel_for(chunks, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
      EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(chunks), 1)) << threads << " " << chunks;
    }
  }
}

TEST(Pool, OtherThreadsWork) {
  const Threads limit(3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int attempt = 0; attempt < 200 && seen.size() < 3; ++attempt)
    parallel_for(30, [&](std::int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  EXPECT_EQ(seen.size(), 3U);
}

TEST(Pool, AfterSleepAndManyTimes) {
  const Threads limit(4);
  std::atomic<std::int64_t> sum{0};
  for (int i = 0; i < 3000; ++i) {
    parallel_for(4, [&](std::int64_t chunk) { sum += chunk; });
    if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(sum, 3000 * 6);
}

TEST(Pool, NestedCallsRunInTheirChunk) {
  const Threads limit(3);
  std::atomic<int> calls{0}, elsewhere{0};
  parallel_for(6, [&](std::int64_t) {
    const auto me = std::this_thread::get_id();
    EXPECT_FALSE(worth_spreading(1e9));
    parallel_for(10, [&](std::int64_t) {
      ++calls;
      if (std::this_thread::get_id() != me) ++elsewhere;
    });
  });
  EXPECT_EQ(calls, 60);
  EXPECT_EQ(elsewhere, 0);
}

TEST(Pool, SeveralCallersAtOnce) {
  const Threads limit(3);
  std::atomic<std::int64_t> sum{0};
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t)
      callers.emplace_back([&] {
        for (int i = 0; i < 500; ++i) parallel_for(5, [&](std::int64_t chunk) { sum += chunk; });
      });
  }
  EXPECT_EQ(sum, 4 * 500 * 10);
}

TEST(Pool, ExceptionsComeBackAndThePoolGoesOn) {
  for (int threads : {1, 3}) {
    const Threads limit(threads);
    for (std::int64_t at : {0, 3, 99}) {
      try {
        parallel_for(100, [&](std::int64_t chunk) {
          if (chunk == at) throw RunError("chunk " + std::to_string(chunk));
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const RunError& e) {
        EXPECT_EQ(e.what(), "chunk " + std::to_string(at));
      }
      std::atomic<int> calls{0};
      parallel_for(10, [&](std::int64_t) { ++calls; });
      EXPECT_EQ(calls, 10);
    }
  }
}

TEST(Pool, RangesCoverEverythingOnceInWholeMultiples) {
  const Threads limit(3);
  for (std::int64_t n : {0, 1, 15, 16, 17, 100, 1001})
    for (double item : {1.0, 1e4, 1e7}) {
      std::vector<int> calls(static_cast<std::size_t>(n));
      parallel_ranges(
          n, item,
          [&](std::int64_t begin, std::int64_t end) {
            EXPECT_LT(begin, end);
            EXPECT_EQ(begin % 16, 0);
            EXPECT_TRUE(end % 16 == 0 || end == n);
            for (std::int64_t i = begin; i < end; ++i) ++calls[static_cast<std::size_t>(i)];
          },
          16);
      EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(n), 1)) << n << " " << item;
    }
}

TEST(Pool, SmallWorkStaysHere) {
  const Threads limit(3);
  int calls = 0;
  parallel_ranges(100, 1.0, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(worth_spreading(100));
  EXPECT_TRUE(worth_spreading(1e7));
  const Threads one(1);
  EXPECT_FALSE(worth_spreading(1e7));
}

TEST(Pool, NumberOfThreads) {
  const Threads limit(7);
  EXPECT_EQ(num_threads(), 7);
  for (int wrong : {0, -1, 1025}) {
    try {
      set_num_threads(wrong);
      ADD_FAILURE() << wrong;
    } catch (const TypeError& e) {
      EXPECT_EQ(e.what(), "set_num_threads: " + std::to_string(wrong) + " is no number from 1 to 1024.");
    }
  }
  EXPECT_EQ(num_threads(), 7);
  EXPECT_EQ(threads_from_text("12"), 12);
  for (const char* wrong : {"", "0", "-2", "1025", "2x", "two", " 2", "99999999999999"})
    EXPECT_THROW(threads_from_text(wrong), TypeError) << wrong;
}

#ifndef __SANITIZE_THREAD__  // which does not know threads in a forked child
TEST(Pool, AForkedChildHasItsOwn) {
  const Threads limit(3);
  parallel_for(10, [](std::int64_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> calls{0};
    for (int i = 0; i < 100; ++i) parallel_for(10, [&](std::int64_t) { ++calls; });
    wake_threads();
    _exit(calls == 1000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace anadrome
