// Entries of the elementwise operations.
#include "anadrome/ops/elementwise.h"
#include "conformance/op_table.h"

namespace anadrome::conformance {

namespace {

/// Entries of one, two and three operands without attributes.
OpFunction unary(Array (*function)(const Operand&)) {
  return [function](const Arrays& in, const Params&) -> Arrays { return {function(in.at(0))}; };
}
OpFunction binary(Array (*function)(const Operand&, const Operand&)) {
  return [function](const Arrays& in, const Params&) -> Arrays { return {function(in.at(0), in.at(1))}; };
}
OpFunction ternary(Array (*function)(const Operand&, const Operand&, const Operand&)) {
  return [function](const Arrays& in, const Params&) -> Arrays {
    return {function(in.at(0), in.at(1), in.at(2))};
  };
}

void add_functions(OpTable& table) {
  table["exp"] = unary(exp);
  table["exp2"] = unary(exp2);
  table["expm1"] = unary(expm1);
  table["log"] = unary(log);
  table["log2"] = unary(log2);
  table["log10"] = unary(log10);
  table["log1p"] = unary(log1p);
  table["sqrt"] = unary(sqrt);
  table["rsqrt"] = unary(rsqrt);
  table["cbrt"] = unary(cbrt);
  table["sin"] = unary(sin);
  table["cos"] = unary(cos);
  table["tan"] = unary(tan);
  table["asin"] = unary(asin);
  table["acos"] = unary(acos);
  table["atan"] = unary(atan);
  table["sinh"] = unary(sinh);
  table["cosh"] = unary(cosh);
  table["tanh"] = unary(tanh);
  table["asinh"] = unary(asinh);
  table["acosh"] = unary(acosh);
  table["atanh"] = unary(atanh);
  table["logistic"] = unary(logistic);
  table["logaddexp"] = binary(logaddexp);
  table["hypot"] = binary(hypot);
  table["atan2"] = binary(atan2);
  table["pow"] = binary(pow);
  table["pow_int_exponent"] = binary(pow);
  table["integer_pow"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {integer_pow(in.at(0), integer(p, "y"))};
  };
}

void add_special(OpTable& table) {
  table["erf"] = unary(erf);
  table["erfc"] = unary(erfc);
  table["erf_inv"] = unary(erf_inv);
  table["lgamma"] = unary(lgamma);
  table["digamma"] = unary(digamma);
  table["polygamma"] = binary(polygamma);
  table["zeta"] = binary(zeta);
  table["igamma"] = binary(igamma);
  table["igammac"] = binary(igammac);
  table["betainc"] = ternary(betainc);
  table["bessel_i0e"] = unary(bessel_i0e);
  table["bessel_i1e"] = unary(bessel_i1e);
  table["xlogy"] = binary(xlogy);
}

void add_activations(OpTable& table) {
  table["relu"] = unary(relu);
  table["leaky_relu"] = [](const Arrays& in, const Params&) -> Arrays { return {leaky_relu(in.at(0))}; };
  table["elu"] = [](const Arrays& in, const Params&) -> Arrays { return {elu(in.at(0))}; };
  table["silu"] = unary(silu);
  table["gelu_tanh"] = unary(gelu_tanh);
  table["gelu_erf"] = unary(gelu_erf);
  table["softplus"] = unary(softplus);
  table["log_sigmoid"] = unary(log_sigmoid);
  table["sinc"] = unary(sinc);
}

void add_arithmetic(OpTable& table) {
  table["neg"] = unary(neg);
  table["abs"] = unary(abs);
  table["sign"] = unary(sign);
  table["square"] = unary(square);
  table["reciprocal"] = unary(reciprocal);
  table["add"] = binary(operator+);
  table["sub"] = binary(operator-);
  table["mul"] = binary(operator*);
  table["div"] = binary(operator/);
  table["rem"] = binary(rem);
  table["mod"] = binary(mod);
  table["floor_div"] = binary(floor_div);
  table["max"] = binary(max);
  table["min"] = binary(min);
  table["clamp"] = ternary(clamp);
  table["clip"] = [](const Arrays& in, const Params& p) -> Arrays {
    std::optional<Operand> lo, hi;
    if (!p.at("min").is_null()) lo.emplace(integer(p, "min"));
    if (!p.at("max").is_null()) hi.emplace(integer(p, "max"));
    return {clip(in.at(0), lo, hi)};
  };
}

void add_rounding(OpTable& table) {
  table["floor"] = unary(floor);
  table["ceil"] = unary(ceil);
  table["round"] = unary(round);
  table["rint"] = unary(rint);
  table["trunc"] = unary(trunc);
  table["nextafter"] = binary(nextafter);
  table["copysign"] = binary(copysign);
  table["signbit"] = unary(signbit);
  table["is_finite"] = unary(is_finite);
  table["isnan"] = unary(isnan);
  table["isinf"] = unary(isinf);
  table["nan_to_num"] = unary(nan_to_num);
  table["convert"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {convert(in.at(0), dtype_in(p, "to"))};
  };
  table["bitcast"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {bitcast(in.at(0), dtype_in(p, "to"))};
  };
  table["reduce_precision"] = [](const Arrays& in, const Params& p) -> Arrays {
    const int exponent_bits = static_cast<int>(integer(p, "exponent_bits"));
    return {reduce_precision(in.at(0), exponent_bits, static_cast<int>(integer(p, "mantissa_bits")))};
  };
}

void add_logic(OpTable& table) {
  table["eq"] = binary(operator==);
  table["ne"] = binary(operator!=);
  table["lt"] = binary(operator<);
  table["le"] = binary(operator<=);
  table["gt"] = binary(operator>);
  table["ge"] = binary(operator>=);
  table["logical_not"] = unary(logical_not);
  table["bitwise_not"] = unary(bit_not);
  table["population_count"] = unary(population_count);
  table["clz"] = unary(clz);
  table["and"] = binary(operator&);
  table["or"] = binary(operator|);
  table["xor"] = binary(operator^);
  table["shift_left"] = binary(shift_left);
  table["shift_right_arithmetic"] = binary(shift_right_arithmetic);
  table["shift_right_logical"] = binary(shift_right_logical);
  table["where"] = ternary(where);
  table["select_n"] = [](const Arrays& in, const Params&) -> Arrays {
    return {select_n(in.at(0), Arrays(in.begin() + 1, in.end()))};
  };
}

}  // namespace

void add_elementwise(OpTable& table) {
  add_functions(table);
  add_special(table);
  add_activations(table);
  add_arithmetic(table);
  add_rounding(table);
  add_logic(table);
}

}  // namespace anadrome::conformance
