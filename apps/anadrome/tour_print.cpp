// The figures of `anadrome tour costs` as tables and as JSON.
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "tour_costs.h"

namespace {

/// "16576  (2.01)".
std::string with_ratio(std::int64_t flops, std::int64_t forward) {
  std::ostringstream out;
  out << flops << "  (" << std::fixed << std::setprecision(2)
      << static_cast<double>(flops) / static_cast<double>(forward) << ")";
  return out.str();
}

void print_widths(std::ostream& out, const CostTour& tour) {
  out << "1. f(x) = sum(tanh(x @ W)), n inputs, one output: flops (and forward passes)\n\n"
      << std::setw(5) << "n" << std::setw(10) << "forward" << std::setw(18) << "grad" << std::setw(22) << "jacfwd"
      << std::setw(18) << "jacrev" << std::setw(21) << "jacfwd structured\n";
  for (const WidthCosts& w : tour.widths)
    out << std::setw(5) << w.n << std::setw(10) << w.forward << std::setw(18) << with_ratio(w.grad, w.forward)
        << std::setw(22) << with_ratio(w.jacfwd, w.forward) << std::setw(18) << with_ratio(w.jacrev, w.forward)
        << std::setw(20) << with_ratio(w.jacfwd_structured, w.forward) << '\n';
  out << "\n   Reverse mode runs once per output, forward mode once per input. The last column: the compiler sees\n"
         "   that the directions form an identity matrix.\n\n";
}

void print_wide(std::ostream& out, const WideCosts& wide) {
  out << "2. g(x) = tanh(x @ W), 4 inputs, 256 outputs: flops (and forward passes)\n\n"
      << "   forward  " << wide.forward << "\n   jacfwd   " << with_ratio(wide.jacfwd, wide.forward)
      << "\n   jacrev   " << with_ratio(wide.jacrev, wide.forward) << "\n   the Jacobian has shape "
      << to_string(wide.shape) << "\n\n";
}

void print_residuals(std::ostream& out, const CostTour& tour) {
  out << "3. What a backward pass keeps: layers v = tanh(v @ W), v 32x128, W 128x128\n\n"
      << std::setw(8) << "depth" << std::setw(9) << "arrays" << std::setw(10) << "bytes" << '\n';
  for (const Residuals& r : tour.residuals)
    out << std::setw(8) << r.depth << std::setw(9) << r.count << std::setw(10) << r.bytes << '\n';
  out << "\n   W once, and one activation a layer. The linearized program of depth 2; before the ';' what is kept:\n\n"
      << tour.linearized << "\n\n";
}

void print_training(std::ostream& out, const CostTour& tour, const TrainingOptions& options) {
  out << "4. A two-layer tanh classifier of handwritten digits, trained by the gradient; mean of " << options.seeds
      << (options.seeds == 1 ? " seed" : " seeds") << "\n\n"
      << std::setw(8) << "epoch" << std::setw(10) << "loss" << std::setw(16) << "test accuracy" << '\n';
  for (const EpochResult& e : tour.training)
    out << std::setw(8) << e.epoch << std::fixed << std::setw(10) << std::setprecision(4) << e.loss << std::setw(14)
        << std::setprecision(2) << 100 * e.accuracy << " %\n";
}

}  // namespace

void print_text(std::ostream& out, const CostTour& tour, const TrainingOptions& options) {
  std::ostringstream text;
  text << "Which direction costs what: figures from calls to the library made just now\n\n";
  print_widths(text, tour);
  print_wide(text, tour.wide);
  print_residuals(text, tour);
  print_training(text, tour, options);
  out << text.str();
}

void print_json(std::ostream& out, const CostTour& tour) {
  nlohmann::ordered_json json;
  for (const WidthCosts& w : tour.widths)
    json["widths"].push_back({{"n", w.n},
                              {"forward", w.forward},
                              {"grad", w.grad},
                              {"jacfwd", w.jacfwd},
                              {"jacrev", w.jacrev},
                              {"jacfwd_structured", w.jacfwd_structured}});
  const anadrome::Shape& shape = tour.wide.shape;
  json["wide"] = {{"forward", tour.wide.forward},
                  {"jacfwd", tour.wide.jacfwd},
                  {"jacrev", tour.wide.jacrev},
                  {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}};
  for (const Residuals& r : tour.residuals)
    json["residuals"].push_back({{"depth", r.depth}, {"count", r.count}, {"bytes", r.bytes}});
  for (const EpochResult& e : tour.training)
    json["training"].push_back({{"epoch", e.epoch}, {"loss", e.loss}, {"accuracy", e.accuracy}});
  out << json.dump(2) << '\n';
}
