// Attributes: equality, hash and text, written once over the fields of the aggregates.
#include "core/attrs.h"

#include <charconv>
#include <tuple>

#include "anadrome/detail/fields.h"
#include "anadrome/error.h"
#include "core/intern.h"
#include "core/text.h"

namespace anadrome {
namespace {

template <class T> auto tie_fields(const T& value) {
  return detail::with_fields<detail::field_count<T>>(
      value, [](auto, const auto&... field) { return std::tie(field...); });
}

// ---- the parser tells alternatives apart by the names of their fields
// ----------------------------------------

template <class A, class B> constexpr bool same_names() {
  constexpr auto &a = detail::field_names<A>, &b = detail::field_names<B>;
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
template <class... T> constexpr bool names_distinct(const std::variant<T...>*) {
  const auto times = []<class A>() { return (static_cast<int>(same_names<A, T>()) + ...); };
  return ((times.template operator()<T>() == 1) && ...);
}
static_assert(names_distinct(static_cast<const AttrsVariant*>(nullptr)),
              "two alternatives of AttrsVariant have the same field names");

// ---- hash
// ----------------------------------------------------------------------------------------------------

template <class T>
requires(std::is_integral_v<T> || std::is_enum_v<T>) std::uint64_t hash_field(T value) {
  return static_cast<std::uint64_t>(value);
}
std::uint64_t hash_field(const Ints& values) {
  std::uint64_t h = values.size();
  for (std::int64_t v : values) h = mix(h, static_cast<std::uint64_t>(v));
  return h;
}
std::uint64_t hash_field(const std::string& text) {
  return hash_text(text);
}
std::uint64_t hash_field(const Real& number) { return std::bit_cast<std::uint64_t>(number.value); }
std::uint64_t hash_field(const SubProgram& sub) {
  if (!sub.program) return 0;
  if (sub->hash) return sub->hash;
  Program canonical = *sub;
  canonicalize(canonical);
  return canonical.hash;
}
std::uint64_t hash_field(const LateRuleRef& late) {
  return late ? hash_text(late->key()) : 0;
}
template <class T> std::uint64_t hash_field(const std::vector<T>& values) {
  std::uint64_t h = values.size();
  for (const T& v : values) h = mix(h, hash_field(v));
  return h;
}

// ---- text
// ----------------------------------------------------------------------------------------------------

using PrintSub = std::function<std::string(const SubProgram&)>;

std::string field_text(std::int64_t value, const PrintSub&) {
  return std::to_string(value);
}
std::string field_text(bool value, const PrintSub&) {
  return value ? "true" : "false";
}
std::string field_text(DType value, const PrintSub&) {
  return std::string(tag(value));
}
std::string field_text(IndexMode value, const PrintSub&) {
  return std::string(tag(value));
}
std::string field_text(const Real& number, const PrintSub&) {
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number.value).ptr);
}
std::string field_text(const std::string& value, const PrintSub&) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}
std::string field_text(const SubProgram& value, const PrintSub& print_sub) {
  return value.program ? print_sub(value) : "none";
}
std::string field_text(const LateRuleRef& value, const PrintSub& print_sub) {
  return value ? field_text(value->name(), print_sub) : "none";
}
std::string field_text(Save value, const PrintSub&) {
  return std::string(tag(value));
}
template <class List>
requires requires(const List& list) {
  list.begin(), list.size();
}
std::string field_text(const List& values, const PrintSub& print_sub) {
  std::string out = "(";
  for (const auto& v : values) {
    if (out.size() > 1) out += ',';
    out += field_text(v, print_sub);
  }
  return out + ')';
}

// ---- sub-programs
// --------------------------------------------------------------------------------------------

template <class T> void collect(const T&, std::vector<const SubProgram*>&) {}
void collect(const SubProgram& sub, std::vector<const SubProgram*>& out) {
  if (sub.program) out.push_back(&sub);
}
template <class T> void collect(const std::vector<T>& values, std::vector<const SubProgram*>& out) {
  for (const T& v : values) collect(v, out);
}

}  // namespace

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.box_ == b.box_) return true;
  if (!a.box_ || !b.box_ || a.box_->value.index() != b.box_->value.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::remove_cvref_t<decltype(x)>;
        return tie_fields(x) == tie_fields(std::get<T>(b.box_->value));
      },
      a.box_->value);
}

void detail::throw_wrong_attrs(const AttrsBox* box) {
  std::string names;
  if (box)
    std::visit(
        [&](const auto& value) {
          detail::for_each_field_named(value, [&](std::string_view name, const auto&) {
            names += (names.empty() ? "" : ", ") + std::string(name);
          });
        },
        box->value);
  throw InternalError("attributes of another primitive: " + (names.empty() ? "none" : "[" + names + "]"));
}

std::vector<const SubProgram*> sub_programs(const Attrs& attrs) {
  std::vector<const SubProgram*> out;
  if (!attrs.box()) return out;
  std::visit(
      [&](const auto& value) {
        detail::for_each_field(value, [&](const auto& field) { collect(field, out); });
      },
      attrs.box()->value);
  return out;
}

const SubProgram* replacement(const Attrs& attrs) {
  if (!attrs.box()) return nullptr;
  const AttrsVariant& v = attrs.box()->value;
  if (const auto* scan = std::get_if<ReversibleScanAttr>(&v)) return &scan->loop;
  if (const auto* tangent = std::get_if<LoopTangentAttr>(&v)) return &tangent->tangent;
  if (const auto* rewound = std::get_if<RewoundAttr>(&v)) return &rewound->run;
  return nullptr;
}

std::uint64_t hash(const Attrs& attrs) {
  if (!attrs.box()) return 0;
  std::uint64_t h = attrs.box()->value.index();
  std::visit(
      [&](const auto& value) {
        detail::for_each_field(value, [&](const auto& field) { h = mix(h, hash_field(field)); });
      },
      attrs.box()->value);
  return h;
}

std::string to_string(const Attrs& attrs, const std::function<std::string(const SubProgram&)>& print_sub) {
  if (!attrs.box()) return "";
  std::string out;
  std::visit(
      [&](const auto& value) {
        detail::for_each_field_named(value, [&](std::string_view name, const auto& field) {
          out += (out.empty() ? "[" : ", ") + std::string(name) + '=' + field_text(field, print_sub);
        });
      },
      attrs.box()->value);
  return out.empty() ? out : out + ']';
}

}  // namespace anadrome
