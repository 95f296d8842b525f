// The tests; or, for tools/mutation_proof.py, mutants: `--mutants` lists them, `--mutate=tanh` and
// `--mutate=tanh.jvp.negate` try those of a primitive, or one, and print a line for each.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "rules/mutate.h"

namespace anadrome::testing {
namespace {

bool matches(const Mutant& mutant, std::string_view wanted) {
  return wanted.find('.') == wanted.npos ? mutant.row->prim->name == wanted : mutant.name() == wanted;
}

int list() {
  for (const Mutant& m : all_mutants()) std::printf("%s\n", m.name().c_str());
  return 0;
}

int mutate(std::string_view wanted) {
  for (const Mutant& m : all_mutants()) {
    if (!matches(m, wanted)) continue;
    const Verdict verdict = try_mutant(m);
    std::printf("%s\t%s\t%s\n", m.name().c_str(), std::string(name(verdict.outcome)).c_str(),
                verdict.by.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace anadrome::testing

int main(int argc, char** argv) {
  constexpr const char* prefix = "--mutate=";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutants") == 0) return anadrome::testing::list();
    if (std::strncmp(argv[i], prefix, std::strlen(prefix)) == 0)
      return anadrome::testing::mutate(argv[i] + std::strlen(prefix));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
