// What functions with derivative rules of their own share.
#pragma once
#include "transforms/sub_programs.h"

namespace anadrome {

/// By value: whether it can have a derivative.
Mask differentiable(std::span<const Type> types);
/// The types that can have a derivative.
Types differentiable_types(std::span<const Type> types);
/// Of `values`, those marked.
Arrays picked(const Mask& mask, std::span<const Array> values);

/// Throws RuleError when one of the first `consts` operands, which a function or its rules capture, has a tangent: the rule
/// does not say how the function depends on it.
void refuse_captured_tangents(const JvpIn& in, std::size_t consts, const std::string& name);

/// The attributes of a late rule, batched: its programs are batched when they are asked for.
std::string batched_key(const LateRule& rule, std::span<const int> axis, std::int64_t size, std::string_view axis_name);

/// The results with the batch axis in front where they are marked: `v` inlined on `x`.
Arrays batched_results(const ProgramPtr& program, std::span<const Array> x, const std::vector<int>& out_axis, const Mask& batched,
                       std::int64_t size, const SourceTable* sources);

}  // namespace anadrome
