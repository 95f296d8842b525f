#include "math/threefry.h"

#include <gtest/gtest.h>

#include <vector>

namespace anadrome::math {
namespace {

// The vectors that the authors of the cipher publish for 20 rounds.
TEST(Threefry, KnownAnswers) {
  static_assert(threefry2x32({0, 0}, 0, 0) == Words{0x6B200159u, 0x99BA4EFEu});
  static_assert(threefry2x32({0xFFFFFFFFu, 0xFFFFFFFFu}, 0xFFFFFFFFu, 0xFFFFFFFFu) ==
                Words{0x1CB996FCu, 0xBB002BE7u});
  EXPECT_EQ(threefry2x32({0x13198A2Eu, 0x03707344u}, 0x243F6A88u, 0x85A308D3u),
            (Words{0xC4923A9Cu, 0x483DF7A0u}));
}

TEST(Threefry, FillsAgreeWithSingleElements) {
  const Words key = threefry_key(0x0123456789ABCDEFu);
  EXPECT_EQ(key, (Words{0x01234567u, 0x89ABCDEFu}));
  const std::uint64_t first = (std::uint64_t{1} << 32) - 3;  // crosses into the high word of the counter
  std::vector<std::uint32_t> narrow(7);
  std::vector<std::uint64_t> wide(7);
  threefry_fill32(key, first, narrow);
  threefry_fill64(key, first, wide);
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    const std::uint64_t index = first + i;
    const Words w =
        threefry2x32(key, static_cast<std::uint32_t>(index >> 32), static_cast<std::uint32_t>(index));
    EXPECT_EQ(narrow[i], w[0] ^ w[1]);
    EXPECT_EQ(wide[i], (std::uint64_t{w[0]} << 32) | w[1]);
  }
}

}  // namespace
}  // namespace anadrome::math
