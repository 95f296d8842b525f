// The figures of the last rewound gradient on this thread.
#pragma once
#include "anadrome/rewind.h"

namespace anadrome {

RewindReport& rewind_report();

}  // namespace anadrome
