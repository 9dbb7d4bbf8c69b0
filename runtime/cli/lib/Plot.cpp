#include "Plot.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tw::cli {
namespace {

constexpr double width = 560, height = 340, left = 76, right = 18, top = 14, bottom = 50;

/// An axis with its range known: from a number to a place in the picture.
class Scale {
public:
  Scale(const PlotAxis &axis, double low, double high, double from, double to) : axis(axis), from(from), to(to) {
    if (!(low <= high))
      low = high = 1;
    const double margin = axis.isLogarithmic ? std::max(std::log10(high / low) * 0.06, 0.02)
                                             : std::max((high - low) * 0.06, high == low ? std::max(std::abs(high), 1.0) * 0.1 : 0);
    start = inner(low) - margin;
    end = inner(high) + margin;
    if (!axis.isLogarithmic && low >= 0)
      start = std::max(start, 0.0);
  }
  [[nodiscard]] double operator()(double value) const { return from + (inner(value) - start) / (end - start) * (to - from); }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> all;
    for (double tick : axis.ticks)
      if (inner(tick) >= start && inner(tick) <= end)
        all.push_back(tick);
    if (!axis.ticks.empty())
      return all;
    return axis.isLogarithmic ? logarithmic() : linear();
  }

private:
  [[nodiscard]] double inner(double value) const { return axis.isLogarithmic ? std::log10(value) : value; }

  /// 1, 2 and 5 of every power of ten; where these are many, powers alone; where they are few, more between them.
  [[nodiscard]] std::vector<double> logarithmic() const {
    std::vector<double> digits = end - start > 2.5   ? std::vector<double>{1}
                                 : end - start > 0.9 ? std::vector<double>{1, 2, 5}
                                                     : std::vector<double>{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};
    if (end - start < 0.25)
      return linearIn(std::pow(10, start), std::pow(10, end));
    std::vector<double> all;
    for (int power = int(std::floor(start)); power <= int(std::ceil(end)); ++power)
      for (double digit : digits)
        if (const double tick = digit * std::pow(10, power); inner(tick) >= start && inner(tick) <= end)
          all.push_back(tick);
    return all;
  }

  [[nodiscard]] std::vector<double> linear() const { return linearIn(start, end); }

  static std::vector<double> linearIn(double low, double high) {
    const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10) * power;
    std::vector<double> all;
    for (double tick = std::ceil(low / step) * step; tick <= high; tick += step)
      all.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
    return all;
  }

  const PlotAxis &axis;
  double from, to, start = 0, end = 1;
};

bool canShow(const Plot &plot, const PlotPoint &point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && (!plot.x.isLogarithmic || point.x > 0) && (!plot.y.isLogarithmic || point.y > 0);
}

std::string labelOf(const PlotAxis &axis, double value) { return escapedMarkup(axis.label ? axis.label(value) : fmt::format("{:g}", value)); }

std::string gridOf(const Plot &plot, const Scale &x, const Scale &y) {
  std::string out;
  for (double tick : x.ticks())
    out += fmt::format(
        "<line class='grid' x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}'/><text class='tick' x='{0:.1f}' y='{3}' text-anchor='middle'>{4}</text>\n",
        x(tick), top, height - bottom, height - bottom + 16, labelOf(plot.x, tick));
  for (double tick : y.ticks())
    out += fmt::format(
        "<line class='grid' x1='{1}' x2='{2}' y1='{0:.1f}' y2='{0:.1f}'/><text class='tick' x='{3}' y='{4:.1f}' text-anchor='end'>{5}</text>\n",
        y(tick), left, width - right, left - 7, y(tick) + 4, labelOf(plot.y, tick));
  out += fmt::format("<rect class='frame' x='{}' y='{}' width='{}' height='{}'/>\n", left, top, width - left - right, height - top - bottom);
  out += fmt::format("<text class='axis' x='{}' y='{}' text-anchor='middle'>{}</text>\n", (left + width - right) / 2, height - 12,
                     escapedMarkup(plot.x.title));
  out += fmt::format("<text class='axis' transform='translate(15,{}) rotate(-90)' text-anchor='middle'>{}</text>\n", (top + height - bottom) / 2,
                     escapedMarkup(plot.y.title));
  return out;
}

