// Artifacts as bytes: a JSON header with the facts, then the code.
#include "tilewright/artifact/Artifact.h"
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tw {

using Json = nlohmann::json;
NLOHMANN_JSON_SERIALIZE_ENUM(Parameter::Kind, {{Parameter::Kind::tensor, "tensor"}, {Parameter::Kind::extent, "extent"},
  {Parameter::Kind::scalar, "scalar"}, {Parameter::Kind::item, "item"}, {Parameter::Kind::scratch, "scratch"}})
NLOHMANN_JSON_SERIALIZE_ENUM(AxisFacts::Role, {{AxisFacts::Role::free, "free"}, {AxisFacts::Role::block, "block"},
  {AxisFacts::Role::fold, "fold"}, {AxisFacts::Role::inner, "inner"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Expression, op, value, name, dimension, operands)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, kind, name, type, rank, stored, positive, summed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AxisBinding, tensor, dimension)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AxisFacts, name, role, width, bindings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IndexFacts, tensor, dimension, index, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RequirementFacts, condition, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListFacts, axis, width)
using FieldKind = ParameterField::Kind;
NLOHMANN_JSON_SERIALIZE_ENUM(ParameterField::Kind, {{FieldKind::map, "map"}, {FieldKind::pointer, "pointer"}, {FieldKind::stride, "stride"},
  {FieldKind::extent, "extent"}, {FieldKind::length, "length"}, {FieldKind::scalar, "scalar"}, {FieldKind::blocks, "blocks"}, {FieldKind::frees, "frees"},
  {FieldKind::group, "group"}, {FieldKind::items, "items"}, {FieldKind::counters, "counters"},
  {FieldKind::lists, "lists"}, {FieldKind::listRoom, "listRoom"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MapDimension, dimension, chunk, size, box)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ParameterField, kind, name, axis, tensor, type, dimension, dimensions, swizzle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchFacts, fields, blockAxis, blockWidth, freeAxes, threads, sharedBytes, blocksPerSM, counters, listAxis,
                                   listWidth, listSlots, grouped, ringTensors, softwareMaps, strided, storedPieces)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ResourceFacts, registers, spillBytes, stackBytes, staticSharedBytes, remarks)

namespace {
constexpr std::string_view magic = "tilewright artifact 6\n";
}

std::vector<std::string> namesOf(const Artifact &artifact, Parameter::Kind kind) {
  std::vector<std::string> names;
  for (const Parameter &parameter : artifact.parameters)
    if (parameter.kind == kind)
      names.push_back(parameter.name);
  return names;
}

std::string serialise(const Artifact &a) {
  Json facts = {{"program", a.program}, {"target", a.target}, {"schedule", a.schedule}, {"entry", a.entry},
                {"parameters", a.parameters}, {"axes", a.axes}, {"indices", a.indices}, {"requirements", a.requirements},
                {"limit", a.limit}, {"scratchBytes", a.scratchBytes}, {"lists", a.lists}, {"heaviestLast", a.heaviestLast}, {"launch", a.launch}, {"resources", a.resources}, {"instructions", a.instructions}, {"sourceBytes", a.source.size()}, {"codeBytes", a.code.size()}};
  return std::string(magic) + facts.dump() + "\n" + a.source + a.code;
}

Artifact parseArtifact(std::string_view bytes) {
  auto refuse = [](const std::string &why) -> std::runtime_error { return std::runtime_error("not an artifact of this version: " + why); };
  if (bytes.substr(0, magic.size()) != magic)
    throw refuse("expected it to start with \"tilewright artifact 6\"");
  bytes.remove_prefix(magic.size());
  std::size_t end = bytes.find('\n');
  if (end == bytes.npos)
    throw refuse("its facts are cut short");
  Artifact a;
  std::size_t sourceBytes = 0, codeBytes = 0;
  try {
    Json facts = Json::parse(bytes.substr(0, end));
    facts.at("program").get_to(a.program);
    facts.at("target").get_to(a.target);
    facts.at("schedule").get_to(a.schedule);
    facts.at("entry").get_to(a.entry);
    facts.at("parameters").get_to(a.parameters);
    facts.at("axes").get_to(a.axes);
    facts.at("indices").get_to(a.indices);
    facts.at("requirements").get_to(a.requirements);
    facts.at("limit").get_to(a.limit);
    facts.at("scratchBytes").get_to(a.scratchBytes);
    facts.at("lists").get_to(a.lists);
    facts.at("heaviestLast").get_to(a.heaviestLast);
    facts.at("launch").get_to(a.launch);
    facts.at("resources").get_to(a.resources);
    facts.at("instructions").get_to(a.instructions);
    facts.at("sourceBytes").get_to(sourceBytes);
    facts.at("codeBytes").get_to(codeBytes);
  } catch (const Json::exception &error) {
    throw refuse(error.what());
  }
  bytes.remove_prefix(end + 1);
  if (bytes.size() != sourceBytes + codeBytes)
    throw refuse("it holds " + std::to_string(bytes.size()) + " bytes of source and code, its facts say " + std::to_string(sourceBytes + codeBytes));
  a.source = std::string(bytes.substr(0, sourceBytes));
  a.code = std::string(bytes.substr(sourceBytes));
  return a;
}

} // namespace tw
