//===- Npy.cpp - NumPy array files ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   offset 0   "\x93NUMPY", major, minor
//   offset 8   header length: u16 (version 1) or u32 (2 and 3)
//   then       a Python dict literal: {'descr': '<f4', 'fortran_order': False,
//              'shape': (3, 4), }, padded with spaces, ending in a newline
//   then       the elements
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Npy.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace nereid {

[[noreturn]] static void refuse(ErrorCode code, const std::string &path,
                                const std::string &why) {
  raise({code, "'" + path + "': " + why, {}});
}

namespace {
struct NpyHeader {
  std::string descr;
  bool fortran = false;
  Shape shape;
  size_t dataOffset = 0;
};

/// The dict literal. Only what NumPy writes: string, bool and tuple-of-int
/// values, keys in any order.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &path)
      : rest(text), path(path) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descr = description();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran = boolean();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        fail();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (!descr || !order || !shape || !rest.empty()) {
      fail();
    }
    return header;
  }

private:
  [[noreturn]] void fail() {
    refuse(
        ErrorCode::InvalidArgument, path,
        "expected a header as NumPy writes it, with descr, fortran_order and "
        "shape, got one that cannot be understood");
  }
  void skipSpace() {
    while (!rest.empty() && std::strchr(" \t\r\n", rest[0]) && rest[0]) {
      rest.remove_prefix(1);
    }
  }
  bool accept(char c) {
    skipSpace();
    if (rest.empty() || rest[0] != c) {
      return false;
    }
    rest.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) {
      fail();
    }
  }
  std::string quoted() {
    skipSpace();
    char quote = rest.empty() ? 0 : rest[0];
    size_t end = rest.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) {
      fail();
    }
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }
  std::string description() {
    skipSpace();
    if (!rest.empty() && rest[0] == '[') {
      refuse(ErrorCode::Unsupported, path,
             "expected elements of one type, got structured ones");
    }
    return quoted();
  }
  bool boolean() {
    skipSpace();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (rest.starts_with(word)) {
        rest.remove_prefix(word.size());
        return value;
      }
    }
    fail();
  }
  Shape tuple() {
    Shape values;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      int64_t value = 0;
      auto [end, error] =
          std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (error != std::errc() || value < 0) {
        fail();
      }
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      accept('L'); // Python 2 wrote long integers so
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view rest;
  const std::string &path;
};
} // namespace

/// Reads all `bytes`, or refuses the file.
static void readPart(InputFile &file, const std::string &path, void *to,
                     size_t bytes, const char *what) {
  size_t got = valueOrThrow(file.read(to, bytes));
  if (got != bytes) {
    refuse(ErrorCode::InvalidArgument, path,
           "the file is cut off: expected " + std::to_string(bytes) +
               " bytes of " + what + ", got " + std::to_string(got));
  }
}

static NpyHeader readHeader(InputFile &file, const std::string &path) {
  constexpr std::string_view magic = "\x93NUMPY";
  char start[8];
  if (valueOrThrow(file.read(start, 8)) != 8 ||
      !std::string_view(start, 8).starts_with(magic)) {
    refuse(ErrorCode::InvalidArgument, path,
           "expected a .npy file, got one that does not begin as such");
  }
  int major = static_cast<uint8_t>(start[6]);
  if (major < 1 || major > 3) {
    refuse(ErrorCode::Unsupported, path,
           "expected a version of the .npy format from 1 to 3, got " +
               std::to_string(major));
  }
  size_t lengthBytes = major == 1 ? 2 : 4;
  uint8_t digits[4] = {};
  readPart(file, path, digits, lengthBytes, "its header");
  size_t length = digits[0] | size_t{digits[1]} << 8 | size_t{digits[2]} << 16 |
                  size_t{digits[3]} << 24;
  constexpr size_t mostHeaderBytes = size_t{1} << 20;
  if (length > mostHeaderBytes) {
    refuse(ErrorCode::InvalidArgument, path,
           "expected a header of at most " + std::to_string(mostHeaderBytes) +
               " bytes, got " + std::to_string(length));
  }
  std::string text(length, '\0');
  readPart(file, path, text.data(), length, "its header");
  NpyHeader header = HeaderParser(text, path).parse();
  header.dataOffset = 8 + lengthBytes + length;
  return header;
}

/// Of the elements, or the largest number when it has more.
static uint64_t elementBytes(const NpyHeader &header, size_t each) {
  uint64_t bytes = each;
  for (int64_t size : header.shape) {
    if (size == 0) {
      return 0;
    }
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) {
      bytes = UINT64_MAX;
    }
  }
  return bytes;
}

namespace {
struct NpyType {
  char kind; ///< b i u f, or V for raw bytes
  size_t bytes;
  bool swap;
};
} // namespace

