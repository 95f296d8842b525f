// The page of `anadrome tour rewind`: plots of its figures.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "plot.h"
#include "tour_rewind.h"

namespace {

Series& series_of(Plot& plot, const std::string& name) {
  for (Series& s : plot.series)
    if (s.name == name) return s;
  return plot.series.emplace_back(Series{name, {}, {}, false});
}
void add(Plot& plot, const std::string& name, double x, double y) {
  Series& s = series_of(plot, name);
  s.x.push_back(x);
  s.y.push_back(y);
}
std::string short_number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// 1 - cosine; a log scale shows no 0.
double distance(double cosine) {
  return std::isnan(cosine) ? cosine : std::max(1e-16, 1 - cosine);
}

std::vector<Plot> plots(const RewindTour& tour) {
  Plot memory{"memory", "Memory of a gradient", "layers", "temporary memory, MB", true, true, {}};
  Plot time{"time", "Time of a gradient", "layers", "best of three runs, ms", true, true, {}};
  for (const MemoryPoint& p : tour.memory) {
    add(memory, p.mode, p.depth, p.temp_bytes / 1e6);
    add(time, p.mode, p.depth, p.run_ms);
  }
  Plot cliff{"cliff", "Where a plain rewind loses the gradient", "layers", "1 - cosine to the stored gradient", true, true, {}};
  Plot anchored{"anchored", "The same with anchors", "layers", "1 - cosine to the stored gradient", true, true, {}};
  for (const CliffPoint& p : tour.cliff) {
    add(cliff, "mu = " + short_number(p.mu), p.depth, distance(p.plain_cosine));
    add(anchored, "mu = " + short_number(p.mu), p.depth, distance(p.anchored_cosine));
  }
  Plot growth{"growth", "Growth of the error along a rewind, mu = 0.8", "layers undone", "relative error of the state", false, true, {}};
  for (const GrowthPoint& p : tour.growth) {
    add(growth, "measured", p.undone, p.error);
    add(growth, "by 1/mu a layer", p.undone, p.predicted);
  }
  if (!growth.series.empty()) growth.series.back().dashed = true;
  Plot training{"training", "Training on digits, 64 layers", "epoch", "test accuracy, %", false, false, {}};
  for (const RewindTraining& t : tour.training)
    for (std::size_t e = 0; e < t.stored_curve.size(); ++e) {
      add(training, "stored " + std::to_string(t.seed), static_cast<double>(e + 1), 100 * t.stored_curve[e]);
      add(training, "rewound " + std::to_string(t.seed), static_cast<double>(e + 1), 100 * t.rewound_curve[e]);
    }
  for (Series& s : training.series) s.dashed = s.name.starts_with("rewound");
  return {memory, time, cliff, anchored, growth, training};
}

constexpr const char* head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Rewinding without memory</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2430; background: #fbfbf9; max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } p { max-width: 46rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 1.2rem; }
figure { margin: 0; background: #fff; border: 1px solid #e3e3de; border-radius: 8px; padding: .6rem; }
figcaption { font-size: .9rem; color: #51606f; padding: 0 .4rem; }
.grid { stroke: #e8e8e3; } .frame { fill: none; stroke: #9aa4af; } .line { fill: none; stroke-width: 2; }
.title { font-weight: 600; font-size: 15px; } .tick, .legend { font-size: 11px; fill: #51606f; } .name { font-size: 12px; fill: #1c2430; }
</style></head><body>
<h1>Rewinding without memory</h1>
<p>A net of momentum layers can be run backwards, so its gradient does not have to keep what each layer computed. These figures
were made by the library just now: what that saves, what it costs, where rounding breaks it, and how a few states kept along
the way, the anchors, mend it.</p>
<div class="plots">
)";

std::string caption(const std::string& id) {
  if (id == "memory") return "Planned bytes beside arguments and results: width 256, 256 rows.";
  if (id == "time") return "The same gradients on this machine.";
  if (id == "cliff") return "Width 64. 1 means that the rewound gradient points anywhere.";
  if (id == "anchored") return "Rewinds start from states that are known, end at one, and are checked there.";
  if (id == "growth") return "Undoing a layer divides by mu; steep layers add to that.";
  return "Solid: layers stored. Dashed: rewound with anchors. A pair a seed.";
}

}  // namespace

std::string rewind_page(const RewindTour& tour) {
  std::string out = head;
  for (const Plot& p : plots(tour)) out += "<figure>" + svg(p) + "<figcaption>" + caption(p.id) + "</figcaption></figure>\n";
  return out + "</div></body></html>\n";
}
