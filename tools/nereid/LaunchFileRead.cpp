//===- LaunchFileRead.cpp - From JSON to a launch -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "LaunchFile.h"

#include "nereid/Support/EditDistance.h"

#include <charconv>

namespace nereid {

using Json = JsonReader::Json;

static std::string pathFrom(const std::filesystem::path &folder,
                            const JsonReader &json) {
  if (json.text().empty()) {
    json.expected("a path");
  }
  return (folder / json.text()).lexically_normal().string();
}

static DType readDType(const JsonReader &json) {
  std::optional<DType> dtype = parseDType(json.text());
  if (!dtype) {
    std::vector<std::string> names;
    for (int i = 0; i < numDTypes; ++i) {
      names.emplace_back(shortName(static_cast<DType>(i)));
      names.emplace_back(languageName(static_cast<DType>(i)));
    }
    json.fail("expected a dtype such as \"fp32\", got \"" + json.text() + "\"" +
              didYouMean(json.text(), names));
  }
  return *dtype;
}

//===----------------------------------------------------------------------===//
// Storages
//===----------------------------------------------------------------------===//

static std::string readHex(const JsonReader &json) {
  const std::string &digits = json.text();
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned value = 0;
    const char *first = digits.data() + i;
    auto [end, error] = std::from_chars(first, first + 2, value, 16);
    if (error != std::errc() || end != first + 2) {
      json.expected("two hexadecimal digits a byte");
    }
    bytes += static_cast<char>(value);
  }
  if (digits.size() % 2) {
    json.expected("two hexadecimal digits a byte");
  }
  return bytes;
}

static void readContent(const JsonReader &json,
                        const std::filesystem::path &folder,
                        LaunchStorage &storage) {
  static const char *const contents[] = {"fill", "file", "hex", "npy",
                                         "generate"};
  int count = 0;
  for (const char *name : contents) {
    count += json.has(name);
  }
  if (count > 1) {
    json.fail("expected one of fill, file, hex, npy and generate, got several");
  }
  if (auto bytes = json.find("bytes")) {
    storage.bytes = bytes->integer(0, int64_t{1} << 46);
  }
  if (auto file = json.find("file")) {
    storage.content = LaunchStorage::Content::Raw;
    storage.path = pathFrom(folder, *file);
  } else if (auto hex = json.find("hex")) {
    storage.content = LaunchStorage::Content::Inline;
    storage.data = readHex(*hex);
  } else if (auto npy = json.find("npy")) {
    storage.content = LaunchStorage::Content::Array;
    storage.array = "@" + pathFrom(folder, *npy);
  } else if (auto generate = json.find("generate")) {
    storage.content = LaunchStorage::Content::Array;
    storage.array = generate->text();
    if (!storage.array.ends_with(']')) {
      generate->expected("a generator such as \"randn:f32[1024]\"");
    }
  } else if (storage.bytes < 0) {
    json.fail("expected \"bytes\", or contents: file, hex, npy or generate");
  }
  if (auto fill = json.find("fill")) {
    storage.fill = static_cast<uint8_t>(fill->integer(0, 255));
  }
}

static std::vector<PointerEntry> readPointers(const JsonReader &json,
                                              size_t storages) {
  std::vector<PointerEntry> entries;
  for (size_t i = 0; i < json.checkList().size(); ++i) {
    JsonReader item = json.item(i);
    item.checkKeys({"at", "storage", "offset"});
    PointerEntry entry;
    entry.at = item.at("at").integer(0);
    entry.storage = static_cast<size_t>(
        item.at("storage").integer(0, static_cast<int64_t>(storages) - 1));
    if (auto offset = item.find("offset")) {
      entry.offset = offset->integer();
    }
    entries.push_back(entry);
  }
  return entries;
}