static NpyType parseType(const NpyHeader &header, const std::string &path) {
  const std::string &d = header.descr;
  NpyType type{};
  bool hasOrder = !d.empty() && std::strchr("<>|=", d[0]);
  std::string_view rest = std::string_view(d).substr(hasOrder ? 1 : 0);
  type.swap = hasOrder && d[0] == '>';
  if (rest.size() >= 2) {
    type.kind = rest[0] == '?' ? 'b' : rest[0];
    const char *last = rest.data() + rest.size();
    auto [end, error] = std::from_chars(rest.data() + 1, last, type.bytes);
    if (error != std::errc() || end != last) {
      type.kind = 0;
    }
  } else if (rest == "?") {
    type = {'b', 1, false};
  }
  bool known = (type.kind == 'b' && type.bytes == 1) ||
               ((type.kind == 'i' || type.kind == 'u' || type.kind == 'V') &&
                (type.bytes == 1 || type.bytes == 2 || type.bytes == 4 ||
                 type.bytes == 8)) ||
               (type.kind == 'f' &&
                (type.bytes == 2 || type.bytes == 4 || type.bytes == 8));
  if (!known) {
    refuse(ErrorCode::Unsupported, path,
           "expected elements of bool, int, uint, float or raw bytes, of 1 to "
           "8 bytes, got the NumPy type '" +
               d + "'");
  }
  return type;
}

/// The DType of a NumPy type. Raw bytes have one where they are two: bf16,
/// which ml_dtypes writes so.
static std::optional<DType> dtypeOfNpy(const NpyType &type) {
  int log2 = type.bytes == 1   ? 0
             : type.bytes == 2 ? 1
             : type.bytes == 4 ? 2
                               : 3;
  switch (type.kind) {
  case 'b':
    return i1;
  case 'i':
    return std::array{i8, i16, i32, i64}[log2];
  case 'u':
    return std::array{u8, u16, u32, u64}[log2];
  case 'f':
    return std::array{f16, f16, f32, f64}[log2];
  default:
    return type.bytes == 2 ? std::optional(bf16) : std::nullopt;
  }
}

Tensor loadNpy(Text text, std::optional<DType> dtype, Device device) {
  std::string path = text.str();
  InputFile file = valueOrThrow(InputFile::open(path));
  NpyHeader header = readHeader(file, path);
  NpyType type = parseType(header, path);
  std::optional<DType> stored = dtypeOfNpy(type);
  if (!dtype && !stored) {
    refuse(ErrorCode::Unsupported, path,
           "expected a dtype for raw elements, as in @file.npy:bf16, got '" +
               header.descr + "' alone");
  }
  if (dtype && byteSize(*dtype) != type.bytes) {
    refuse(ErrorCode::InvalidArgument, path,
           "expected a dtype of " + std::to_string(type.bytes) +
               " bytes, as the elements ('" + header.descr + "') have, got " +
               std::string(languageName(*dtype)));
  }
  // Before memory is taken for them.
  uint64_t wanted = elementBytes(header, type.bytes);
  if (file.size() && *file.size() - header.dataOffset < wanted) {
    refuse(ErrorCode::InvalidArgument, path,
           "the file is cut off: expected " + std::to_string(wanted) +
               " bytes of elements, got " +
               std::to_string(*file.size() - header.dataOffset));
  }
  // Fortran order is a row-major array of the reversed shape, transposed.
  Shape shape = header.shape;
  if (header.fortran) {
    std::reverse(shape.begin(), shape.end());
  }
  Tensor tensor = empty(shape, dtype.value_or(stored.value_or(u8)),
                        device.isHost() ? device : Device::cpu());
  auto bytes = static_cast<size_t>(tensor.bytes());
  auto *data = static_cast<char *>(tensor.data());
  readPart(file, path, data, bytes, "elements");
  if (type.swap) {
    for (size_t i = 0; i < bytes; i += type.bytes) {
      std::reverse(data + i, data + i + type.bytes);
    }
  }
  if (!header.fortran) {
    return tensor.to(device);
  }
  std::vector<int> order;
  for (int i = tensor.rank(); i-- > 0;) {
    order.push_back(i);
  }
  return tensor.permute(order).contiguous().to(device);
}

/// '<f4'. fp8 is the integers of its bits.
static std::string descrOf(DType dtype) {
  size_t bytes = byteSize(dtype);
  char kind = dtype == i1                                    ? 'b'
              : dtype == f16 || dtype == f32 || dtype == f64 ? 'f'
              : dtype == bf16                                ? 'V'
              : isSigned(dtype)                              ? 'i'
                                                             : 'u';
  return std::string(bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
}

void saveNpy(Text path, const Tensor &tensor) {
  Tensor rowMajor = tensor.onHost().contiguous();
  std::string header = "{'descr': '" + descrOf(tensor.dtype()) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.shape()) {
    header += std::to_string(size) + ",";
  }
  header += "), }";
  // The elements start at a multiple of 64 bytes; the header ends in newline.
  // Version 2 is for headers whose length does not fit 16 bits.
  size_t lengthBytes = header.size() < 65000 ? 2 : 4, start = 8 + lengthBytes;
  size_t length = (start + header.size() + 1 + 63) / 64 * 64 - start;
  header.resize(length - 1, ' ');
  header += '\n';
  std::string head("\x93NUMPY", 6);
  head += {static_cast<char>(lengthBytes == 2 ? 1 : 2), '\0'};
  for (size_t i = 0; i < lengthBytes; ++i) {
    head += static_cast<char>(length >> (8 * i) & 0xff);
  }
  head += header;
  std::string_view pieces[] = {head,
                               {static_cast<const char *>(rowMajor.data()),
                                static_cast<size_t>(rowMajor.bytes())}};
  throwIfFailed(writeFileAtomically(path.str(), pieces));
}

} // namespace nereid
