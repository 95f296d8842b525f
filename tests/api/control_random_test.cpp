// Random loops against their steps written out.
#include <random>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"

namespace anadrome::testing {
namespace {

/// A scan with a random body: the carries, constants and slices are numbers or vectors of the same length.
class RandomScan {
 public:
  explicit RandomScan(std::uint32_t seed) : random_(seed) {
    carries_ = 1 + below(3);
    consts_ = below(3);
    slices_ = below(3);
    results_ = below(3);
    length_ = below(7);
    reverse_ = below(2) == 1;
    for (int i = 0; i < carries_ + slices_ + consts_; ++i) shapes_.push_back(below(2) ? Shape{2} : Shape{});
    for (int i = 0; i < 2 + below(5); ++i) steps_.push_back({below(7), below(100), below(100)});
    for (int i = 0; i < carries_ + results_; ++i) results_from_.push_back(below(100));
  }

  /// Carries, slices, then constants.
  Arrays inputs(std::uint32_t seed) const {
    Arrays out;
    for (int i = 0; i < carries_ + slices_ + consts_; ++i) {
      Shape shape = shapes_[static_cast<std::size_t>(i)];
      if (i >= carries_ && i < carries_ + slices_) shape.insert(0, length_);
      out.push_back(random_values(shape, seed * 16 + static_cast<std::uint32_t>(i)));
    }
    return out;
  }
  Function loop() const {
    return [this](const Arrays& x) { return functional::scan(body(consts(x)), init(x), xs(x), options(), {"scan", {}, {}}); };
  }
  Function steps() const {
    return [this](const Arrays& x) { return written_out(body(consts(x)), init(x), xs(x), options()); };
  }
  std::string name(std::uint32_t seed) const {
    return "seed " + std::to_string(seed) + "\n" + to_string(functional::make_program(loop(), inputs(seed), {"loop", {}, {}}));
  }

 private:
  struct Step {
    int kind, first, second;
  };
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  Arrays part(const Arrays& x, int begin, int end) const { return {x.begin() + begin, x.begin() + end}; }
  Arrays init(const Arrays& x) const { return part(x, 0, carries_); }
  Arrays xs(const Arrays& x) const { return part(x, carries_, carries_ + slices_); }
  Arrays consts(const Arrays& x) const { return part(x, carries_ + slices_, carries_ + slices_ + consts_); }
  ScanOptions options() const { return {.length = length_, .reverse = reverse_}; }

  static Array computed(int kind, const Array& a, const Array& b) {
    switch (kind) {
      case 0: return sin(a);
      case 1: return tanh(a + b);
      case 2: return a * b;
      case 3: return exp(-a * a);
      case 4: return a - 0.5 * b;
      case 5: return where(a > b, sin(a), b * a);
      default: return a / (1.5 + b * b);
    }
  }
  static Array shaped(const Array& a, const Shape& shape) {
    if (a.shape() == shape) return a;
    return a.rank() > shape.rank() ? sum(a) * 0.5 : broadcast_to(a, shape);
  }
  Function body(const Arrays& captured) const {
    return [this, captured](const Arrays& in) {
      Arrays values = joined(in, captured);
      const auto value = [&](int draw) { return values[static_cast<std::size_t>(draw) % values.size()]; };
      for (const Step& s : steps_) values.push_back(computed(s.kind, value(s.first), value(s.second)));
      Arrays out;
      for (int i = 0; i < carries_ + results_; ++i) {
        const Array y = value(results_from_[static_cast<std::size_t>(i)]);
        out.push_back(i < carries_ ? shaped(y, shapes_[static_cast<std::size_t>(i)]) : y);
      }
      return out;
    };
  }

  std::mt19937 random_;
  int carries_, consts_, slices_, results_, length_;
  bool reverse_;
  std::vector<Shape> shapes_;
  std::vector<Step> steps_;
  std::vector<int> results_from_;
};

TEST(RandomScans, AreTheirStepsWrittenOut) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const RandomScan scan(seed);
    expect_same(scan.name(seed), scan.loop(), scan.steps(), scan.inputs(seed), seed % 10 == 0 ? Forms::all : Forms::few);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace anadrome::testing
