// Rules that all scatters share.
#pragma once
#include <cstring>
#include <limits>

#include "primitives/batching.h"
#include "primitives/indexed.h"

namespace anadrome {

/// Operands (array, indices, updates) of any real dtype; the result is like the array.
Types type_scatter(const TypeIn& in);
/// The same for integers and floats.
Types type_scatter_number(const TypeIn& in);
/// Batch axes become batching axes of the dimension numbers: one scatter stays one scatter.
BatchOut batch_scatter(const BatchIn& in);
/// One flop an element of the updates.
Cost cost_scatter(const CostIn& in);

/// The loops of one window of a scatter: updates are read at `to`, the array is changed at `from`.
template <class T, class F> void scatter_windows(const EvalIn& in, F combine) {
  const auto& s = in.as<ScatterAttr>();
  T* y = static_cast<T*>(in.y[0]);
  const T* updates = static_cast<const T*>(in.x[2]);
  if (in.y[0] != in.x[0]) std::memcpy(in.y[0], in.x[0], in.out[0].bytes());
  const IndexWalk walk = index_walk(index_dims(s), window_sizes(s, in.in[2].shape, in.in[0].rank()),
                                    in.in[0].shape, in.in[1].shape, in.in[2].shape);
  const Loops& window = walk.window;
  const int last = window.rank - 1;
  const std::int64_t run = last < 0 ? 1 : window.extent[last];
  const std::int64_t from = last < 0 ? 1 : window.to[last], to = last < 0 ? 1 : window.from[last];
  const bool row = last < 0 || (last == 0 && to == 1 && from == 1);
  for_each_index(walk, in.in[1].dtype, in.x[1], [&](std::int64_t update, std::int64_t place, bool fits) {
    if (!fits) return;
    if (row) {
      for (std::int64_t i = 0; i < run; ++i) y[place + i] = combine(y[place + i], updates[update + i]);
      return;
    }
    for_each_run(window, 1, [&](std::int64_t f, std::int64_t t) {
      for (std::int64_t i = 0; i < run; ++i) {
        T& out = y[place + t + i * to];
        out = combine(out, updates[update + f + i * from]);
      }
    });
  });
}

}  // namespace anadrome
