// Every variant of the gallery against its formula in plain loops, which share nothing with the language.
#include "support/Arrays.h"
#include "support/Compare.h"
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tw;
using namespace tw::tests;

namespace {

/// One score's place.
struct Place {
  std::int64_t b, h, q, k;
};

/// A variant in plain words, on one problem.
struct Meaning {
  std::function<double(double s, const Place &)> score = [](double s, const Place &) { return s; };   // of q·k / √D
  std::function<bool(const Place &)> keep = [](const Place &) { return true; };
  /// The weights of a row from its scores, and its log-sum-exp.
  std::function<double(std::vector<double> &scores, std::int64_t h)> weigh = [](std::vector<double> &s, std::int64_t) { return softmax(s, -INFINITY); };
  std::function<double(double w, const Place &)> weight = [](double w, const Place &) { return w; };
  std::function<double(double o, std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t e)> output =
      [](double o, std::int64_t, std::int64_t, std::int64_t, std::int64_t) { return o; };

  static double softmax(std::vector<double> &s, double sink) {
    double total = std::exp(sink);
    for (double x : s)
      total += std::exp(x);
    for (double &x : s)
      x = total == 0 ? 0 : std::exp(x) / total;
    return std::log(total);
  }
};

struct Problem {
  VariantShape n;
  Evaluation in;
  [[nodiscard]] const Array &array(const std::string &name) const { return in.tensors.at(name); }
  /// array[indices…]
  [[nodiscard]] double at(const std::string &name, std::initializer_list<std::int64_t> index) const {
    const Array &a = array(name);
    std::int64_t flat = 0;
    std::size_t d = 0;
    for (std::int64_t i : index) {
      if (d == a.shape.size() || i < 0 || i >= a.shape[d])
        throw std::out_of_range(name + " is read outside");
      flat = flat * a.shape[d++] + i;
    }
    return a.data[std::size_t(flat)];
  }
  [[nodiscard]] std::int64_t integer(const std::string &name, std::initializer_list<std::int64_t> index) const { return std::int64_t(at(name, index)); }
  /// Row [b][h][s] of a tensor of heads of queries or of keys.
  [[nodiscard]] const double *row(const std::string &name, std::int64_t b, std::int64_t h, std::int64_t s) const {
    const Array &a = array(name);
    return a.data.data() + ((b * a.shape[1] + h) * a.shape[2] + s) * a.shape[3];
  }
  [[nodiscard]] double product(const std::string &q, const std::string &k, const Place &p) const {
    const double *x = row(q, p.b, p.h, p.q), *y = row(k, p.b, p.h / (n.h / n.hkv), p.k);
    double sum = 0;
    for (std::int64_t d = 0; d < n.d; ++d)
      sum += x[d] * y[d];
    return sum;
  }
};

Problem problemOf(const std::string &name, const VariantShape &n) {
  Problem p{n, {{{"Q", randomArray({n.b, n.h, n.sq, n.d}, 1)}, {"K", randomArray({n.b, n.hkv, n.skv, n.d}, 2)}, {"V", randomArray({n.b, n.hkv, n.skv, n.dv}, 3)}}, {}}};
  std::mt19937_64 random(4);
  for (const Capture &capture : factsOf(name, Type::f64).captures)
    p.in.tensors[capture.name] = capture.make(n, random);
  return p;
}

std::map<std::string, Array> inLoops(const Problem &p, const Meaning &m, const std::string &q = "Q", const std::string &k = "K") {
  const VariantShape &n = p.n;
  Array o{{n.b, n.h, n.sq, n.dv}, {}}, lse{{n.b, n.h, n.sq}, {}};
  for (std::int64_t b = 0; b < n.b; ++b)
    for (std::int64_t h = 0; h < n.h; ++h)
      for (std::int64_t i = 0; i < n.sq; ++i) {
        std::vector<double> weights;
        for (std::int64_t j = 0; j < n.skv; ++j) {
          const Place place{b, h, i, j};
          weights.push_back(m.keep(place) ? m.score(p.product(q, k, place) / std::sqrt(double(n.d)), place) : -INFINITY);
        }
        lse.data.push_back(m.weigh(weights, h));
        std::vector<double> sums(std::size_t(n.dv));
        for (std::int64_t j = 0; j < n.skv; ++j) {
          const double w = m.weight(weights[std::size_t(j)], {b, h, i, j}), *v = p.row("V", b, h / (n.h / n.hkv), j);
          for (std::size_t e = 0; e < sums.size(); ++e)
            sums[e] += w * v[e];
        }
        for (std::int64_t e = 0; e < n.dv; ++e)
          o.data.push_back(m.output(sums[std::size_t(e)], b, h, i, e));
      }
  return {{"O", o}, {"lse", lse}};
}

/// Weights one by one.
auto eachBy(std::function<double(double)> f) {
  return [=](std::vector<double> &s, std::int64_t) {
    for (double &x : s)
      x = x == -INFINITY ? 0 : f(x);
    return double(NAN);
  };
}

/// What the name means. `p` outlives it.
Meaning meaningOf(const std::string &name, const Problem &p) {
  Meaning m;
  const std::int64_t off = p.n.skv - p.n.sq, skv = p.n.skv;
  auto distance = [=](const Place &x) { return x.q + off - x.k; };
  auto floored = [](std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); };
  auto modulo = [=](std::int64_t a, std::int64_t b) { return a - b * floored(a, b); };
  auto near = [](std::int64_t at, std::int64_t other, std::int64_t length, std::int64_t window) {
    const std::int64_t first = std::max<std::int64_t>(std::min(at - window / 2, length - window), 0);
    return other >= first && other < first + window;
  };
  if (name == "plain")
    return m;
  if (name == "causal")
    m.keep = [=](const Place &x) { return distance(x) >= 0; };
  else if (name == "window")
    m.keep = [=](const Place &x) { return distance(x) >= 0 && distance(x) <= 127; };
  else if (name == "softcap" || name == "softcapfast")
    m.score = [](double s, const Place &) { return 50 * std::tanh(s / 50); };
  else if (name == "alibi")
    m.score = [=, &p](double s, const Place &x) { return s - p.at("slopes", {x.h}) * double(distance(x)); };
  else if (name == "gemma2") {
    m.score = [](double s, const Place &) { return 50 * std::tanh(s / 50); };
    m.keep = [=](const Place &x) { return distance(x) >= 0 && distance(x) <= 4095; };
  } else if (name == "temperature")
    m.score = [&p](double s, const Place &x) { return s / p.at("temperatures", {x.h}); };
  else if (name == "qknorm")
    m.score = [&p](double, const Place &x) {
      double q = 0, k = 0;
      for (std::int64_t d = 0; d < p.n.d; ++d) {
        q += std::pow(p.row("Q", x.b, x.h, x.q)[d], 2);
        k += std::pow(p.row("K", x.b, x.h / (p.n.h / p.n.hkv), x.k)[d], 2);
      }
      return p.at("scales", {x.h}) * p.product("Q", "K", x) / std::sqrt(q) / std::sqrt(k);
    };
  else if (name == "t5")
    m.score = [=, &p](double s, const Place &x) {
      const std::int64_t far = std::abs(distance(x));   // 16 buckets a side: 0 … 7 alone, then by logarithm up to 128
      std::int64_t bucket = far < 8 ? far : std::min<std::int64_t>(15, 8 + std::int64_t(std::floor(8 * std::log(double(far) / 8) / std::log(16.0) + 1e-9)));
      return s + p.at("buckets", {bucket + (distance(x) < 0 ? 16 : 0), x.h});
    };
  else if (name == "relative")
    m.score = [=, &p](double s, const Place &x) { return s + p.at("distances", {x.h, std::clamp<std::int64_t>(-distance(x), -64, 64) + 64}); };
  else if (name == "bias")
    m.score = [&p](double s, const Place &x) { return s + p.at("bias", {x.b, x.h, x.q, x.k}); };
  else if (name == "graphormer")
    m.score = [&p](double s, const Place &x) { return s + p.at("hop_bias", {x.h, p.integer("hops", {x.q, x.k})}); };
  else if (name == "kerple")
    m.score = [=, &p](double s, const Place &x) { return s - p.at("strengths", {x.h}) * std::log(1 + p.at("rates", {x.h}) * double(std::abs(distance(x)))); };
  else if (name == "forgetting")
    m.score = [&p](double s, const Place &x) { return s + p.at("query_gates", {x.b, x.h, x.q}) - p.at("key_gates", {x.b, x.h, x.k}); };
  else if (name == "streaming")
    m.keep = [=](const Place &x) { return distance(x) >= 0 && (distance(x) <= 127 || x.k < 4); };
  else if (name == "dilated")
    m.keep = [=](const Place &x) { return distance(x) >= 0 && distance(x) <= 256 && distance(x) % 4 == 0; };
  else if (name == "strided")
    m.keep = [=](const Place &x) { return distance(x) >= 0 && (distance(x) < 32 || distance(x) % 32 == 0); };
  else if (name == "chunked")
    m.keep = [=](const Place &x) { return distance(x) >= 0 && floored(x.q + off, 128) == x.k / 128; };
  else if (name == "blockcausal")
    m.keep = [=](const Place &x) { return x.k / 16 <= floored(x.q + off, 16); };
  else if (name == "natten1d")
    m.keep = [=](const Place &x) { return near(x.q, x.k, skv, 33); };
  else if (name == "natten2d")
    m.keep = [=](const Place &x) { return near(x.q / 16, x.k / 16, (skv + 15) / 16, 7) && near(modulo(x.q, 16), x.k % 16, 16, 7); };
  else if (name == "documents")
    m.keep = [&p](const Place &x) { return p.at("query_documents", {x.b, x.q}) == p.at("key_documents", {x.b, x.k}); };
  else if (name == "prefix")
    m.keep = [=, &p](const Place &x) { return distance(x) >= 0 || x.k < p.integer("prefixes", {x.b}); };
  else if (name == "docprefix")
    m.keep = [=, &p](const Place &x) {
      const std::int64_t document = p.integer("query_documents", {x.b, x.q});
      return document == p.integer("key_documents", {x.b, x.k}) && (distance(x) >= 0 || x.k < p.integer("prefix_ends", {x.b, document}));
    };
  else if (name == "padded")
    m.keep = [&p](const Place &x) { return x.k < p.integer("lengths", {x.b}); };
  else if (name == "kvcache")
    m.keep = [&p](const Place &x) { return x.k <= p.integer("positions", {x.b}) + x.q; };
  else if (name == "jagged")
    m.keep = [&p](const Place &x) {
      const std::int64_t s = p.integer("sequences", {x.q}), first = p.integer("key_offsets", {s}), keys = p.integer("key_offsets", {s + 1}) - first;
      const std::int64_t q = x.q - p.integer("query_offsets", {s}), queries = p.integer("query_offsets", {s + 1}) - p.integer("query_offsets", {s}), k = x.k - first;
      return k >= 0 && k < keys && k <= q + keys - queries;
    };
  else if (name == "longformer")
    m.keep = [=, &p](const Place &x) { return std::abs(distance(x)) <= 64 || p.at("global_queries", {x.q}) != 0 || p.at("global_keys", {x.k}) != 0; };
  else if (name == "bigbird")
    m.keep = [&p](const Place &x) { return p.at("blocks", {x.q / 64, x.k / 64}) != 0; };
  else if (name == "blocklists")
    m.keep = [&p](const Place &x) {
      bool isListed = false;
      for (std::int64_t j = 0; j < std::int64_t(p.at("counts", {x.h, x.q / 64})); ++j)
        isListed = isListed || p.at("lists", {x.h, x.q / 64, j}) == double(x.k / 64);
      return isListed;
    };
  else if (name == "graph")
    m.keep = [&p](const Place &x) { return std::uint32_t(std::int32_t(p.at("neighbours", {x.q, x.k / 32}))) >> (x.k % 32) & 1; };
  else if (name == "sink")
    m.weigh = [&p](std::vector<double> &s, std::int64_t h) { return Meaning::softmax(s, p.at("sinks", {h})); };
  else if (name == "offbyone")
    m.weigh = [](std::vector<double> &s, std::int64_t) { return Meaning::softmax(s, 0); };
  else if (name == "sigmoid")
    m.weigh = eachBy([=](double s) { return 1 / (1 + double(skv) * std::exp(-s)); });
  else if (name == "relu2")
    m.weigh = eachBy([=](double s) { return s > 0 ? s * s / double(skv) : 0; });
  else if (name == "linear")
    m.weigh = eachBy([=](double s) { return s / double(skv); });
  else if (name == "retention") {
    m.keep = [=](const Place &x) { return distance(x) >= 0; };
    m.score = [=, &p](double s, const Place &x) { return s * std::pow(p.at("decays", {x.h}), double(distance(x))); };
    m.weigh = eachBy([](double s) { return s; });
  } else if (name == "gated")
    m.output = [&p](double o, std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t e) { return o / (1 + std::exp(-p.at("gates", {b, h, q, e}))); };
  else if (name == "tanhgated")
    m.output = [&p](double o, std::int64_t, std::int64_t h, std::int64_t, std::int64_t) { return o * std::tanh(p.at("head_gates", {h})); };
  else
    FAIL("no meaning is written for '" << name << "'");
  return m;
}

