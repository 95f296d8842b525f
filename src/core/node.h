// The node behind an Array.
#pragma once
#include <atomic>
#include <memory>
#include <source_location>

#include "anadrome/array.h"
#include "anadrome/program.h"
#include "core/memory.h"

namespace anadrome {

class Builder;

/// Outlives its builder, so that a variable can tell that the function that made it has ended.
struct BuilderTag {
  std::atomic<Builder*> builder;  // null once closed
  std::string name;
};

namespace detail {
struct Node {
  enum class Kind : std::uint8_t { concrete, variable, literal, abstract, no_gradient, donated };
  mutable std::atomic<std::uint32_t> references{0};
  Kind kind = Kind::concrete;
  Type type;
  // concrete: row-major elements, 64-byte aligned unless borrowed
  BufferPtr owner;
  void* data = nullptr;
  // variable
  std::shared_ptr<BuilderTag> tag;
  VarId id = 0;
  std::source_location source;  // of a donated array: the jit that it was given to
  // literal
  Literal literal;

  static void* operator new(std::size_t bytes) { return allocate_node(bytes); }
  static void operator delete(void* memory) { free_node(memory); }
};
}  // namespace detail

using detail::Node;
using Arrays = std::vector<Array>;

/// A concrete array with uninitialised elements; fill them through `mutable_data` before anyone else sees the array.
Array uninitialized(const Type& type);
Array concrete(const Type& type, BufferPtr owner, void* data);
/// A scalar literal of a program.
Array literal(const Literal& value);
/// An array without data: it has a type, for `lower`.
Array abstract_array(const Type& type);

inline Node::Kind kind(const Array& a) { return a.node()->kind; }
inline bool is_variable(const Array& a) { return a.defined() && kind(a) == Node::Kind::variable; }
inline bool is_literal(const Array& a) { return a.defined() && kind(a) == Node::Kind::literal; }
inline bool is_concrete(const Array& a) { return a.defined() && kind(a) == Node::Kind::concrete; }
inline const void* data(const Array& a) { return a.node()->data; }
inline void* mutable_data(Array& a) { return a.node()->data; }

/// Takes the memory of a concrete array away: a jitted function has used it. Every later use of any of its handles
/// throws TypeError.
void give_up(const Array& a, const std::source_location& source);

/// Throws TypeError when `a` is an empty handle, abstract, donated, or a no_gradient value; `what` names the user.
void check_usable(const Array& a, std::string_view what);

}  // namespace anadrome
