// Attributes: compared by value, hashed, printed.
#include "core/attrs.h"

#include <gtest/gtest.h>

#include "anadrome/detail/fields.h"
#include "anadrome/error.h"
#include "core/intern.h"

namespace anadrome {
namespace {

ProgramPtr program(std::string_view text) {
  return std::make_shared<const Program>(parse_program(text));
}

std::string text(const Attrs& attrs) {
  return to_string(attrs, [](const SubProgram&) { return std::string("{...}"); });
}

TEST(Attrs, CompareByValue) {
  EXPECT_EQ(Attrs(AxesAttr{{0, 2}}), Attrs(AxesAttr{{0, 2}}));
  EXPECT_NE(Attrs(AxesAttr{{0, 2}}), Attrs(AxesAttr{{0, 1}}));
  EXPECT_NE(Attrs(AxesAttr{{0}}), Attrs(PermutationAttr{{0}}));
  EXPECT_EQ(Attrs(), Attrs(NoAttrs{}));
  EXPECT_NE(Attrs(), Attrs(AxesAttr{}));
  EXPECT_NE(Attrs(CumulativeAttr{0, true}), Attrs(CumulativeAttr{0, false}));
  EXPECT_NE(Attrs(CollectiveAttr{"i", 3}), Attrs(CollectiveAttr{"j", 3}));
}

TEST(Attrs, EqualOnesHashEqually) {
  EXPECT_EQ(hash(Attrs(AxesAttr{{0, 2}})), hash(Attrs(AxesAttr{{0, 2}})));
  EXPECT_NE(hash(Attrs(AxesAttr{{0, 2}})), hash(Attrs(AxesAttr{{2, 0}})));
  EXPECT_NE(hash(Attrs(AxesAttr{{0}})), hash(Attrs(PermutationAttr{{0}})));
  EXPECT_NE(hash(Attrs(SliceAttr{{1}, {}, {}})), hash(Attrs(SliceAttr{{}, {1}, {}})));
  EXPECT_NE(hash(Attrs(CollectiveAttr{"i", 3})), hash(Attrs(CollectiveAttr{"j", 3})));
}

TEST(Attrs, SubProgramsCompareByStructure) {
  const ProgramPtr a = program("{ lambda ; a:f32[] . let b:f32[] = sin a in (b) }");
  const ProgramPtr b = program("{ lambda ; x:f32[] . let y:f32[] = sin x in (y) }");
  const ProgramPtr c = program("{ lambda ; a:f32[] . let b:f32[] = cos a in (b) }");
  ASSERT_NE(a, b);
  EXPECT_EQ(Attrs(CallAttr{"f", {a, nullptr}}), Attrs(CallAttr{"f", {b, nullptr}}));
  EXPECT_EQ(hash(Attrs(CallAttr{"f", {a, nullptr}})), hash(Attrs(CallAttr{"f", {b, nullptr}})));
  EXPECT_NE(Attrs(CallAttr{"f", {a, nullptr}}), Attrs(CallAttr{"f", {c, nullptr}}));
  EXPECT_NE(Attrs(CallAttr{"f", {a, nullptr}}), Attrs(CallAttr{"g", {a, nullptr}}));
}

TEST(Attrs, FindTheirSubPrograms) {
  const ProgramPtr a = program("{ lambda ; . let in () }");
  const Attrs call(CallAttr{"f", {a, nullptr}});
  ASSERT_EQ(sub_programs(call).size(), 1u);
  EXPECT_EQ(sub_programs(call)[0]->program, a);
  EXPECT_TRUE(sub_programs(Attrs(AxesAttr{{0}})).empty());
  EXPECT_TRUE(sub_programs(Attrs()).empty());
}

TEST(Attrs, PrintTheirFieldsByName) {
  EXPECT_EQ(text(Attrs()), "");
  EXPECT_EQ(text(Attrs(CumulativeAttr{-1, true})), "[axis=-1, reverse=true]");
  EXPECT_EQ(text(Attrs(SliceAttr{{0, 1}, {2, 3}, {}})), "[start=(0,1), limit=(2,3), strides=()]");
  EXPECT_EQ(text(Attrs(TypeAttr{bf16, {2}})), "[dtype=bf16, shape=(2)]");
  EXPECT_EQ(text(Attrs(CollectiveAttr{"a \"b\" \\", 3})), "[axis_name=\"a \\\"b\\\" \\\\\", size=3]");
  const Attrs call(CallAttr{"f", {program("{ lambda ; . let in () }"), nullptr}});
  EXPECT_EQ(text(call), "[name=\"f\", body={...}]");
}

TEST(Attrs, OfAnotherPrimitiveAreRefused) {
  EXPECT_THROW(static_cast<void>(Attrs().as<AxesAttr>()), InternalError);
  EXPECT_THROW(static_cast<void>(Attrs(AxisAttr{0}).as<AxesAttr>()), InternalError);
}

// ---- every alternative of the set, with values in all fields
// ----------------------------------------------------

void fill(std::int64_t& field) {
  field = -7;
}
void fill(bool& field) {
  field = true;
}
void fill(DType& field) {
  field = u16;
}
void fill(IndexMode& field) {
  field = IndexMode::fill_or_drop;
}
void fill(Save& field) {
  field = Save::dots;
}
void fill(LateRuleRef&) {}  // a rule that is not recorded yet has no text
void fill(Ints& field) {
  field = {3, -1, 4, 1, 5, 9};
}
void fill(std::string& field) {
  field = "a\n\"b\"";
}
void fill(SubProgram& field) {
  field = {program("{ lambda ; a:f32[] . let b:f32[] = sin a in (b) }"), nullptr};
}
void fill(Real& field) {
  field.value = -1.5e-7;
}
template <class T> void fill(std::vector<T>& field) {
  field.resize(2);
  for (T& element : field) fill(element);
}

template <class T> void expect_read_back() {
  T value{};
  detail::for_each_field(value, [](auto& field) { fill(field); });
  Program p;
  p.equations.push_back({find_primitive("sin"), Attrs(value), {}, {}, 0, 0});
  const Program back = parse_program(to_string(p));
  EXPECT_EQ(back.equations.at(0).attrs, p.equations[0].attrs) << to_string(p) << to_string(back);
  EXPECT_EQ(hash(back.equations[0].attrs), hash(p.equations[0].attrs));
}
template <class... T> void expect_all_read_back(const std::variant<T...>*) {
  (expect_read_back<T>(), ...);
}

TEST(Attrs, EveryAlternativeReadsBack) {
  expect_all_read_back(static_cast<const AttrsVariant*>(nullptr));
}

TEST(Attrs, EmptyListsReadBack) {
  Program p;
  p.equations.push_back({find_primitive("sin"), Attrs(DotAttr{}), {}, {}, 0, 0});
  EXPECT_EQ(parse_program(to_string(p)).equations.at(0).attrs, Attrs(DotAttr{}));
}

}  // namespace
}  // namespace anadrome
