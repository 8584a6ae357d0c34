//===- TorchFile.cpp - What torch.save wrote ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/TorchFile.h"

#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace nereid;
using namespace nereid::gpt2;
using Kind = PickleValue::Kind;

static constexpr std::string_view zipBegin = "PK\x03\x04";
/// A pickle of the number that PyTorch before 1.6 put first.
static constexpr std::string_view oldBegin =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

static constexpr std::string_view rebuildTensor =
    "torch._utils._rebuild_tensor_v2";
static constexpr std::string_view rebuildParameter =
    "torch._utils._rebuild_parameter";

namespace {
struct Storage {
  std::string_view name;
  DType dtype;
};
} // namespace

static constexpr Storage storages[] = {
    {"torch.FloatStorage", f32},     {"torch.HalfStorage", f16},
    {"torch.BFloat16Storage", bf16}, {"torch.DoubleStorage", f64},
    {"torch.LongStorage", i64},      {"torch.IntStorage", i32},
    {"torch.ShortStorage", i16},     {"torch.CharStorage", i8},
    {"torch.ByteStorage", u8},       {"torch.BoolStorage", i1}};

static std::vector<std::string_view> knownNames() {
  std::vector<std::string_view> names = {
      "collections.OrderedDict", rebuildTensor, rebuildParameter, "torch.Size"};
  for (const Storage &one : storages) {
    names.push_back(one.name);
  }
  return names;
}

bool gpt2::isTorchFile(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return false; // a pipe would be waited for
  }
  char bytes[14] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes, sizeof(bytes));
  std::string_view begin(bytes, size_t(file.gcount()));
  return begin.starts_with(zipBegin) || begin == oldBegin;
}

void TorchFile::refuse(const std::string &why) const {
  raise({ErrorCode::IoError, "'" + path_ + "': " + why, {}});
}

TorchFile::TorchFile(const std::string &path)
    : path_(path), file(MappedFile::open(path)) {
  auto refuseKind = [&](const std::string &why) {
    raise({ErrorCode::Unsupported, "'" + path + "': " + why, {}});
  };
  if (file->text().starts_with(oldBegin)) {
    refuseKind("expected a zip, as PyTorch writes it since 1.6, got a file of "
               "an older form; load it and torch.save it again");
  }
  if (!file->text().starts_with(zipBegin)) {
    refuse("expected a file of torch.save, a zip, got another file");
  }
  zip.emplace(file, path);
  std::optional<std::string> found = zip->prefixOf("/data.pkl");
  if (!found) {
    refuse("expected a zip of torch.save, with one data.pkl, got another zip");
  }
  prefix = *found + "/";
  if (zip->read(prefix + "constants.pkl")) {
    refuseKind("expected tensors of torch.save, got a program of TorchScript; "
               "save its state_dict()");
  }
  std::optional<std::string_view> order = zip->read(prefix + "byteorder");
  if (order && *order != "little") {
    refuseKind("expected little-endian elements, got big-endian ones");
  }
  pickle.emplace(*zip->read(prefix + "data.pkl"), path, knownNames());
}

static std::optional<Shape> sizesOf(const PickleValue &value) {
  const PickleValue *tuple = &value;
  if (const PickleValue *arguments = value.argumentsOf("torch.Size")) {
    tuple = arguments->items.size() == 1 ? arguments->items[0] : arguments;
  }
  Shape sizes;
  for (const PickleValue *one : tuple->items) {
    if (!one->is(Kind::Integer) || one->integer < 0) {
      return std::nullopt;
    }
    sizes.push_back(one->integer);
  }
  return tuple->is(Kind::Tuple) ? std::optional(sizes) : std::nullopt;
}

