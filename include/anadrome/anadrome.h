// Everything of Anadrome.
#pragma once
#include "anadrome/array.h"
#include "anadrome/compile.h"
#include "anadrome/dtype.h"
#include "anadrome/error.h"
#include "anadrome/jit.h"
#include "anadrome/ops.h"
#include "anadrome/program.h"
#include "anadrome/random.h"
#include "anadrome/shape.h"
#include "anadrome/threads.h"
#include "anadrome/transform.h"
#include "anadrome/tree.h"
