// Memory of a run: where every value of a program lives.
#pragma once
#include <optional>
#include <utility>

#include "core/prim.h"

namespace anadrome {

enum class Memory : std::uint8_t { argument, output, arena };
struct Place {
  Memory memory = Memory::arena;
  std::uint32_t index = 0;   // of the argument or output
  std::uint64_t offset = 0;  // in the arena, or in an output whose value is made later
};

/// What the compiled form of an equation needs beyond the rules of its primitive.
struct StepNeeds {
  std::optional<std::size_t> scratch;  // bytes of scratch memory; none: what the rule says
  bool apart = false;                  // its results must not lie over its operands
  /// Of blocked_steps and loops: operands and the results that may lie over them.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over = {};
};

struct Plan {
  /// An output that is made elsewhere, or is a number: copied after the last equation.
  struct Copy {
    Atom from;
    std::uint32_t output;
  };
  std::vector<Place> place;            // by variable; captures, then inputs, are the arguments
  std::vector<bool> elided;            // by equation: its result is its operand's memory, nothing to do
  std::vector<Place> scratch;          // by equation: where its scratch memory is
  std::vector<Copy> copies;
  std::vector<std::int64_t> donor;  // by output: the argument whose memory it takes, or -1
  std::vector<bool> written;        // by argument: a run writes over it
  std::uint64_t arena_bytes = 0;
};

/// Plans a run in program order. `donated`: by argument; missing ones are not. `needs`: by equation,
/// or empty.
Plan plan_memory(const Program& program, std::span<const bool> donated = {}, std::span<const StepNeeds> needs = {});

}  // namespace anadrome