Tensor TorchFile::tensor(const PickleValue &value) {
  if (const PickleValue *arguments = value.argumentsOf(rebuildParameter)) {
    // (tensor, requires_grad, hooks). The tensor's own arguments are checked.
    bool isTensor = !arguments->items.empty() &&
                    arguments->items[0]->argumentsOf(rebuildTensor);
    return isTensor ? tensor(*arguments->items[0]) : Tensor();
  }
  const PickleValue *arguments = value.argumentsOf(rebuildTensor);
  if (!arguments) {
    return {};
  }
  const auto &items = arguments->items;
  std::optional<Shape> shape, strides;
  if (items.size() >= 4) {
    shape = sizesOf(*items[2]);
    strides = sizesOf(*items[3]);
  }
  if (!shape || !strides || shape->size() != strides->size() ||
      shape->size() > 64 || !items[0]->is(Kind::Persistent) ||
      !items[1]->is(Kind::Integer) || items[1]->integer < 0) {
    refuse("expected a tensor of a storage, an offset, sizes and strides, got "
           "something else; the file is damaged");
  }
  return view(*items[0], items[1]->integer, *shape, *strides);
}

void TorchFile::take(const Tensor &tensor) {
  taken += static_cast<uint64_t>(tensor.bytes());
  if (taken > file->text().size()) {
    refuse("expected elements of its own for each tensor, got tensors that "
           "share them: together " +
           std::to_string(taken) + " bytes or more, in a file of " +
           std::to_string(file->text().size()));
  }
}

/// `storage`: ("storage", torch.FloatStorage, key, device, elements).
Tensor TorchFile::view(const PickleValue &storage, int64_t offset, Shape shape,
                       const Shape &strides) {
  const auto &id = storage.items[0]->items;
  auto type = std::end(storages);
  if (storage.items[0]->is(Kind::Tuple) && id.size() == 5 &&
      id[0]->is(Kind::Text) && id[0]->text == "storage" &&
      id[1]->is(Kind::Global) && id[2]->is(Kind::Text) &&
      id[4]->is(Kind::Integer) && id[4]->integer >= 0) {
    type =
        std::find_if(std::begin(storages), std::end(storages),
                     [&](const Storage &s) { return s.name == id[1]->text; });
  }
  if (type == std::end(storages)) {
    refuse("expected a storage of a known type with a key and a size, got "
           "something else; the file is damaged");
  }
  const std::string &key = id[2]->text;
  std::optional<std::string_view> bytes = zip->read(prefix + "data/" + key);
  if (!bytes) {
    refuse("expected the elements of storage '" + key + "', got none");
  }
  auto width = int64_t(byteSize(type->dtype));
  int64_t count = id[4]->integer;
  if (uint64_t(count) != bytes->size() / uint64_t(width) ||
      bytes->size() % uint64_t(width) != 0) {
    refuse("storage '" + key + "': expected " + std::to_string(count) +
           " elements of " + std::to_string(width) + " bytes, got " +
           std::to_string(bytes->size()) + " bytes");
  }
  // No element is beyond the storage, and there are not more than it has (a
  // stride of 0 repeats one). Sizes of 0 count as 1 in strides.
  int64_t last = offset, elements = 1, most = width;
  bool isInside = true;
  for (size_t i = 0; i < shape.size() && isInside; ++i) {
    int64_t step = 0, size = shape[i], atLeast = std::max<int64_t>(size, 1);
    isInside = !__builtin_mul_overflow(atLeast - 1, strides[i], &step) &&
               !__builtin_add_overflow(last, step, &last) &&
               !__builtin_mul_overflow(most, atLeast, &most);
    elements = isInside ? elements * size : elements;
  }
  if (!isInside || elements > count || (elements > 0 && last >= count)) {
    refuse("storage '" + key + "': expected a tensor inside of its " +
           std::to_string(count) + " elements, got one that reaches beyond");
  }
  if (elements == 0) {
    return empty(std::move(shape), type->dtype, Device::cpu());
  }
  auto *data = const_cast<char *>(bytes->data());
  if (reinterpret_cast<uintptr_t>(data) % uint64_t(width) == 0) {
    return Tensor::adopt(file, data + offset * width, std::move(shape),
                         type->dtype, Device::cpu(), strides);
  }
  Tensor &copy = aligned[key];
  if (!copy.defined()) {
    copy = empty({count}, type->dtype, Device::cpu());
    std::memcpy(copy.data(), data, bytes->size());
  }
  return Tensor::adopt(std::make_shared<Tensor>(copy),
                       static_cast<char *>(copy.data()) + offset * width,
                       std::move(shape), type->dtype, Device::cpu(), strides);
}
