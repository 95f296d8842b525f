// Every primitive. `list.inc` is the one list; this header turns it into declarations.
#pragma once
#include "core/prim.h"

namespace anadrome::prim {
#define ANADROME_PRIMITIVE(name) extern const Prim name;
#include "primitives/list.inc"
#undef ANADROME_PRIMITIVE
}  // namespace anadrome::prim
