// Lifetime of nodes and of the memory behind concrete arrays.
#include "core/node.h"

#include <sys/single_threaded.h>

#include "core/builder.h"

namespace anadrome {
namespace detail {

// A process with one thread counts without locked instructions, as std::shared_ptr does: recording is measured in
// nanoseconds an equation, and half of them would go into counting. Nor does the first or the last owner need one: it
// is alone.
void retain(const Node* node) noexcept {
  const std::uint32_t now = node->references.load(std::memory_order_relaxed);
  if (now == 0 || __libc_single_threaded) node->references.store(now + 1, std::memory_order_relaxed);
  else node->references.fetch_add(1, std::memory_order_relaxed);
}
void release(const Node* node) noexcept {
  const std::uint32_t now = node->references.load(std::memory_order_acquire);
  if (now == 1) delete node;
  else if (__libc_single_threaded) node->references.store(now - 1, std::memory_order_relaxed);
  else if (node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node;
}

}  // namespace detail

Array concrete(const Type& type, BufferPtr owner, void* data) {
  auto* node = new detail::Node;
  detail::NodePtr handle(node);
  node->kind = Node::Kind::concrete;
  node->type = type;
  node->owner = std::move(owner);
  node->data = data;
  return Array(std::move(handle));
}

Array uninitialized(const Type& type) {
  BufferPtr memory = allocate(type.bytes());
  void* data = memory.data();
  return concrete(type, std::move(memory), data);
}

Array literal(const Literal& value) {
  auto* node = new detail::Node;
  detail::NodePtr handle(node);
  node->kind = Node::Kind::literal;
  node->type.dtype = value.dtype;
  node->literal = value;
  return Array(std::move(handle));
}

Array abstract_array(const Type& type) {
  auto* node = new detail::Node;
  detail::NodePtr handle(node);
  node->kind = Node::Kind::abstract;
  node->type = type;
  return Array(std::move(handle));
}

void give_up(const Array& a, const std::source_location& source) {
  Node& node = *a.node();
  node.kind = Node::Kind::donated;
  node.source = source;
  node.owner.reset();
  node.data = nullptr;
}

void check_usable(const Array& a, std::string_view what) {
  if (a.defined() && kind(a) <= Node::Kind::literal) return;
  const std::string user(what);
  if (!a.defined())
    throw TypeError(user + ": an empty Array (default-constructed, never assigned) was used as a value. " +
                    "Assign it first, for example with zeros(shape)." + at_current_source());
  if (kind(a) == Node::Kind::abstract)
    throw TypeError(user + ": an abstract " + to_string(a.type()) + " has a type and no data; it serves lower() only. " +
                    "Pass an Array with elements." + at_current_source());
  if (kind(a) == Node::Kind::donated)
    throw TypeError(user + ": this " + to_string(a.type()) + " was donated to a jitted function" +
                    (at_source(a.node()->source).empty() ? "" : " (jit" + at_source(a.node()->source) + ")") +
                    ", which took its memory. Use the result of that call, or leave the argument out of .donate." +
                    at_current_source());
  if (kind(a) == Node::Kind::no_gradient)
    throw TypeError(user + ": the gradient of an integer or bool value has no numbers (no_gradient of shape " +
                    to_string(a.type().shape) + "). Take the gradient of a float argument." + at_current_source());
}

}  // namespace anadrome
