// The figures of `anadrome tour rewind` as tables and as JSON.
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "tour_rewind.h"

namespace {

std::string fixed(double value, int digits) {
  if (std::isnan(value)) return "nan";
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}
std::string scientific(double value) {
  if (std::isnan(value)) return "nan";
  std::ostringstream out;
  out << std::scientific << std::setprecision(1) << value;
  return out.str();
}
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

void print_memory(std::ostream& out, const RewindTour& tour) {
  out << "1. Memory of a gradient: layers v' = 0.9 v + tanh(x w1 + b1) w2 + b2, x' = x + v', width 256, hidden 512, 256 rows, f32.\n"
         "   Planned bytes beside arguments and results, growth of the process's resident memory, time; each in a process of its own\n\n"
      << std::setw(8) << "depth" << std::setw(18) << "mode" << std::setw(14) << "planned MB" << std::setw(15) << "measured MB"
      << std::setw(11) << "run ms" << '\n';
  for (const MemoryPoint& p : tour.memory)
    out << std::setw(8) << p.depth << std::setw(18) << p.mode << std::setw(14) << fixed(p.temp_bytes / 1e6, 2) << std::setw(15)
        << fixed(p.measured_bytes / 1e6, 2) << std::setw(11) << fixed(p.run_ms, 1) << '\n';
  out << "\n   At depth 512 and this momentum a rewind without anchors gives a gradient without meaning: part 2.\n\n";
}

void print_cliff(std::ostream& out, const RewindTour& tour) {
  out << "2. What rounding does: width 64, 64 rows. Undoing a layer divides by the momentum mu, so errors grow by 1/mu a layer, or\n"
         "   more. Cosines are between the rewound and the stored gradient; anchors are states kept to start from\n\n"
      << std::setw(6) << "mu" << std::setw(7) << "depth" << std::setw(12) << "predicted" << std::setw(16) << "reconstructed"
      << std::setw(16) << "plain cosine" << std::setw(19) << "anchored cosine" << std::setw(9) << "anchors" << std::setw(7) << "rerun" << '\n';
  for (const CliffPoint& p : tour.cliff)
    out << std::setw(6) << fixed(p.mu, 2) << std::setw(7) << p.depth << std::setw(12) << scientific(p.predicted) << std::setw(16)
        << scientific(p.reconstruction) << std::setw(16) << fixed(p.plain_cosine, 6) << std::setw(19) << fixed(p.anchored_cosine, 6)
        << std::setw(9) << p.anchors << std::setw(7) << p.rerun << '\n';
  out << '\n';
}

void print_training(std::ostream& out, const RewindTour& tour) {
  if (tour.training.empty()) return;
  out << "3. Training on handwritten digits, 64 layers, mu = 0.9: test accuracy by the gradient of stored layers, rewound with\n"
         "   anchors, rewound without\n\n"
      << std::setw(8) << "seed" << std::setw(12) << "stored" << std::setw(12) << "rewound" << std::setw(12) << "plain" << '\n';
  double stored = 0, rewound = 0, plain = 0;
  for (const RewindTraining& t : tour.training) {
    out << std::setw(8) << t.seed << std::setw(10) << fixed(100 * t.stored_accuracy, 2) << " %" << std::setw(10)
        << fixed(100 * t.rewound_accuracy, 2) << " %" << std::setw(10) << fixed(100 * t.plain_accuracy, 2) << " %\n";
    stored += t.stored_accuracy, rewound += t.rewound_accuracy, plain += t.plain_accuracy;
  }
  const double n = static_cast<double>(tour.training.size()) / 100;
  out << std::setw(8) << "mean" << std::setw(10) << fixed(stored / n, 2) << " %" << std::setw(10) << fixed(rewound / n, 2) << " %"
      << std::setw(10) << fixed(plain / n, 2) << " %\n";
}

}  // namespace

void print_text(std::ostream& out, const RewindTour& tour) {
  std::ostringstream text;
  text << "Gradients that run a net backwards: figures from calls to the library made just now\n\n";
  print_memory(text, tour);
  print_cliff(text, tour);
  print_training(text, tour);
  out << text.str();
}

void print_json(std::ostream& out, const RewindTour& tour) {
  nlohmann::ordered_json json = {{"memory", nlohmann::ordered_json::array()}, {"cliff", nlohmann::ordered_json::array()}, {"training", nlohmann::ordered_json::array()}};
  for (const MemoryPoint& p : tour.memory)
    json["memory"].push_back({{"mode", p.mode}, {"depth", p.depth}, {"temp_bytes", number(p.temp_bytes)},
                              {"measured_bytes", number(p.measured_bytes)}, {"run_ms", number(p.run_ms)}});
  for (const CliffPoint& p : tour.cliff)
    json["cliff"].push_back({{"mu", p.mu}, {"depth", p.depth}, {"predicted", number(p.predicted)}, {"reconstruction", number(p.reconstruction)},
                             {"plain_cosine", number(p.plain_cosine)}, {"anchored_cosine", number(p.anchored_cosine)},
                             {"anchors", p.anchors}, {"rerun", p.rerun}});
  for (const RewindTraining& t : tour.training)
    json["training"].push_back({{"seed", t.seed}, {"stored_accuracy", number(t.stored_accuracy)}, {"rewound_accuracy", number(t.rewound_accuracy)}});
  out << json.dump(2) << '\n';
}
