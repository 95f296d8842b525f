// Random programs: inputs, outputs, calls, and transforms of them.
#include "support/fuzz_maker.h"

#include <algorithm>

#include "anadrome/detail/functional.h"
#include "anadrome/error.h"

namespace anadrome::testing {
namespace {

constexpr std::int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 64, 65};

}  // namespace

FuzzMaker::FuzzMaker(std::uint64_t seed) : random_(seed), builder_("random") {
  // Few extents, so that shapes meet; now and then one of 0.
  for (int i = 0; i < 3; ++i) dims_.push_back(extents[below(15)]);
  dims_.push_back(extents[below(5)]);
  if (chance(6)) dims_.push_back(0);
  const int draw = below(100);
  main_ = draw < 50 ? f32 : draw < 80 ? f64 : draw < 90 ? bf16 : f16;
}

Shape FuzzMaker::any_shape(int rank) {
  Shape shape;
  while (shape.rank() < rank) shape.push_back(dimension());
  while (shape.elements() > most_elements / 2) shape.erase(0);
  return shape;
}

DType FuzzMaker::any_dtype() {
  constexpr DType all[] = {b1, i8, i16, i32, i64, u8, u16, u32, u64, bf16, f16, f32, f64};
  return all[below(13)];
}

Array FuzzMaker::called() {
  if (depth_ > 1) return {};
  std::vector<Type> inputs;
  Arrays operands;
  for (int n = 1 + below(3); n > 0; --n) {
    operands.push_back(pick_ranked(0));
    inputs.push_back(operands.back().type());
  }
  FuzzMaker inner(random_());
  inner.main_ = main_;
  inner.dims_ = dims_;
  inner.depth_ = depth_ + 1;
  const auto body = std::make_shared<const Program>(inner.record(inputs, 2 + below(4)));
  const Arrays out = op::call({"inner", {body, body->sources}}, operands);
  for (std::size_t i = 1; i < out.size(); ++i) values_.push_back(out[i]);
  return out[0];
}

Program FuzzMaker::record(const std::vector<Type>& inputs, int equations) {
  for (const Type& t : inputs) values_.push_back(builder_.input(t));
  const EnterScope scope(Scope{&builder_});
  for (int made = 0, tried = 0; made < equations && tried < 20 * equations; ++tried) {
    const std::size_t before = values_.size();
    Array value;
    try {
      value = next();
    } catch (const TypeError&) {
      // The operation does not take this dtype or shape: draw another one.
    }
    if (!value.defined() || value.size() > most_elements) {
      values_.resize(before);
      continue;
    }
    values_.push_back(value);
    ++made;
  }
  Arrays outputs;
  for (int n = 1 + below(4); n > 0; --n) outputs.push_back(pick_ranked(0));
  outputs.push_back(chance(5) ? op::number(below(3), f32) : values_.back());
  return *builder_.finish(outputs).program;
}

Program FuzzMaker::make() {
  std::vector<Type> inputs;
  for (int n = 2 + below(3); n > 0; --n) inputs.push_back(Type{main_, any_shape(below(4))});
  inputs.push_back(Type{chance(50) ? i32 : any_dtype(), any_shape(below(3))});
  if (chance(50)) inputs.push_back(Type{any_dtype(), any_shape(below(3))});
  return record(inputs, 2 + below(chance(8) ? 40 : 9));
}

namespace {

using functional::Function;
using functional::Mask;

/// Numbers with ties and simple fractions, some of them special, by the dtype and the draw.
Array random_input(const Type& type, std::mt19937_64& random) {
  constexpr double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e30, -1e30, 1e-30, 1e-40, 0.5, 3, -2};
  constexpr double integers[] = {0, 1, -1, 127, -128, 255, 32767, 2147483647.0, -2147483648.0, 100000};
  const int kind = static_cast<int>(random() % 10);
  Array out = uninitialized(type);
  auto* to = static_cast<char*>(mutable_data(out));
  for (std::int64_t i = 0; i < type.elements(); ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    double x = kind < 6 ? 4 * unit - 2 : kind < 8 ? std::floor(9 * unit) / 2 - 2 : 20 * unit - 10;
    if (!is_float(type.dtype)) x = std::floor(kind < 7 ? 10 * unit - 2 : 200 * unit - 100);
    if (is_unsigned(type.dtype)) x = std::fabs(x);
    if (kind == 9 && random() % 6 == 0)
      x = is_float(type.dtype) ? special[random() % 14] : integers[random() % 10];
    if (is_bool(type.dtype)) x = random() % 2 ? 1 : 0;
    const Literal value = is_float(type.dtype) || is_bool(type.dtype)
                              ? Literal::of(x, type.dtype)
                              : Literal::of_integer(static_cast<std::int64_t>(x), type.dtype);
    value.store(to + i * static_cast<std::int64_t>(item_size(type.dtype)));
  }
  return out;
}

