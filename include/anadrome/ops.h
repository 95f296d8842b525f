// All operations on arrays.
#pragma once
#include "anadrome/ops/collective.h"
#include "anadrome/ops/elementwise.h"
#include "anadrome/ops/gather.h"
#include "anadrome/ops/linear.h"
#include "anadrome/ops/reduce.h"
#include "anadrome/ops/shape.h"
