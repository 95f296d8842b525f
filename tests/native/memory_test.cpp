// Memory of arrays and arenas: size classes, recycling, its bounds, guard pages.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "anadrome/anadrome.h"
#include "core/memory_blocks.h"
#include "core/node.h"
#include "support/random_program.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::random_inputs;
using testing::random_program;
using testing::same_bits;
constexpr std::size_t megabyte = std::size_t{1} << 20;
using Place = GuardedAllocation::Place;

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// Whether the byte can be read and written: a page that is not mapped so fails madvise or is refused by a pipe.
bool accessible(const void* p) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool readable = write(ends[1], p, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

TEST(SizeClasses, HoldWhatTheyAreFor) {
  std::size_t before = 0;
  for (std::size_t k = 0; k < blocks::small_classes; ++k) {
    const std::size_t bytes = blocks::small_class_bytes(k);
    EXPECT_EQ(bytes % 64, 0u);
    EXPECT_EQ(blocks::small_class(bytes), k) << bytes;
    EXPECT_EQ(blocks::small_class(before + 1), k) << before;
    if (before >= 512) {
      EXPECT_LE(4 * bytes, 5 * before);
    }
    before = bytes;
  }
  EXPECT_EQ(before, blocks::large_bytes);
  EXPECT_EQ(blocks::small_class(0), 0u);
  for (std::size_t bytes = megabyte; bytes < 4000 * megabyte; bytes += bytes / 7 + 13) {
    const std::size_t rounded = blocks::large_class_bytes(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_EQ(rounded % blocks::huge_page, 0u);
    EXPECT_LE(rounded - bytes, std::max(blocks::huge_page, bytes / 8)) << bytes;
    EXPECT_EQ(blocks::large_class_bytes(rounded), rounded);
  }
}

TEST(Memory, IsAlignedAndWritableAtEverySize) {
  for (std::size_t bytes : {0ul, 1ul, 63ul, 64ul, 65ul, 513ul, 4096ul, 100001ul, megabyte - 1, megabyte, 3 * megabyte + 7}) {
    const BufferPtr b = allocate(bytes);
    ASSERT_NE(b.data(), nullptr);
    EXPECT_EQ(address(b.data()) % 64, 0u);
    EXPECT_GE(b.bytes(), bytes);
    std::memset(b.data(), 7, bytes);
    if (recycles_blocks() && bytes >= megabyte) {
      EXPECT_EQ(address(b.data()) % blocks::huge_page, 0u);
    }
  }
}

TEST(Memory, ABlockIsTakenAgain) {
  if (!recycles_blocks()) GTEST_SKIP();
  for (std::size_t bytes : {40ul, 5000ul, 6 * megabyte}) {
    clear_memory_cache();
    const void* first = allocate(bytes).data();
    EXPECT_EQ(kept_bytes(), static_cast<std::int64_t>(block_bytes(bytes)));
    const BufferPtr again = allocate(bytes);
    EXPECT_EQ(again.data(), first);
    EXPECT_EQ(kept_bytes(), 0);
    EXPECT_NE(allocate(bytes).data(), first);
  }
}

TEST(Memory, SharedBlocksAreFreedWithTheLastHandle) {
  clear_memory_cache();
  BufferPtr a = allocate(100), b = a;
  EXPECT_TRUE(a == b);
  a.reset();
  EXPECT_EQ(kept_bytes(), 0);
  std::memset(b.data(), 1, 100);
  b.reset();
  EXPECT_EQ(kept_bytes(), recycles_blocks() ? 128 : 0);
}

TEST(Memory, CountsRequestsNotBlocks) {
  clear_memory_cache();
  const std::int64_t count = allocation_count(), bytes = allocated_bytes();
  for (int i = 0; i < 3; ++i) (void)allocate(100);
  (void)allocate(2 * megabyte);
  EXPECT_EQ(allocation_count() - count, 4);
  EXPECT_EQ(allocated_bytes() - bytes, static_cast<std::int64_t>(300 + 2 * megabyte));
  (void)allocate_arena(100);
  EXPECT_EQ(allocation_count() - count, recycles_blocks() ? 4 : 5);
  std::thread([] { (void)allocate(7); }).join();
  EXPECT_EQ(allocation_count() - count, recycles_blocks() ? 5 : 6);
}

TEST(Memory, AThreadKeepsAtMostSixteenMegabytesOfSmallBlocks) {
  clear_memory_cache();
  for (int round = 0; round < 3; ++round) {
    std::vector<BufferPtr> all;
    for (int i = 0; i < 100; ++i) all.push_back(allocate(megabyte / 2));
    all.clear();
    EXPECT_LE(kept_bytes(), static_cast<std::int64_t>(16 * megabyte));
  }
  clear_memory_cache();
  EXPECT_EQ(kept_bytes(), 0);
}

TEST(Memory, LargeBlocksAreKeptUpToAGigabyteOrWhatWasAlive) {
  if (!recycles_blocks()) GTEST_SKIP();
  clear_memory_cache();
  constexpr std::size_t block = 64 * megabyte;
  // Nothing is touched, so no memory is used.
  for (int i = 0; i < 12; ++i) (void)allocate(block * static_cast<std::size_t>(1 + i % 6));
  EXPECT_LE(kept_bytes(), static_cast<std::int64_t>(1024 * megabyte));
  {
    std::vector<BufferPtr> all;
    for (int i = 0; i < 20; ++i) all.push_back(allocate(block));
  }
  EXPECT_EQ(kept_bytes(), static_cast<std::int64_t>(20 * block));
  // Other sizes push the oldest out.
  const BufferPtr other = allocate(3 * block);
  EXPECT_LE(kept_bytes(), static_cast<std::int64_t>(17 * block));
  clear_memory_cache();
  EXPECT_EQ(kept_bytes(), 0);
}

TEST(Memory, ClearingReachesEveryThread) {
  clear_memory_cache();
  std::atomic<int> stage{0};
  std::thread other([&] {
    (void)allocate(1000);
    stage = 1;
    while (stage != 2) std::this_thread::yield();
  });
  while (stage != 1) std::this_thread::yield();
  if (recycles_blocks()) {
    EXPECT_GT(kept_bytes(), 0);
  }
  clear_memory_cache();
  EXPECT_EQ(kept_bytes(), 0);
  stage = 2;
  other.join();
}

TEST(Memory, AThreadThatEndsKeepsNothing) {
  clear_memory_cache();
  Array a;
  std::thread([&] {
    (void)allocate(1000);
    a = uninitialized({f32, {100}});
  }).join();
  EXPECT_EQ(kept_bytes(), 0);
  static_cast<float*>(mutable_data(a))[99] = 1;
}

TEST(Memory, ThreadsExchangeArraysWhileTheCacheIsCleared) {
  std::atomic<Array*> box{nullptr};
  std::atomic<int> wrong{0}, left{3};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        auto* mine = new Array(uninitialized({f32, {1 + (i * 37 + t) % 500}}));
        const auto n = static_cast<std::size_t>(mine->size());
        auto* x = static_cast<float*>(mutable_data(*mine));
        for (std::size_t k = 0; k < n; ++k) x[k] = static_cast<float>(n);
        Array* other = box.exchange(mine);
        if (!other) continue;
        for (float v : other->span<float>()) wrong += v != static_cast<float>(other->size());
        delete other;
      }
      --left;
    });
  while (left) clear_memory_cache();
  for (std::thread& t : threads) t.join();
  delete box.exchange(nullptr);
  EXPECT_EQ(wrong, 0);
}

