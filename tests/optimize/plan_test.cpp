// The memory plan: a run is replayed on memory that remembers whose bytes it holds.
#include "optimize/plan.h"

#include <gtest/gtest.h>

#include <map>

#include "optimize/offsets.h"
#include "optimize/passes.h"
#include "support/random_program.h"

namespace anadrome {
namespace {

/// Every byte holds the name of a value; values of the same bits share a name.
class Replay {
 public:
  Replay(const Program& program, const Plan& plan) : program_(program), plan_(plan), name_(program.types.size()) {}

  void run() {
    std::uint32_t argument = 0;
    for (const auto* list : {&program_.captures, &program_.inputs})
      for (VarId v : *list) {
        name_[v] = v;
        write({Memory::argument, argument++, 0}, program_.type(v).bytes(), v);
      }
    for (std::size_t i = 0; i < program_.equations.size(); ++i) step(program_.equations[i], i);
    for (const Plan::Copy& c : plan_.copies) {
      if (c.from.is_var()) read(c.from.var, "a copied output");
      write(output(c.output), program_.type(c.from).bytes(), c.from.is_var() ? name_[c.from.var] : literal_name);
    }
    check_end();
  }

 private:
  static constexpr VarId literal_name = ~0u, garbage = ~0u - 1;
  using Bytes = std::vector<VarId>;

  Place output(std::uint32_t k) const {
    if (plan_.donor[k] >= 0) return {Memory::argument, static_cast<std::uint32_t>(plan_.donor[k]), 0};
    return {Memory::output, k, 0};
  }
  Place resolved(const Place& p) const {
    if (p.memory != Memory::output) return p;
    Place out = output(p.index);
    out.offset += p.offset;
    return out;
  }
  Bytes& memory(const Place& p) { return memory_[{p.memory, p.index}]; }

  void write(const Place& at, std::uint64_t bytes, VarId name) {
    const Place p = resolved(at);
    if (p.memory == Memory::arena) {
      EXPECT_LE(p.offset + bytes, plan_.arena_bytes);
    } else if (at.memory == Memory::output) {
      EXPECT_LE(at.offset + bytes, program_.type(program_.outputs[at.index]).bytes());
    }
    Bytes& to = memory(p);
    if (to.size() < p.offset + bytes) to.resize(p.offset + bytes, garbage);
    std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(p.offset), bytes, name);
  }
  void expect(const Place& at, std::uint64_t bytes, VarId name, const char* what) {
    const Place p = resolved(at);
    const Bytes& from = memory(p);
    ASSERT_GE(from.size(), p.offset + bytes) << what << " was never written\n" << program_;
    for (std::uint64_t b = 0; b < bytes; ++b)
      ASSERT_EQ(from[p.offset + b], name) << what << " was overwritten\n" << program_;
  }
  void read(VarId v, const char* what) { expect(plan_.place[v], program_.type(v).bytes(), name_[v], what); }

  void step(const Equation& e, std::size_t i) {
    if (plan_.elided[i]) {
      name_[e.results[0]] = name_[e.operands[0].var];
      return;
    }
    if (e.prim->scratch) {
      std::vector<Type> in, out;
      for (const Atom& a : e.operands) in.push_back(program_.type(a));
      for (VarId v : e.results) out.push_back(program_.type(v));
      write(plan_.scratch[i], e.prim->scratch({e.attrs, in, out}), garbage);
    }
    for (const Atom& a : e.operands)
      if (a.is_var()) read(a.var, "an operand");
    for (std::size_t r = 0; r < e.results.size(); ++r) {
      check_overlap(e, r);
      name_[e.results[r]] = e.results[r];
      write(plan_.place[e.results[r]], program_.type(e.results[r]).bytes(), e.results[r]);
    }
    for (VarId v : e.results) read(v, "a result");
  }

  /// A result stands on an operand only where the primitive allows it.
  void check_overlap(const Equation& e, std::size_t r) {
    const Place to = resolved(plan_.place[e.results[r]]);
    const std::uint64_t to_bytes = program_.type(e.results[r]).bytes();
    for (std::size_t k = 0; k < e.operands.size(); ++k) {
      if (!e.operands[k].is_var()) continue;
      const Place from = resolved(plan_.place[e.operands[k].var]);
      const std::uint64_t bytes = program_.type(e.operands[k].var).bytes();
      if (from.memory != to.memory || from.index != to.index) continue;
      if (from.offset + bytes <= to.offset || to.offset + to_bytes <= from.offset) continue;
      EXPECT_TRUE(r == 0 && from.offset == to.offset && bytes == to_bytes &&
                  (e.prim->work == Work::elementwise || e.prim->in_place == static_cast<int>(k)))
          << e.prim->name << "\n" << program_;
    }
  }

  void check_end() {
    for (std::uint32_t k = 0; k < program_.outputs.size(); ++k) {
      const Atom& a = program_.outputs[k];
      expect(output(k), program_.type(a).bytes(), a.is_var() ? name_[a.var] : literal_name, "an output");
    }
    std::uint32_t argument = 0;
    for (const auto* list : {&program_.captures, &program_.inputs})
      for (VarId v : *list) {
        if (!plan_.written[argument]) expect({Memory::argument, argument, 0}, program_.type(v).bytes(), v, "an argument");
        ++argument;
      }
  }