std::string drawn(const Plot &plot, const PlotSeries &series, const Scale &x, const Scale &y) {
  std::string line, dots;
  double before = 0;
  for (const PlotPoint &point : series.points) {
    if (!canShow(plot, point))
      continue;
    if (series.isStepped && !line.empty())
      line += fmt::format(" {:.1f},{:.1f}", x(point.x), before);
    before = y(point.y);
    line += fmt::format(" {:.1f},{:.1f}", x(point.x), before);
    dots += fmt::format("<circle class='dot {}' cx='{:.1f}' cy='{:.1f}' r='4'>{}</circle>\n", series.style, x(point.x), before,
                        point.tip.empty() ? "" : "<title>" + escapedMarkup(point.tip) + "</title>");
  }
  return (series.hasLine ? fmt::format("<polyline class='line {}' points='{}'/>\n", series.style, line) : "") + (series.hasDots ? dots : "");
}

} // namespace

std::string escapedMarkup(std::string_view text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '\'':
      out += "&#39;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

std::string svgOf(const Plot &plot) {
  constexpr double none = std::numeric_limits<double>::infinity();
  double lowX = none, highX = -none, lowY = none, highY = -none;
  for (const PlotSeries &series : plot.series)
    for (const PlotPoint &point : series.points)
      if (canShow(plot, point)) {
        lowX = std::min(lowX, point.x);
        highX = std::max(highX, point.x);
        lowY = std::min(lowY, point.y);
        highY = std::max(highY, point.y);
      }
  const Scale x(plot.x, lowX, highX, left, width - right), y(plot.y, lowY, highY, height - bottom, top);
  std::string out = fmt::format("<figure class='plot'><figcaption>{}</figcaption>\n<svg viewBox='0 0 {} {}' role='img' aria-label='{}'>\n",
                                escapedMarkup(plot.title), width, height, escapedMarkup(plot.title));
  out += gridOf(plot, x, y);
  for (const PlotSeries &series : plot.series)
    out += drawn(plot, series, x, y);
  out += "</svg>\n<p class='legend'>";
  for (const PlotSeries &series : plot.series)
    if (!series.name.empty())
      out += fmt::format("<span class='key {}'></span>{} ", series.style, escapedMarkup(series.name));
  out += "</p>\n";
  if (!plot.note.empty())
    out += fmt::format("<p class='note'>{}</p>\n", escapedMarkup(plot.note));
  return out + "</figure>\n";
}

std::string plotStyle() {
  return R"css(
figure.plot { margin: 0; padding: 14px 16px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
figure.plot figcaption { font-weight: 600; margin-bottom: 6px; }
figure.plot svg { width: 100%; height: auto; display: block; }
.grid { stroke: var(--rule); stroke-width: 1; }
.frame { fill: none; stroke: var(--faint); stroke-width: 1; }
.tick { font-size: 11px; fill: var(--faint); }
.axis { font-size: 12px; fill: var(--ink); }
.line { fill: none; stroke-width: 2; }
.dot { stroke: var(--card); stroke-width: 1; }
.line.a { stroke: #2f6fdb; } .dot.a { fill: #2f6fdb; } .key.a { background: #2f6fdb; }
.line.b { stroke: #d9622b; } .dot.b { fill: #d9622b; } .key.b { background: #d9622b; }
.line.c { stroke: #2a9d68; } .dot.c { fill: #2a9d68; } .key.c { background: #2a9d68; }
.line.d { stroke: #9a5bc4; } .dot.d { fill: #9a5bc4; } .key.d { background: #9a5bc4; }
.line.roof { stroke: var(--faint); stroke-dasharray: 6 4; } .dot.roof { fill: var(--faint); } .key.roof { background: var(--faint); }
.legend { margin: 4px 0 0; font-size: 13px; }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 5px; margin: 0 5px 0 10px; }
.note { margin: 4px 0 0; font-size: 12px; color: var(--faint); }
)css";
}

} // namespace tw::cli