static LaunchStorage readStorage(const JsonReader &json,
                                 const std::filesystem::path &folder,
                                 size_t storages) {
  json.checkKeys({"file", "hex", "npy", "generate", "seed", "fill", "bytes",
                  "skew", "pointers", "out"});
  LaunchStorage storage;
  storage.place = json.place();
  readContent(json, folder, storage);
  if (auto seed = json.find("seed")) {
    storage.seed = static_cast<uint64_t>(seed->integer(0));
  }
  if (auto skew = json.find("skew")) {
    storage.skew = skew->integer(0, 255);
  }
  if (auto pointers = json.find("pointers")) {
    storage.pointers = readPointers(*pointers, storages);
  }
  if (auto out = json.find("out")) {
    storage.out = pathFrom(folder, *out);
  }
  return storage;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static LaunchView readView(const JsonReader &json, size_t storages) {
  json.checkKeys({"dtype", "shape", "strides", "storage", "offset"});
  LaunchView view;
  view.dtype = readDType(json.at("dtype"));
  view.shape = json.at("shape").integers(0);
  if (auto strides = json.find("strides")) {
    view.strides = strides->integers(0);
    if (view.strides->size() != view.shape.size()) {
      strides->expected("one stride a dimension, " +
                        std::to_string(view.shape.size()));
    }
  }
  view.storage = static_cast<size_t>(
      json.at("storage").integer(0, static_cast<int64_t>(storages) - 1));
  if (auto offset = json.find("offset")) {
    view.offset = offset->integer(0);
  }
  return view;
}

static LaunchValue readValue(const JsonReader &json, size_t storages);

static void readItems(const JsonReader &json, size_t storages,
                      LaunchValue &value) {
  value.kind = LaunchValue::Kind::Tuple;
  for (size_t i = 0; i < json.checkList().size(); ++i) {
    value.items.push_back(readValue(json.item(i), storages));
  }
}

/// A number that JSON cannot write exactly, or at all: "0x1.8p+3", "nan".
static double readFloat(const JsonReader &json) {
  if (json.json().is_number()) {
    return json.json().get<double>();
  }
  std::string_view digits = json.text();
  bool negative = digits.starts_with('-');
  digits.remove_prefix(negative || digits.starts_with('+'));
  bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  digits.remove_prefix(hex ? 2 : 0);
  double value = 0;
  auto [end, error] = std::from_chars(
      digits.data(), digits.data() + digits.size(), value,
      hex ? std::chars_format::hex : std::chars_format::general);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    json.expected("a number, or one as text: \"0x1.8p+3\", \"-inf\", \"nan\"");
  }
  return negative ? -value : value;
}

/// -2^63 to 2^64 - 1, as a number or as decimal text.
static void readInt(const JsonReader &json, LaunchValue &value) {
  uint64_t magnitude = 0;
  bool negative = false, isRead = true;
  if (json.json().is_number_unsigned()) {
    magnitude = json.json().get<uint64_t>();
  } else if (json.json().is_number_integer()) {
    value.plain = json.json().get<int64_t>();
    return;
  } else if (json.json().is_string()) {
    std::string_view digits = json.text();
    negative = digits.starts_with('-');
    digits.remove_prefix(negative);
    auto [end, error] = std::from_chars(
        digits.data(), digits.data() + digits.size(), magnitude);
    isRead = error == std::errc() && end == digits.data() + digits.size();
  } else {
    isRead = false;
  }
  constexpr uint64_t limit = uint64_t{1} << 63;
  if (!isRead || (negative && magnitude > limit)) {
    json.expected("an integer from -2^63 to 2^64 - 1");
  }
  value.plain = negative ? StaticValue(static_cast<int64_t>(0 - magnitude))
                         : StaticValue(magnitude);
}

static LaunchValue readDescriptor(const JsonReader &json, size_t storages) {
  json.checkKeys({"base", "shape", "strides", "block_shape", "padding"});
  LaunchValue value;
  value.kind = LaunchValue::Kind::Descriptor;
  value.view = readView(json.at("base"), storages);
  value.shape = json.at("shape").integers();
  value.strides = json.at("strides").integers();
  value.block = json.at("block_shape").integers();
  if (auto padding = json.find("padding")) {
    value.padding = padding->text();
    if (value.padding != "zero" && value.padding != "nan") {
      padding->expected("\"zero\" or \"nan\"");
    }
  }
  return value;
}