  const Program& program_;
  const Plan& plan_;
  std::vector<VarId> name_;
  std::map<std::pair<Memory, std::uint32_t>, Bytes> memory_;
};

TEST(Plan, RandomProgramsKeepEveryLiveValue) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const Program p = testing::random_program(seed, 25);
    const Program o = optimize(p);
    for (const Program* program : {&p, &o})
      for (unsigned mask : {0u, 1u, 0x2au, 0x3fu}) {
        bool donated[6];
        for (int i = 0; i < 6; ++i) donated[i] = (mask >> i & 1) != 0;
        const Plan plan = plan_memory(*program, donated);
        Replay(*program, plan).run();
        for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(donated[i] || !plan.written[i]);
        if (::testing::Test::HasFatalFailure() || ::testing::Test::HasNonfatalFailure()) return;
      }
  }
}

Plan plan_of(const std::string& text, std::vector<int> donated = {}) {
  const auto flags = std::make_unique<bool[]>(donated.size());
  for (std::size_t i = 0; i < donated.size(); ++i) flags[i] = donated[i] != 0;
  const Program p = parse_program(text);
  return plan_memory(p, {flags.get(), donated.size()});
}
const std::string swap = "transpose[perm=(1,0)] ";

TEST(Plan, ChainsLiveInTheOutput) {
  EXPECT_EQ(plan_of("{ lambda ; a:f32[1000] . let b:f32[1000] = sin a c:f32[1000] = mul b a d:f32[10,100] = "
                    "reshape[shape=(10,100)] c in (d) }")
                .arena_bytes,
            0u);
}

TEST(Plan, ArenaHoldsWhatIsAliveTogether) {
  const std::string m = ":f32[64,64] = " + swap;
  EXPECT_EQ(plan_of("{ lambda ; a:f32[64,64] . let b" + m + "a c" + m + "b in (c) }").arena_bytes, 16384u);
  EXPECT_EQ(plan_of("{ lambda ; a:f32[64,64] . let b" + m + "a c" + m + "b d" + m + "c e" + m + "d in (e) }")
                .arena_bytes,
            32768u);
}

TEST(Plan, OutputsHoldOtherValuesUntilTheirOwnIsMade) {
  // b and c live one after another in the memory of output e, which is made last.
  const std::string large = "[64,64] = ";
  const std::string text = "{ lambda ; a:f32[64,64] . let b:f32" + large + swap + "a s:f32[64] = reduce_sum[axes=(0)] b c:f32" + large +
                           swap + "a t:f32[64] = reduce_sum[axes=(1)] c e:f32" + large + "broadcast_in_dim[shape=(64,64), dims=(1)] s in (e, t) }";
  const Plan plan = plan_of(text);
  EXPECT_LE(plan.arena_bytes, 256u) << "s alone";
  // The memory of a donated argument is not given to anything else.
  EXPECT_GE(plan_of(text, {1}).arena_bytes, 16384u);
}

TEST(Plan, ReusesMemoryInOrder) {
  std::string text = "{ lambda ; a:f32[16,16] . let v0:f32[16,16] = " + swap + "a";
  for (int i = 1; i < 50; ++i)
    text += " v" + std::to_string(i) + ":f32[16,16] = " + swap + "v" + std::to_string(i - 1);
  EXPECT_EQ(plan_of(text + " in (v49) }").arena_bytes, 2048u);
}

TEST(Plan, DonatedArgumentsHoldOutputs) {
  const std::string step = "{ lambda ; p:f32[8] g:f32[8] . let u:f32[8] = mul g 0.5:f32 q:f32[8] = sub p u in (q) }";
  Plan plan = plan_of(step, {1, 0});
  EXPECT_EQ(plan.donor, (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(plan.copies.empty());
  EXPECT_EQ(plan.arena_bytes, 64u);
  plan = plan_of(step);
  EXPECT_EQ(plan.donor, (std::vector<std::int64_t>{-1}));
  EXPECT_EQ(plan.arena_bytes, 0u);
  // A swap takes no copy; an output of another shape takes one if the argument is read to the end.
  plan = plan_of("{ lambda ; a:f32[8] b:f32[8] . let in (b, a) }", {1, 1});
  EXPECT_EQ(plan.donor, (std::vector<std::int64_t>{1, 0}));
  EXPECT_TRUE(plan.copies.empty());
  plan = plan_of("{ lambda ; a:f32[8,2] . let b:f32[2,8] = transpose[perm=(1,0)] a in (b) }", {1});
  EXPECT_EQ(plan.donor, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(plan.copies.size(), 1u);
}

TEST(Offsets, AreAlignedAndTight) {
  const Layout layout = lay_out({{0, 2, 100}, {1, 1, 10}, {2, 3, 64}, {4, 5, 200}, {0, 9, 0}});
  EXPECT_EQ(layout.bytes, 256u);
  for (std::uint64_t offset : layout.offset) EXPECT_EQ(offset % arena_alignment, 0u);
}

TEST(Offsets, ManyBuffersAreFast) {
  std::vector<Lifetime> buffers;
  for (std::int64_t i = 0; i < 50000; ++i) buffers.push_back({i, i + 3, 64 + static_cast<std::uint64_t>(i % 7) * 64});
  const Layout layout = lay_out(buffers);
  EXPECT_LE(layout.bytes, 64u * 7 * 8);
}

}  // namespace
}  // namespace anadrome
