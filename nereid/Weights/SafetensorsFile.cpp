//===- SafetensorsFile.cpp - Reading files of named tensors ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Error.h"
#include "nereid/Weights/MappedFile.h"
#include "nereid/Weights/Safetensors.h"
#include "nereid/Weights/SafetensorsTypes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>

using namespace nereid;
using nlohmann::json;

namespace {

/// The header's rules; each message begins with the file.
class Header {
public:
  struct Row {
    std::string name;
    DType dtype = f32;
    Shape shape;
    uint64_t begin = 0, end = 0;
  };

  Header(const std::string &path, std::string_view text, uint64_t dataBytes)
      : path(path) {
    json object = parse(text);
    for (auto &[name, value] : object.items()) {
      if (name == "__metadata__") {
        readMetadata(value);
      } else {
        rows.push_back(row(name, value));
      }
    }
    std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    checkPlaces(dataBytes);
  }

  [[noreturn]] static void refuse(const std::string &path,
                                  const std::string &why,
                                  ErrorCode code = ErrorCode::IoError) {
    raise({code, "'" + path + "': " + why, {}});
  }

  Metadata metadata;
  std::vector<Row> rows;

private:
  [[noreturn]] void refuse(const std::string &why) const { refuse(path, why); }
  [[noreturn]] void refuseTensor(const std::string &name,
                                 const std::string &why) const {
    refuse("tensor '" + name + "': " + why);
  }

  json parse(std::string_view text) const {
    if (!text.starts_with('{')) {
      refuse("expected a safetensors file, whose header begins with '{', got "
             "another file");
    }
    // A parser would keep the last of two equal names, and build whatever
    // depth it is given.
    std::vector<std::set<std::string>> names;
    auto watch = [&](int depth, json::parse_event_t event, json &value) {
      if (event == json::parse_event_t::object_start) {
        names.emplace_back();
      } else if (event == json::parse_event_t::object_end) {
        names.pop_back();
      } else if (event == json::parse_event_t::key &&
                 !names.back().insert(value.get<std::string>()).second) {
        refuse("the name '" + value.get<std::string>() +
               "' stands twice in the header");
      }
      if (depth > 8) {
        refuse("expected a header of names, shapes and offsets, got deeper "
               "structures");
      }
      return true;
    };
    try {
      return json::parse(text, watch);
    } catch (const json::exception &) {
      refuse("expected a header that is a JSON object, got text that is none; "
             "the file is damaged or no safetensors file");
    }
  }

  void readMetadata(const json &value) {
    bool isTexts = value.is_object();
    for (auto &[key, text] : value.items()) {
      isTexts = isTexts && text.is_string();
    }
    if (!isTexts) {
      refuse("expected '__metadata__' to be names with texts, got " +
             std::string(value.type_name()));
    }
    for (auto &[key, text] : value.items()) {
      metadata[key] = text.get<std::string>();
    }
  }

  /// Numbers of an array, each from 0 to 2^63 - 1.
  std::vector<int64_t> numbers(const std::string &name, const json &value,
                               const char *key) const {
    auto list = value.find(key);
    bool isList = list != value.end() && list->is_array();
    std::vector<int64_t> result;
    for (size_t i = 0; isList && i < list->size(); ++i) {
      const json &number = (*list)[i];
      isList = number.is_number_unsigned() &&
               number.get<uint64_t>() <= uint64_t{INT64_MAX};
      result.push_back(isList ? int64_t(number.get<uint64_t>()) : 0);
    }
    if (!isList) {
      refuseTensor(name, std::string("expected '") + key +
                             "' to be a list of numbers from 0 on");
    }
    return result;
  }