TEST(Memory, RequestsBeyondTheMachineThrow) {
  EXPECT_THROW((void)allocate(std::size_t{1} << 62), RunError);
  EXPECT_THROW((void)allocate(~std::size_t{0}), RunError);
  EXPECT_THROW((void)zeros({std::int64_t{1} << 50}), RunError);
}

TEST(Guard, PagesBesideABlockAreInaccessible) {
  for (std::size_t bytes : {1ul, 64ul, 100ul, 4096ul, 10000ul, 2 * megabyte}) {
    {
      const GuardedAllocation guard(Place::start);
      const BufferPtr b = allocate(bytes);
      auto* p = static_cast<char*>(b.data());
      EXPECT_TRUE(accessible(p) && accessible(p + bytes - 1));
      EXPECT_FALSE(accessible(p - 1));
      std::memset(p, 1, bytes);
    }
    {
      const GuardedAllocation guard(Place::end);
      const BufferPtr b = allocate(bytes);
      auto* p = static_cast<char*>(b.data());
      EXPECT_EQ(address(p) % 64, 0u);
      EXPECT_TRUE(accessible(p) && accessible(p + bytes - 1));
      EXPECT_FALSE(accessible(p + (bytes + 63) / 64 * 64));
      std::memset(p, 1, bytes);
    }
    {
      const GuardedAllocation guard(Place::exact);
      const BufferPtr b = allocate(bytes);
      auto* p = static_cast<char*>(b.data());
      EXPECT_TRUE(accessible(p) && accessible(p + bytes - 1));
      EXPECT_FALSE(accessible(p + bytes));
      EXPECT_EQ(address(allocate_arena(bytes).data()) % 64, 0u);
      std::memset(p, 1, bytes);
    }
  }
  const GuardedAllocation guard(Place::exact);
  EXPECT_NE(allocate(0).data(), nullptr);
}

TEST(Guard, FreedBlocksAreInaccessible) {
  const GuardedAllocation guard(Place::end);
  const void* p = allocate(100).data();
  EXPECT_FALSE(accessible(p));
}

TEST(Guard, CompiledProgramsStayInside) {
  for (Place place : {Place::start, Place::end, Place::exact})
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const auto p = std::make_shared<const Program>(random_program(seed, 30));
      const auto f = compile(p);
      const Arrays want = f->run(random_inputs(*p, seed));
      const GuardedAllocation guard(place);
      const Arrays got = f->run(random_inputs(*p, seed));
      for (std::size_t k = 0; k < got.size(); ++k) EXPECT_TRUE(same_bits(got[k], want[k])) << seed;
    }
}

}  // namespace
}  // namespace anadrome