static LaunchValue readTyped(const JsonReader &json, size_t storages) {
  static const std::vector<std::string> kinds = {
      "int",   "float",  "bool",  "str",        "none",
      "dtype", "tensor", "tuple", "descriptor", "function"};
  std::string kind;
  for (const std::string &name : kinds) {
    if (json.has(name.c_str())) {
      kind = name;
      break;
    }
  }
  LaunchValue value;
  if (kind == "tuple") {
    json.checkKeys({"tuple", "names", "type"});
    readItems(json.at("tuple"), storages, value);
    if (auto names = json.find("names")) {
      value.names = names->texts();
      if (!value.names.empty() && value.names.size() != value.items.size()) {
        names->expected("one name an item");
      }
    }
    if (auto type = json.find("type")) {
      value.text = type->text();
    }
    return value;
  }
  if (kind.empty()) {
    json.expected("a value: a number, a bool, a string, null, a list, or an "
                  "object with one of the keys int, float, bool, str, none, "
                  "dtype, tensor, tuple, descriptor, function");
  }
  json.checkKeys({kind.c_str()});
  JsonReader inner = json.at(kind);
  if (kind == "int") {
    readInt(inner, value);
  } else if (kind == "float") {
    value.plain = readFloat(inner);
  } else if (kind == "bool") {
    value.plain = inner.boolean();
  } else if (kind == "str") {
    value.plain = inner.text();
  } else if (kind == "dtype") {
    value.plain = readDType(inner);
  } else if (kind == "tensor") {
    value.kind = LaunchValue::Kind::Tensor;
    value.view = readView(inner, storages);
  } else if (kind == "descriptor") {
    value = readDescriptor(inner, storages);
  } else if (kind == "function") {
    value.kind = LaunchValue::Kind::Function;
    value.text = inner.text();
  }
  return value;
}

static LaunchValue readValue(const JsonReader &json, size_t storages) {
  LaunchValue value;
  const Json &plain = json.json();
  if (plain.is_object()) {
    value = readTyped(json, storages);
  } else if (plain.is_array()) {
    readItems(json, storages, value);
  } else if (plain.is_boolean()) {
    value.plain = plain.get<bool>();
  } else if (plain.is_number_integer()) {
    readInt(json, value);
  } else if (plain.is_number()) {
    value.plain = plain.get<double>();
  } else if (plain.is_string()) {
    value.plain = plain.get<std::string>();
  }
  value.place = json.place();
  return value;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

/// "FILE:KERNEL", or an object of both.
static void readKernel(const JsonReader &json,
                       const std::filesystem::path &folder,
                       LaunchDescription &launch) {
  if (json.json().is_object()) {
    json.checkKeys({"file", "name"});
    launch.file = pathFrom(folder, json.at("file"));
    if (auto name = json.find("name")) {
      launch.kernel = name->text();
    }
    return;
  }
  std::tie(launch.file, launch.kernel) = splitKernel(pathFrom(folder, json));
}

static std::vector<int64_t> readGrid(const JsonReader &json) {
  if (json.json().is_number()) {
    return {json.integer(0)};
  }
  std::vector<int64_t> grid = json.integers(0);
  if (grid.empty() || grid.size() > 3) {
    json.expected("one to three sizes");
  }
  return grid;
}

LaunchDescription readLaunch(const JsonReader &json,
                             const std::filesystem::path &folder) {
  json.checkKeys({"kernel", "grid", "device", "storages", "arguments",
                  "options", "bind", "repeat", "id"});
  LaunchDescription launch;
  readKernel(json.at("kernel"), folder, launch);
  launch.grid = readGrid(json.at("grid"));
  if (auto device = json.find("device")) {
    launch.device = device->text();
  }
  size_t count = 0;
  if (auto storages = json.find("storages")) {
    count = storages->checkList().size();
    for (size_t i = 0; i < count; ++i) {
      launch.storages.push_back(readStorage(storages->item(i), folder, count));
    }
  }
  if (auto arguments = json.find("arguments")) {
    for (const auto &[name, value] : arguments->checkObject().json().items()) {
      launch.arguments.emplace_back(name,
                                    readValue(arguments->at(name), count));
    }
  }
  if (auto options = json.find("options")) {
    for (const auto &[name, value] : options->checkObject().json().items()) {
      LaunchValue option = readValue(options->at(name), 0);
      if (option.kind != LaunchValue::Kind::Plain) {
        options->at(name).expected("a number, a bool or null");
      }
      launch.options.emplace_back(name, std::move(option));
    }
  }
  if (auto bindings = json.find("bind")) {
    for (const auto &[name, value] : bindings->checkObject().json().items()) {
      LaunchValue binding = readValue(bindings->at(name), 0);
      if (binding.kind != LaunchValue::Kind::Plain) {
        bindings->at(name).expected("a number, a bool, a string or null");
      }
      launch.bindings.emplace(name, std::move(binding.plain));
    }
  }
  if (auto repeat = json.find("repeat")) {
    launch.repeat = repeat->integer(0);
  }
  if (auto id = json.find("id")) {
    launch.id = id->text();
  }
  return launch;
}

} // namespace nereid
