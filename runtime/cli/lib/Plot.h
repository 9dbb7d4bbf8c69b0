// A plot of points and lines as SVG, to be put into a page.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace tw::cli {

struct PlotPoint {
  double x = 0, y = 0;
  std::string tip;   // shown where the pointer rests; may be empty
};

struct PlotSeries {
  std::string name;    // in the legend; empty: not there
  std::string style;   // a class of the page's style sheet: a, b, c, d; roof
  std::vector<PlotPoint> points;
  bool hasLine = false, hasDots = true;
  bool isStepped = false;   // from one point to the next as stairs
};

struct PlotAxis {
  std::string title;
  bool isLogarithmic = false;
  /// What a tick says.
  std::function<std::string(double)> label;
  /// Where ticks are; empty: at round numbers.
  std::vector<double> ticks;
};

struct Plot {
  std::string title, note;   // the note stands below, in small letters
  PlotAxis x, y;
  std::vector<PlotSeries> series;
};

/// A <figure>. Points that an axis cannot show (not finite, not positive on a logarithmic one) are left out.
[[nodiscard]] std::string svgOf(const Plot &plot);

/// With what would be markup written as text.
[[nodiscard]] std::string escapedMarkup(std::string_view text);

/// The style sheet that plots need.
[[nodiscard]] std::string plotStyle();

} // namespace tw::cli
