// Reading numpy's .npy files.
#pragma once
#include <filesystem>

#include "anadrome/array.h"

/// The array in a .npy file, row-major, of little-endian uint8, float32 or float64. Throws InputError that names the
/// file when it cannot be read, is no .npy file, holds another element type or order, or is cut short.
anadrome::Array read_npy(const std::filesystem::path& path);
