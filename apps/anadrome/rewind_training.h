// Training of the digits by a deep net of momentum layers.
#pragma once
#include "tour_rewind.h"

/// One shared block, 64 layers deep, and a linear readout, by Adam with clipped gradients; once with stored layers, once rewound with
/// anchors, once rewound without.
RewindTraining train_rewound(const Digits& digits, int seed, int epochs, const Progress& progress);
