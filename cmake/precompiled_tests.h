// As precompiled.h, and GoogleTest.
#pragma once
#include "precompiled.h"

#include <gtest/gtest.h>
