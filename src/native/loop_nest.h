// How the body of a loop kernel is run: its loops, which of them runs through the lanes of a vector, what is unrolled.
#pragma once
#include <optional>
#include <vector>

#include "optimize/axis_classes.h"

namespace anadrome {

inline constexpr int most_loops = 8;

/// Where an axis of a result is in the nest.
struct NestAxis {
  static constexpr int unrolled = -1;
  int loop = unrolled;
  std::int64_t extent = 1;
  /// The axis is the outer part of a loop that runs through several axes at once: its own index stays 0.
  bool merged = false;
};

/// One result of a kernel: a value stored at every point, or a sum over the reduced loops.
struct NestRoot {
  const Equation* reduction = nullptr;  // null: stored point by point
  VarId value = 0;                      // what is evaluated at a point
  std::vector<NestAxis> axes;           // of `value`
  std::vector<int> kept;                // of the result's axes: the axis of `value`
};

struct Loop {
  std::int64_t extent = 1;
  bool reduced = false;
};

struct LoopNest {
  std::vector<Loop> loops;  // outermost first; reduced ones last, or right before the lanes
  std::vector<NestRoot> roots;
  int lane = -1;   // the loop that runs through lanes; -1: none
  int lanes = 1;   // numbers of a vector
  /// A kept loop whose neighbours lie side by side in values that the lanes do not run along: `lanes` of its indices are
  /// computed at a time, and such values are read and written in blocks, transposed in registers. -1: none.
  int tile = -1;
  /// The last vector starts early enough to be whole, and computes some lanes again (sums leave them out): half the
  /// code. Results must then not lie over arguments unless stores_once.
  bool overlaps = false;
  /// Of vectors that overlap only lanes that were not there before are written, so that results may lie over arguments.
  bool stores_once = false;
  /// The loop of the lanes is kept and runs inside the reduced ones: memory is read row by row, and the totals of many
  /// columns lie in memory meanwhile.
  bool lanes_inside_sums = false;
  /// Vectors side by side that are computed together, equation by equation, where each equation waits for the one before.
  int copies = 1;
  int unroll = 1;  // copies of the body in the innermost loop of a sum
  /// A sum over everything is cut into this many blocks, whose partial sums are added at the end. Does not depend on
  /// the number of threads.
  std::int64_t blocks = 1;
  double operations = 1;  // vector operations of a point
  double time = 1;        // the same, functions counted by the time that they take

  std::int64_t points() const {
    std::int64_t n = 1;
    for (const Loop& l : loops) n *= l.extent;
    return n;
  }
  int first_reduced() const {
    int d = 0;
    while (d < static_cast<int>(loops.size()) && !loops[static_cast<std::size_t>(d)].reduced) ++d;
    return d;
  }
  /// The loop of which a call of the kernel runs a range.
  int ranged() const { return lanes_inside_sums && first_reduced() == 0 ? lane : 0; }
};

/// The nest for a body, on vectors of `vector_bytes`; empty where the results do not share loops.
std::optional<LoopNest> make_loop_nest(const Program& body, int vector_bytes);

}  // namespace anadrome