std::map<std::string, Array> expected(const std::string &name, const Problem &p) {
  if (name != "differential")
    return inLoops(p, meaningOf(name, p));
  const Meaning softmax;
  auto first = inLoops(p, softmax), second = inLoops(p, softmax, "Q2", "K2");
  for (std::size_t i = 0; i < first["O"].data.size(); ++i)
    first["O"].data[i] -= p.at("lambdas", {std::int64_t(i) / (p.n.sq * p.n.dv) % p.n.h}) * second["O"].data[i];
  return first;
}

void check(const std::string &name, const VariantShape &n) {
  Problem p = problemOf(name, n);
  const auto want = expected(name, p);
  for (std::int64_t tile : {0, 33}) {
    p.in.foldTile = tile;
    for (const auto &[tensor, array] : evaluate(makeVariant(name, {.type = Type::f64}), p.in)) {
      const auto compared = compare(array, want.at(tensor), {1e-12, 1e-11});
      INFO(name << " " << tensor << ": " << compared.summary);
      CHECK(compared.ok);
    }
  }
}

} // namespace

TEST_CASE("every variant of the gallery is its formula") {
  for (const Variant &variant : gallery())
    if (variant.name != "dropout")
      for (const VariantShape &n : {VariantShape{2, 2, 1, 67, 131, 8, 16}, VariantShape{1, 2, 2, 150, 90, 8, 8}, VariantShape{3, 3, 1, 1, 5, 8, 8}})
        check(variant.name, n);
}