  Row row(const std::string &name, const json &value) const {
    if (!value.is_object()) {
      refuseTensor(name, "expected dtype, shape and data_offsets, got " +
                             std::string(value.type_name()));
    }
    Row row;
    row.name = name;
    auto dtype = value.find("dtype");
    if (dtype == value.end() || !dtype->is_string()) {
      refuseTensor(name, "expected 'dtype' to be the name of a type");
    }
    auto type =
        std::find_if(std::begin(safetensorsTypes), std::end(safetensorsTypes),
                     [&](const auto &t) { return *dtype == t.first; });
    if (type == std::end(safetensorsTypes)) {
      std::string known;
      for (const auto &[one, same] : safetensorsTypes) {
        known += (known.empty() ? "" : ", ") + std::string(one);
      }
      refuse(path,
             "tensor '" + name + "': expected a type among " + known +
                 ", got '" + dtype->get<std::string>() + "'",
             ErrorCode::Unsupported);
    }
    row.dtype = type->second;
    row.shape = numbers(name, value, "shape");
    std::vector<int64_t> offsets = numbers(name, value, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      refuseTensor(name, "expected 'data_offsets' to be a begin and an end "
                         "that is not before it");
    }
    row.begin = uint64_t(offsets[0]);
    row.end = uint64_t(offsets[1]);
    auto bytes = int64_t(byteSize(row.dtype));
    // Strides must not overflow either: there, sizes of 0 count as 1.
    int64_t most = bytes;
    for (int64_t size : row.shape) {
      if (__builtin_mul_overflow(most, std::max<int64_t>(size, 1), &most)) {
        refuseTensor(name, "its shape has more than 2^63 bytes");
      }
      bytes *= size;
    }
    if (uint64_t(bytes) != row.end - row.begin) {
      refuseTensor(name, "expected " + std::to_string(bytes) +
                             " bytes of elements, as its shape and type say, "
                             "got offsets of " +
                             std::to_string(row.end - row.begin));
    }
    return row;
  }

  void checkPlaces(uint64_t dataBytes) const {
    uint64_t end = 0;
    for (const Row &row : rows) {
      if (row.begin != end) {
        refuseTensor(row.name,
                     (row.begin < end ? "it overlaps the tensor before it: "
                                      : "there is a gap in front of it: ") +
                         std::string("expected it at ") + std::to_string(end) +
                         ", got " + std::to_string(row.begin));
      }
      end = row.end;
    }
    if (end > dataBytes) {
      refuse("the file is cut off: expected " + std::to_string(end) +
             " bytes of elements, got " + std::to_string(dataBytes));
    }
    if (end < dataBytes) {
      refuse("expected the last tensor to end with the file, got " +
             std::to_string(dataBytes - end) + " bytes after it");
    }
  }

  const std::string &path;
};

} // namespace

SafetensorsFile::SafetensorsFile(const std::string &path) : path_(path) {
  std::shared_ptr<MappedFile> file = MappedFile::open(path);
  mapping = std::shared_ptr<void>(file, file->data);
  bytes_ = file->bytes;
  const auto *bytes = static_cast<const uint8_t *>(file->data);
  if (bytes_ < 8) {
    Header::refuse(path, "the file is cut off: expected 8 bytes of the "
                         "header's length, got " +
                             std::to_string(bytes_));
  }
  uint64_t length = 0;
  for (int i = 0; i < 8; ++i) {
    length |= uint64_t{bytes[i]} << 8 * i;
  }
  if (length > mostHeaderBytes) {
    Header::refuse(path, "expected a safetensors file, whose header has at "
                         "most " +
                             std::to_string(mostHeaderBytes) + " bytes, got " +
                             std::to_string(length));
  }
  if (length > bytes_ - 8) {
    Header::refuse(
        path, "the file is cut off: expected " + std::to_string(length) +
                  " bytes of its header, got " + std::to_string(bytes_ - 8));
  }
  const auto *text = reinterpret_cast<const char *>(bytes + 8);
  Header header(path, {text, length}, bytes_ - 8 - length);
  metadata_ = std::move(header.metadata);
  auto *data = static_cast<uint8_t *>(file->data) + 8 + length;
  for (Header::Row &row : header.rows) {
    uint8_t *place = data + row.begin;
    Tensor tensor;
    if (row.begin == row.end) {
      tensor = empty(row.shape, row.dtype, Device::cpu());
    } else if (reinterpret_cast<uintptr_t>(place) % byteSize(row.dtype) == 0) {
      tensor = Tensor::adopt(file, place, row.shape, row.dtype, Device::cpu());
    } else {
      tensor = empty(row.shape, row.dtype, Device::cpu());
      std::memcpy(tensor.data(), place, row.end - row.begin);
    }
    places[row.name] = tensors_.size();
    tensors_.push_back({std::move(row.name), std::move(tensor)});
  }
}

Tensor SafetensorsFile::find(std::string_view name) const {
  auto place = places.find(name);
  return place == places.end() ? Tensor() : tensors_[place->second].tensor;
}

Digest SafetensorsFile::digest() const {
  return hashBytes(mapping.get(), bytes_);
}
