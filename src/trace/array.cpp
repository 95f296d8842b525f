// The Array handle: type queries and reading elements.
#include "anadrome/array.h"

#include <cstring>

#include "core/builder.h"
#include "math/half.h"
#include "trace/item.h"

namespace anadrome {

const Type& Array::type() const {
  if (!node_.get()) check_usable(*this, "Array");
  return node_->type;
}
const Shape& Array::shape() const { return type().shape; }
DType Array::dtype() const { return type().dtype; }
bool Array::traced() const { return is_variable(*this); }

Array Array::no_gradient(const Shape& shape) {
  auto* node = new detail::Node;
  detail::NodePtr handle(node);
  node->kind = Node::Kind::no_gradient;
  node->type = {DType::f32, shape, false};
  return Array(std::move(handle));
}
bool Array::is_no_gradient() const { return defined() && kind(*this) == Node::Kind::no_gradient; }

namespace {

/// The concrete array with the one element of `a`.
Array single(const Array& a) {
  check_usable(a, "item");
  if (a.size() != 1)
    throw TypeError("item: the array has " + std::to_string(a.size()) + " elements (" + to_string(a.type()) +
                    "), item() reads exactly one. Index it first, or use to_vector<T>()." + at_current_source());
  return concrete_value(a, "item");
}

}  // namespace

double Array::item_double(std::source_location source) const {
  AtSource at(source);
  const Array x = single(*this);
  return Literal::load(x.dtype(), data(x)).as_double();
}
std::int64_t Array::item_int(std::source_location source) const {
  AtSource at(source);
  const Array x = single(*this);
  return Literal::load(x.dtype(), data(x)).as_integer();
}

const void* Array::checked_data(DType want, std::source_location source) const {
  AtSource at(source);
  check_usable(*this, "reading elements");
  if (dtype() != want)
    throw TypeError("reading elements: the array is " + to_string(type()) + ", the C++ type asked for is that of " +
                    std::string(tag(want)) + ". Convert first: convert(x, " + std::string(tag(want)) + ")." +
                    at_current_source());
  if (is_literal(*this)) throw InternalError("reading elements of a literal");
  return data(concrete_value(*this, "reading elements"));
}

void Array::copy_out(DType want, void* out, std::source_location source) const {
  AtSource at(source);
  check_usable(*this, "to_vector");
  const bool widened = want == DType::f32 && (dtype() == DType::bf16 || dtype() == DType::f16);
  const Array x = concrete_value(*this, "to_vector");
  if (widened) {
    auto* y = static_cast<float*>(out);
    const auto n = static_cast<std::size_t>(size());
    if (dtype() == DType::bf16)
      for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<float>(static_cast<const math::BFloat16*>(data(x))[i]);
    else
      for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<float>(static_cast<const math::Float16*>(data(x))[i]);
    return;
  }
  const void* from = x.checked_data(want, source);
  if (size()) std::memcpy(out, from, x.type().bytes());
}

}  // namespace anadrome