TEST_CASE("variants of empty problems") {
  for (const Variant &variant : gallery())
    for (const VariantShape &n : {VariantShape{0, 2, 1, 3, 4, 8, 8}, VariantShape{1, 2, 1, 0, 4, 8, 8}, VariantShape{2, 2, 1, 3, 0, 8, 8}}) {
      INFO(variant.name);
      const auto result = evaluate(makeVariant(variant.name, {.type = Type::f64}), problemOf(variant.name, n).in);
      for (double x : result.at("O").data)
        CHECK(x == 0);
      if (n.skv == 0 && variant.name == "sink")
        for (std::size_t i = 0; i < result.at("lse").data.size(); ++i)
          CHECK(result.at("lse").data[i] == Approx(problemOf("sink", n).at("sinks", {std::int64_t(i) / n.sq % n.h})));
      else if (n.skv == 0 && variant.name == "offbyone")
        CHECK(result.at("lse").data[0] == 0);
      else if (n.skv == 0 && result.count("lse"))
        CHECK(result.at("lse").data[0] == -INFINITY);
    }
}

TEST_CASE("dropout drops the weights that its seed says, and the others grow by as much") {
  const VariantShape n{1, 2, 1, 40, 60, 8, 8};
  Problem p = problemOf("dropout", n);
  const Axis b("b"), h("h"), q("q"), k("k");
  const Tensor seed("seed", Type::i64, 1), R("R", Type::f64, 4);
  Evaluation numbers{{{"seed", p.array("seed")}}, {}};
  numbers.extents = {{"b", n.b}, {"h", n.h}, {"q", n.sq}, {"k", n.skv}};
  const Problem r{n, {{{"R", evaluate({"r", {store(R, {b, h, q, k}, random(seed(0), b, h, q, k))}}, numbers).at("R")}}, {}}};
  for (double probability : {0.0, 0.1, 0.75}) {
    std::int64_t dropped = 0;
    Meaning m;
    m.weight = [&](double w, const Place &x) {
      const bool isKept = r.at("R", {x.b, x.h, x.q, x.k}) >= probability;
      dropped += !isKept;
      return isKept ? w / (1 - probability) : 0;
    };
    const auto want = inLoops(p, m);
    CHECK(double(dropped) == Approx(probability * double(n.h * n.sq * n.skv)).margin(250.0));
    const auto got = evaluate(makeVariant("dropout(" + std::to_string(probability) + ")", {.type = Type::f64}), p.in);
    for (const char *tensor : {"O", "lse"}) {
      const auto compared = compare(got.at(tensor), want.at(tensor), {1e-6, 1e-6});   // p is a multiple of 2^-24
      INFO(probability << " " << tensor << ": " << compared.summary);
      CHECK(compared.ok);
    }
  }
}