Arrays random_inputs(const Program& program, std::mt19937_64& random) {
  Arrays out;
  for (const Type& t : program.input_types()) out.push_back(random_input(t, random));
  return out;
}

Function replay(const Program& program) {
  return [program](const Arrays& x) { return inline_program(program, {}, x); };
}

/// The sum of the tanh of all float outputs, in f32 or f64.
Function number_of(const Function& f, DType dtype) {
  return [f, dtype](const Arrays& x) {
    Array sum = op::number(0, dtype);
    for (const Array& y : f(x)) {
      if (!is_float(y.dtype())) continue;
      Ints axes;
      for (int k = 0; k < y.rank(); ++k) axes.push_back(k);
      sum = op::add(sum, op::reduce_sum(op::tanh(op::convert(y, dtype)), axes));
    }
    return Arrays{sum};
  };
}

/// Which inputs carry derivatives.
Mask float_inputs(const Arrays& x) {
  Mask out;
  for (const Array& a : x) out.push_back(is_float(a.dtype()));
  return out;
}

Function gradient_of(const Function& number) {
  return [number](const Arrays& x) {
    return functional::grad(number, x, float_inputs(x), true, {"grad", {}, {}}).grads;
  };
}

Function tangent_of(const Function& f) {
  return [f](const Arrays& x) {
    Arrays t;
    for (const Array& a : x) t.push_back(is_float(a.dtype()) ? a : Array());
    Arrays out;
    const functional::JvpResult result = functional::jvp(f, x, t, {"jvp", {}, {}});
    for (std::size_t i = 0; i < result.t.size(); ++i)
      out.push_back(is_float(result.y[i].dtype()) ? result.t[i] : result.y[i]);
    return out;
  };
}

Function jitted(const Function& f) {
  return [f](const Arrays& x) {
    return functional::call_recorded(functional::record_for_jit(f, x, {"inner", {}, {}}), x, "inner");
  };
}

/// Maps every second input, two or three at a time; the batch axis is the first or the last.
struct Batched {
  Function f;
  std::vector<int> axes;
  Arrays inputs;
};
Batched batched(const Function& f, const Arrays& x, std::mt19937_64& random) {
  Batched out;
  const std::int64_t size = 2 + static_cast<std::int64_t>(random() % 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool mapped = i == 0 || random() % 2;
    const bool last = random() % 2;
    Type type = x[i].type();
    out.axes.push_back(mapped ? (last ? type.rank() : 0) : functional::not_batched);
    if (mapped) type.shape.insert(static_cast<std::size_t>(last ? type.rank() : 0), size);
    out.inputs.push_back(random_input(type, random));
  }
  out.f = [f, axes = out.axes](const Arrays& in) { return functional::vmap(f, in, axes); };
  return out;
}

Program transformed(const Program& plain, Arrays& inputs, std::mt19937_64& random) {
  const Function f = replay(plain);
  const DType number = random() % 2 ? f32 : f64;
  const auto record = [&](const Function& g) {
    return functional::make_program(g, inputs, {"random", {}, {}});
  };
  switch (random() % 8) {
    case 0: case 1: case 2: return record(gradient_of(number_of(f, number)));
    case 3: return record(gradient_of(number_of(jitted(f), number)));
    case 4: return record(tangent_of(f));
    case 5: return record(tangent_of(gradient_of(number_of(f, number))));
    default: {
      const Batched b = batched(random() % 2 ? f : gradient_of(number_of(f, number)), inputs, random);
      inputs = b.inputs;
      return record(b.f);
    }
  }
}

}  // namespace

FuzzCase fuzz_case(std::uint64_t seed) {
  FuzzCase out;
  out.structured = seed % 2 != 0;
  out.program = FuzzMaker(seed).make();
  std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15ull);
  out.inputs = random_inputs(out.program, random);
  if (seed % 10 >= 3) return out;
  const Arrays plain = out.inputs;
  try {
    Program program = transformed(out.program, out.inputs, random);
    if (program.captures.empty()) return {std::move(program), out.inputs, out.structured};
  } catch (const Error&) {
    // No derivative exists, or no input carries one: the function itself is compared.
  }
  out.inputs = plain;
  return out;
}

}  // namespace anadrome::testing
