// The lists of a scan, and which of them carry derivatives.
#pragma once
#include "core/attrs.h"
#include "transforms/common.h"

namespace anadrome {

/// The parts of the lists of operands, body inputs, results and body outputs.
struct ScanParts {
  const ScanAttr& attr;
  std::size_t consts, carries, operands, results;

  ScanParts(const ScanAttr& a, std::size_t operand_count, std::size_t result_count)
      : attr(a), consts(static_cast<std::size_t>(a.consts)), carries(static_cast<std::size_t>(a.carries)),
        operands(operand_count), results(result_count) {}
  explicit ScanParts(const Equation& e) : ScanParts(e.as<ScanAttr>(), e.operands.size(), e.results.size()) {}
  const ProgramPtr& body() const { return attr.body.program; }
  std::size_t slices() const { return consts + carries; }  // the first operand that is read slice by slice
  bool is_const(std::size_t operand) const { return operand < consts; }
  bool is_carry(std::size_t operand) const { return operand >= consts && operand < slices(); }
};

/// The type of one slice, and of `length` of them.
Type slice_of(Type type);
Type stack_of(Type type, std::int64_t length);
/// A loop like `like` with another body.
ScanAttr scan_attributes(const ScanAttr& like, ProgramPtr body, std::size_t consts, std::size_t carries);

/// Which operands have a tangent: those marked, and carries that get one in some step.
Mask active_operands(const ScanParts& p, Mask marked);
/// Outputs that must have a tangent: the active carries.
Mask active_carries(const ScanParts& p, const Mask& active);

}  // namespace anadrome