namespace {

struct Squares {                                          // w = s² / (1 + Σ s²)
  [[nodiscard]] std::tuple<Tile> start(const Scores &scores) const { return {full(0, scores.rows, scores.type)}; }
  [[nodiscard]] Weighted<Tile> step(const Scores &scores, std::tuple<Tile> state, Tile score) const {
    Tile weights = where(score == -infinity, 0.0, score * score);
    return {{std::get<0>(state) + sum(weights, over(scores.axis))}, weights, {}};
  }
  [[nodiscard]] Tile finish(const Scores &, std::tuple<Tile> state, Tile accumulated) const { return accumulated / (1.0 + std::get<0>(state)); }
};

} // namespace

TEST_CASE("a normaliser, steps of weights and steps of outputs of one's own") {
  const VariantShape n{2, 2, 1, 30, 50, 8, 16};
  Problem p = problemOf("causal", n);
  Attention squares("squares", Tensor("Q", Type::f64, 4), Tensor("K", Type::f64, 4), Tensor("V", Type::f64, 4), Tensor("O", Type::f64, 4));
  squares.normalise(Squares()).mask(causal()).weights([](Tile w, const At &at) { return w * (1 + at.key % 2); }).output([](Tile o, const AtOutput &at) { return o + at.channel; });
  Meaning m = meaningOf("causal", p);
  m.weigh = [](std::vector<double> &s, std::int64_t) {
    double total = 1;
    for (double &x : s) {
      x = x == -INFINITY ? 0 : x * x;
      total += x;
    }
    for (double &x : s)
      x /= total;
    return double(NAN);
  };
  m.weight = [](double w, const Place &x) { return w * double(1 + x.k % 2); };
  m.output = [](double o, std::int64_t, std::int64_t, std::int64_t, std::int64_t e) { return o + double(e); };
  const Array want = inLoops(p, m).at("O");
  for (std::int64_t tile : {0, 7}) {
    p.in.foldTile = tile;
    const auto compared = compare(evaluate(squares.program(), p.in).at("O"), want, {1e-12, 1e-12});
    INFO(compared.summary);
    CHECK(compared.ok);
  }
}
