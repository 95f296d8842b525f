// The nets of `anadrome tour rewind`: layers of momentum that share one block of two products.
#pragma once
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

/// tanh(x w1 + b1) w2 + b2.
struct Block {
  anadrome::Array w1, b1, w2, b2;
};
struct NetState {
  anadrome::Array x, v;
};

struct MomentumNet {
  double momentum = 0.9, step = 1;
  std::int64_t width = 64, hidden = 128, batch = 64;

  /// Normal weights times 0.5 over the root of their inputs, biases zero.
  Block random_block(const anadrome::Array& key) const;
  anadrome::Array random_batch(const anadrome::Array& key) const;
  /// v' = momentum v + block(x), x' = x + step v'.
  NetState layer(const Block& p, const NetState& s) const;
};
anadrome::Array apply(const Block& p, const anadrome::Array& x);

/// How the gradient has the states of the layers.
enum class Keeping {
  stored,          // all that it reads is kept
  minimum_cut,     // products are kept, elementwise work is done again
  checkpointed,    // each layer is computed again from its input
  rewound,         // rebuilt from the last one, by a rule written by hand
  reversible_scan  // the same, derived, with states in between to start from
};
std::string name_of(Keeping keeping);

/// The state behind `depth` layers.
NetState run_layers(const MomentumNet& net, Keeping keeping, int depth, const Block& p, const NetState& start,
                    const anadrome::ReversibleScanOptions& options = {});
