// What transforms share: closed programs, walking equations, masks.
#pragma once
#include "core/builder.h"
#include "core/intern.h"

namespace anadrome {

/// One flag per argument (captures, then inputs) or per output of a program.
using Mask = std::vector<char>;

/// The arguments of a program: captures, then inputs.
std::vector<Type> argument_types(const Program& program);
std::vector<VarId> arguments(const Program& program);

/// The program with its captures turned into leading inputs, interned: what transforms work on.
ProgramPtr closed(const ProgramPtr& program);

/// The program without the equations that no output needs.
Program without_dead_equations(const Program& program);

/// While it lives, what is recorded in the scope's builders carries the origin and the region of `e`, and errors name
/// its line.
class AtEquation {
 public:
  AtEquation(const Program& program, const Equation& e, RegionMap& regions);
  ~AtEquation();
  AtEquation(const AtEquation&) = delete;

 private:
  AtRegion region_;
  std::optional<SetSource> source_;
  std::array<Builder*, 2> builders_{};
  std::array<std::optional<std::uint32_t>, 2> saved_{};
};

/// Records in a fresh builder that has no surroundings and keeps origins: `body(inputs)` gives the outputs. The result
/// is interned.
ProgramPtr build_program(std::string name, std::span<const Type> inputs, const std::shared_ptr<const SourceTable>& sources,
                         const std::function<Arrays(const Arrays&)>& body);

}  // namespace anadrome
