// Reading numpy's .npy files: ten or twelve bytes of prefix, a header that is a Python dictionary, and the elements.
#include "npy.h"

#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "anadrome/ops/shape.h"
#include "input_error.h"

namespace {

using anadrome::Array;
using anadrome::Shape;

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw InputError(path.string() + ": " + what);
}

std::string read_bytes(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, "is a folder, not a .npy file");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "cannot be opened for reading: " + std::string(std::strerror(errno)));
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) fail(path, "cannot be read");
  return bytes;
}

/// The text after `'key':` in the header, without leading blanks.
std::string_view header_value(const std::filesystem::path& path, std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) fail(path, "its header has no entry " + quoted);
  header.remove_prefix(at + quoted.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

Shape header_shape(const std::filesystem::path& path, std::string_view header) {
  std::string_view text = header_value(path, header, "shape");
  const std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) fail(path, "its shape is not a tuple");
  text = text.substr(1, end - 1);
  Shape shape;
  std::int64_t elements = 1;
  while (!text.empty()) {
    if (text[0] == ' ' || text[0] == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) fail(path, "its shape holds '" + std::string(text) + "'");
    if (extent > 0 && elements > std::numeric_limits<std::int32_t>::max() / extent) fail(path, "it is too large");
    elements *= extent;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  return shape;
}

/// Splits the file: the header's text, and the offset of the elements.
std::string_view header_text(const std::filesystem::path& path, std::string_view bytes, std::size_t& data_offset) {
  constexpr std::string_view magic("\x93NUMPY", 6);
  if (bytes.size() < 10 || bytes.substr(0, 6) != magic) fail(path, "is not a .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const bool wide = byte(6) >= 2;  // versions 2 and 3 have a length of four bytes
  if (wide && bytes.size() < 12) fail(path, "ends inside its header");
  const std::size_t prefix = wide ? 12 : 10;
  const std::size_t length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
  data_offset = prefix + length;
  if (data_offset > bytes.size()) fail(path, "ends inside its header");
  return bytes.substr(prefix, length);
}

template <class T>
Array elements_of(const std::filesystem::path& path, std::string_view data, const Shape& shape) {
  const std::size_t want = static_cast<std::size_t>(shape.elements()) * sizeof(T);
  if (data.size() != want)
    fail(path, "holds " + std::to_string(data.size()) + " bytes of elements; its shape " + to_string(shape) +
                   " needs " + std::to_string(want));
  std::vector<T> values(static_cast<std::size_t>(shape.elements()));
  if (want != 0) std::memcpy(values.data(), data.data(), want);
  return anadrome::array(values, shape);
}

}  // namespace

Array read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_bytes(path);
  std::size_t data_offset = 0;
  const std::string_view header = header_text(path, bytes, data_offset);
  if (!header_value(path, header, "fortran_order").starts_with("False"))
    fail(path, "is stored column by column; save it with numpy.save(path, numpy.ascontiguousarray(x))");
  const Shape shape = header_shape(path, header);
  const std::string_view data = std::string_view(bytes).substr(data_offset);
  const std::string_view type = header_value(path, header, "descr");
  if (type.starts_with("'|u1'")) return elements_of<std::uint8_t>(path, data, shape);
  if (type.starts_with("'<f4'")) return elements_of<float>(path, data, shape);
  if (type.starts_with("'<f8'")) return elements_of<double>(path, data, shape);
  fail(path, "its elements are " + std::string(type.substr(0, type.find(','))) +
                 "; this program reads '|u1', '<f4' and '<f8' (uint8, float32, float64)");
}
