// Recording equations and captures.
#include "core/builder.h"

#include "core/intern.h"

namespace anadrome {

Builder::Builder(std::string name, Builder* parent)
    : tag_(std::make_shared<BuilderTag>()), parent_(parent), sources_(std::make_shared<SourceTable>()) {
  constexpr std::size_t bytes = 1000;  // malloc gives up to a kilobyte fastest
  program_.types.reserve(bytes / sizeof(Type));
  program_.equations.reserve(bytes / sizeof(Equation));
  sources_->reserve(bytes / sizeof(std::source_location) / 4);
  tag_->builder = this;
  tag_->name = std::move(name);
}
Builder::~Builder() { close(); }

VarId Builder::new_var(const Type& type) {
  program_.types.push_back(type);
  return static_cast<VarId>(program_.types.size() - 1);
}

Array Builder::variable(VarId id, const Type& type) {
  auto* node = new detail::Node;
  detail::NodePtr handle(node);
  node->kind = Node::Kind::variable;
  node->type = type;
  node->tag = tag_;
  node->id = id;
  node->source = current_source();
  return Array(std::move(handle));
}

Array Builder::input(const Type& type) {
  const VarId id = new_var(type);
  program_.inputs.push_back(id);
  return variable(id, type);
}

bool Builder::is_ancestor(const Builder* other) const {
  for (const Builder* b = parent_; b; b = b->parent_)
    if (b == other) return true;
  return false;
}

Atom Builder::import(const Array& a) {
  if (!a.defined()) check_usable(a, name());
  const Node& node = *a.node();
  switch (node.kind) {
    case Node::Kind::literal: return Atom::number(node.literal);
    case Node::Kind::variable:
      if (node.tag == tag_) return Atom::variable(node.id);
      break;
    case Node::Kind::concrete: break;
    default: check_usable(a, name());
  }
  return Atom::variable(capture(a));
}

VarId Builder::capture(const Array& a) {
  const Node& node = *a.node();
  Array outer = a;
  if (node.kind == Node::Kind::variable) {
    const Builder* owner = node.tag->builder;
    if (!owner || !is_ancestor(owner)) throw_foreign(a);
  }
  const bool in_parent = node.kind == Node::Kind::variable && node.tag->builder.load() == parent_;
  if (parent_ && !in_parent) {
    const Atom above = parent_->import(a);
    outer = parent_->variable(above.var, node.type);
  }
  const Node& o = *outer.node();
  const bool is_var = o.kind == Node::Kind::variable;
  const auto key = is_var ? std::pair<const void*, VarId>(o.tag.get(), o.id)
                          : std::pair<const void*, VarId>(o.data, static_cast<VarId>(o.type.rank()));
  auto it = capture_of_.find(key);
  if (it != capture_of_.end() && program_.types[it->second] == o.type) return it->second;
  const VarId id = new_var(o.type);
  program_.captures.push_back(id);
  captures_.push_back(std::move(outer));
  capture_of_[key] = id;
  return id;
}

void Builder::throw_foreign(const Array& a) const {
  const Node& node = *a.node();
  const std::string made = at_source(node.source);
  if (!node.tag->builder.load())
    throw TraceError("a value of type " + to_string(node.type) + " recorded inside '" + node.tag->name + "'" +
                     (made.empty() ? "" : " (made" + made + ")") + " is used in '" + name() +
                     "' after that function has ended. Return it from the function instead of storing it elsewhere." +
                     at_current_source());
  throw TraceError("a value of type " + to_string(node.type) + " being recorded inside '" + node.tag->name + "'" +
                   (made.empty() ? "" : " (made" + made + ")") + " is used in '" + name() +
                   "', which is not nested in it. Values of a function being recorded can be used only inside it, on "
                   "the same thread." +
                   at_current_source());
}

Types Builder::result_types(const Prim& prim, std::span<const Array> operands, const Attrs& attrs) {
  TypePointers in;
  for (const Array& x : operands) {
    if (!x.defined() || kind(x) > Node::Kind::literal) check_usable(x, prim.name);
    in.add(x.node()->type);
  }
  return need<&Prim::type>(prim)({prim, attrs, in});
}

Equation& Builder::append(const Prim& prim, std::span<const Array> operands, const Attrs& attrs) {
  if (!tag_->builder.load()) throw InternalError("recording '" + std::string(prim.name) + "' in the closed '" + name() + "'");
  Equation& e = program_.equations.emplace_back();
  e.prim = &prim;
  e.attrs = attrs;
  e.region = region;
  if (origin) {
    e.origin = *origin;
  } else {
    e.origin = static_cast<std::uint32_t>(sources_->size());
    sources_->push_back(current_source());
  }
  for (const Array& x : operands) e.operands.push_back(import(x));
  return program_.equations.back();
}

Arrays Builder::record(const Prim& prim, std::span<const Array> operands, const Attrs& attrs) {
  const Types types = result_types(prim, operands, attrs);
  Equation& e = append(prim, operands, attrs);
  Arrays out;
  out.reserve(types.size());
  for (const Type& t : types) {
    const VarId id = new_var(t);
    e.results.push_back(id);
    out.push_back(variable(id, t));
  }
  return out;
}

Array Builder::record1(const Prim& prim, std::span<const Array> operands, const Attrs& attrs) {
  const Types types = result_types(prim, operands, attrs);
  Equation& e = append(prim, operands, attrs);
  const VarId id = new_var(types[0]);
  e.results.push_back(id);
  return variable(id, types[0]);
}

Array Builder::outer_value(VarId id) const {
  for (std::size_t i = 0; i < captures_.size(); ++i)
    if (program_.captures[i] == id) return captures_[i];
  for (std::size_t i = 0; i < bound_.size(); ++i)
    if (program_.inputs[i] == id) return bound_[i];
  return {};
}

Recording Builder::finish(std::span<const Array> outputs) {
  for (const Array& y : outputs) program_.outputs.push_back(import(y));
  close();
  program_.sources = std::move(sources_);
  canonicalize(program_);
  return {std::make_shared<Program>(std::move(program_)), std::move(captures_)};
}

}  // namespace anadrome
