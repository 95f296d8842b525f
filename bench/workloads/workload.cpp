// Inputs and outputs of the workloads as .npy files.
#include "workload.h"

#include <fstream>

#include "input_error.h"
#include "npy.h"

namespace workloads {

using namespace anadrome;

Array Bench::input(std::string_view name, const Shape& shape, double scale, double shift, DType dtype) const {
  if (inputs_.empty()) {
    Array key = random::prng_key(0);
    for (const char letter : name_ + "/" + std::string(name))
      key = random::fold_in(key, static_cast<int>(letter));
    return random::normal(key, shape, dtype) * scale + shift;
  }
  const auto path = inputs_ / name_ / (std::string(name) + ".npy");
  Array x = read_npy(path);
  const Type wanted{dtype, shape, false};
  if (x.type() != wanted)
    throw InputError(path.string() + ": is " + to_string(x.type()) + "; the workload takes " +
                     to_string(wanted));
  return x;
}

namespace {

/// The text of a .npy file before the elements: magic, version 1.0, and a dictionary padded to 64 bytes.
std::string npy_header(const Array& x) {
  std::string shape;
  for (const std::int64_t extent : x.shape()) shape += std::to_string(extent) + ", ";
  std::string header =
      "{'descr': '<f" + std::to_string(item_size(x.dtype())) + "', 'fortran_order': False, 'shape': (";
  header += shape;
  header += "), }";
  constexpr std::size_t prefix = 10, unit = 64;
  header.append(unit - 1 - (prefix + header.size()) % unit, ' ');
  header += '\n';
  const auto low = static_cast<char>(header.size() % 256), high = static_cast<char>(header.size() / 256);
  return std::string("\x93NUMPY\x01\x00", 8) + low + high + header;
}

template <class T> void write_elements(std::ofstream& out, const Array& x) {
  const auto bytes = std::as_bytes(x.span<T>());
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

void Bench::write_leaf(const Array& leaf) const {
  if (outputs_.empty()) return;
  std::filesystem::create_directories(outputs_ / name_);
  const auto path = outputs_ / name_ / (std::to_string(written_++) + ".npy");
  std::ofstream out(path, std::ios::binary);
  out << npy_header(leaf);
  if (leaf.dtype() == f64)
    write_elements<double>(out, leaf);
  else
    write_elements<float>(out, leaf);
  if (!out.flush()) throw InputError(path.string() + ": cannot be written");
}

}  // namespace workloads
