//===- LibraryHeader.cpp - A C++ function for each kernel -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryHeader.h"

#include "Commands.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace nereid {

//===----------------------------------------------------------------------===//
// Names and types
//===----------------------------------------------------------------------===//

static bool isKeyword(const std::string &name) {
  static const std::set<std::string> words = {
      "alignas",       "alignof",     "and",
      "and_eq",        "asm",         "auto",
      "bitand",        "bitor",       "bool",
      "break",         "case",        "catch",
      "char",          "char8_t",     "char16_t",
      "char32_t",      "class",       "co_await",
      "co_return",     "co_yield",    "compl",
      "concept",       "const",       "const_cast",
      "consteval",     "constexpr",   "constinit",
      "continue",      "decltype",    "default",
      "delete",        "do",          "double",
      "dynamic_cast",  "else",        "enum",
      "explicit",      "export",      "extern",
      "false",         "float",       "for",
      "friend",        "goto",        "if",
      "inline",        "int",         "long",
      "mutable",       "namespace",   "new",
      "noexcept",      "not",         "not_eq",
      "nullptr",       "operator",    "or",
      "or_eq",         "private",     "protected",
      "public",        "register",    "reinterpret_cast",
      "requires",      "return",      "short",
      "signed",        "sizeof",      "static",
      "static_assert", "static_cast", "struct",
      "switch",        "template",    "this",
      "thread_local",  "throw",       "true",
      "try",           "typedef",     "typeid",
      "typename",      "union",       "unsigned",
      "using",         "virtual",     "void",
      "volatile",      "wchar_t",     "while",
      "xor",           "xor_eq"};
  return words.count(name);
}

std::string identifier(const std::string &text) {
  std::string name;
  for (char c : text) {
    bool isGood = std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
                  static_cast<signed char>(c) < 0; // letters of UTF-8
    name += isGood ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) {
    name = "_" + name;
  }
  return isKeyword(name) ? name + "_" : name;
}

void checkNamespace(const std::string &space) {
  size_t begin = 0;
  while (true) {
    size_t end = std::min(space.find("::", begin), space.size());
    std::string name = space.substr(begin, end - begin);
    if (name.empty() || identifier(name) != name ||
        (begin == 0 && name == "std")) {
      usageError("--namespace: expected names of C++ with :: between them, "
                 "none of them a keyword or std, got '" +
                 space + "'");
    }
    if (end == space.size()) {
      return;
    }
    begin = end + 2;
  }
}

/// Of a number that is passed by value. Integers come whole: the launch checks
/// that they fit, where a C++ conversion would cut them off.
static const char *valueType(DType dtype) {
  switch (dtype) {
  case DType::Int1:
    return "bool";
  case DType::UInt64:
    return "uint64_t";
  case DType::Float64:
    return "double";
  default:
    return isFloat(dtype) ? "float" : "int64_t";
  }
}

static const char *pointeeType(DType dtype) {
  switch (dtype) {
  case DType::Int1:
    return "bool";
  case DType::Int8:
    return "int8_t";
  case DType::Int16:
    return "int16_t";
  case DType::Int32:
    return "int32_t";
  case DType::Int64:
    return "int64_t";
  case DType::UInt8:
    return "uint8_t";
  case DType::UInt16:
    return "uint16_t";
  case DType::UInt32:
    return "uint32_t";
  case DType::UInt64:
    return "uint64_t";
  case DType::Float8E4M3:
    return "nereid::Float8E4M3";
  case DType::Float8E5M2:
    return "nereid::Float8E5M2";
  case DType::Float16:
    return "nereid::Float16";
  case DType::BFloat16:
    return "nereid::BFloat16";
  case DType::Float32:
    return "float";
  case DType::Float64:
    return "double";
  }
  return "void";
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
class KernelWriter {
public:
  KernelWriter(const LibraryHeader &header, const LibraryKernel &kernel)
      : header(header), kernel(kernel), function(identifier(kernel.name)) {
    for (const LibraryParameter &p : kernel.parameters) {
      taken.insert(identifier(p.name));
    }
  }
  std::string write();

private:
  using Signatures = std::vector<const LibrarySignature *>;

  /// The same constant in every signature, or chosen by the runtime: no
  /// parameter of the function.
  bool isFixed(size_t parameter) const;
  bool isPointer(size_t parameter) const;
  bool isWritten(size_t parameter, const Signatures &signatures) const;
  /// Where it is a number or a constant.
  std::string valueTypeOf(size_t parameter) const;
  std::string pointerTypeOf(size_t parameter,
                            const Signatures &signatures) const;
  /// A name that no parameter of the kernel has.
  std::string freeName(std::string name) const;
  std::string comment() const;
  std::string handle() const;
  /// The function over tensors; of `signatures`, when given, over addresses.
  std::string overload(const Signatures *signatures) const;
  std::vector<Signatures> pointerOverloads() const;

  const LibraryHeader &header;
  const LibraryKernel &kernel;
  std::string function;
  std::set<std::string> taken;
};
} // namespace

bool KernelWriter::isFixed(size_t parameter) const {
  if (kernel.isTuned(kernel.parameters[parameter].name)) {
    return true;
  }
  const ArgumentSpec &first = kernel.signatures[0].arguments[parameter];
  return std::holds_alternative<StaticValue>(first) &&
         std::all_of(kernel.signatures.begin(), kernel.signatures.end(),
                     [&](const LibrarySignature &signature) {
                       return signature.arguments[parameter] == first;
                     });
}

bool KernelWriter::isPointer(size_t parameter) const {
  return std::any_of(kernel.signatures.begin(), kernel.signatures.end(),
                     [&](const LibrarySignature &signature) {
                       auto *runtime = std::get_if<RuntimeArgument>(
                           &signature.arguments[parameter]);
                       return runtime && runtime->isPointer;
                     });
}

bool KernelWriter::isWritten(size_t parameter,
                             const Signatures &signatures) const {
  for (const LibrarySignature *signature : signatures) {
    for (uint32_t image : signature->images) {
      for (const ImageParameter &p : header.images[image].parameters) {
        if (p.name == kernel.parameters[parameter].name && p.isWritten) {
          return true;
        }
      }
    }
  }
  return false;
}

std::string KernelWriter::valueTypeOf(size_t parameter) const {
  std::set<std::string> types;
  for (const LibrarySignature &signature : kernel.signatures) {
    const ArgumentSpec &spec = signature.arguments[parameter];
    if (auto *runtime = std::get_if<RuntimeArgument>(&spec)) {
      types.insert(valueType(runtime->dtype));
    } else {
      static constexpr const char *names[] = {
          "nereid::Argument", "bool",
          "int64_t",          "double",
          "const char *",     "nereid::DType",
          "nereid::Argument", "nereid::Argument",
          "uint64_t",         "nereid::Argument"};
      types.insert(names[std::get<StaticValue>(spec).value.index()]);
    }
  }
  return types.size() == 1 ? *types.begin() : "nereid::Argument";
}

std::string KernelWriter::pointerTypeOf(size_t parameter,
                                        const Signatures &signatures) const {
  auto *runtime =
      std::get_if<RuntimeArgument>(&signatures[0]->arguments[parameter]);
  if (!runtime) {
    return "std::nullptr_t ";
  }
  std::string type = std::string(pointeeType(runtime->dtype)) + " *";
  return isWritten(parameter, signatures) ? type : "const " + type;
}

std::string KernelWriter::freeName(std::string name) const {
  while (taken.count(name)) {
    name += "_";
  }
  return name;
}

std::string KernelWriter::comment() const {
  std::string text =
      "/// " + kernel.name + " of " + kernel.path + ", compiled for\n";
  std::set<std::string> targets;
  for (const LibrarySignature &signature : kernel.signatures) {
    text += "///   " + str(kernel, signature) +
            ", num_warps=" + std::to_string(signature.options.numWarps) + "\n";
    for (uint32_t image : signature.images) {
      const KernelImage &found = header.images[image];
      targets.insert(found.target + (found.format == ImageFormat::GpuAssembly
                                         ? " (PTX)"
                                         : ""));
    }
  }
  std::string list;
  for (const std::string &target : targets) {
    list += (list.empty() ? "" : ", ") + target;
  }
  return text + "/// and " + list + ".\n";
}

std::string KernelWriter::handle() const {
  return "inline const nereid::Kernel &" + function +
         "() {\n"
         "  static const nereid::Kernel kernel =\n"
         "      nereid::Kernel::fromLibrary(" +
         header.symbol + ", \"" + kernel.name +
         "\");\n"
         "  return kernel;\n"
         "}\n";
}

std::vector<KernelWriter::Signatures> KernelWriter::pointerOverloads() const {
  std::vector<Signatures> groups;
  std::vector<std::string> types;
  for (const LibrarySignature &signature : kernel.signatures) {
    std::string type;
    bool hasPointers = false;
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      if (isPointer(i) && !isFixed(i)) {
        auto *runtime = std::get_if<RuntimeArgument>(&signature.arguments[i]);
        type += (runtime ? pointeeType(runtime->dtype) : "none");
        type += ",";
        hasPointers = true;
      }
    }
    if (!hasPointers) {
      continue;
    }
    auto known = std::find(types.begin(), types.end(), type);
    if (known == types.end()) {
      types.push_back(type);
      groups.push_back({&signature});
    } else {
      groups[static_cast<size_t>(known - types.begin())].push_back(&signature);
    }
  }
  return groups;
}

std::string KernelWriter::overload(const Signatures *signatures) const {
  std::string device = freeName("device"), grid = freeName("grid"),
              arguments = freeName("arguments");
  std::string head = "inline void " + function + "(";
  head += signatures ? "nereid::Device " + device + ", " : "";
  head += "const nereid::Grid &" + grid;
  std::string list;
  bool named = false; // after a parameter that the function does not have
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (isFixed(i)) {
      named = true;
      continue;
    }
    std::string name = identifier(kernel.parameters[i].name);
    bool isNull = false; // none in some signature
    for (const LibrarySignature &signature : kernel.signatures) {
      isNull |= std::holds_alternative<StaticValue>(signature.arguments[i]);
    }
    std::string type = valueTypeOf(i), value = name;
    if (isPointer(i) && signatures) {
      type = pointerTypeOf(i, *signatures);
      value =
          type.starts_with("std::") ? name : "nereid::Pointer(" + name + ")";
    } else if (isPointer(i)) {
      type = isNull ? "const nereid::Argument &" : "const nereid::Tensor &";
    } else if (type == "nereid::Argument") {
      type = "const nereid::Argument &";
    }
    char last = type.back();
    head += ", " + type +
            (last == '&' || last == '*' || last == ' ' ? "" : " ") + name;
    list += (list.empty() ? "{" : ",\n      {") +
            (named ? "\"" + kernel.parameters[i].name + "\"" : "{}") + ", " +
            value + "}";
  }
  std::string call = "::" + header.space + "::" + function + "()" +
                     (signatures ? ".on(" + device + ")" : "");
  if (list.empty()) {
    return head + ") {\n  " + call + ".launch(" + grid + ", {});\n}\n";
  }
  return head + ") {\n  const nereid::LaunchArgument " + arguments +
         "[] = {\n      " + list + "};\n  " + call + ".launch(" + grid + ", " +
         arguments + ");\n}\n";
}

std::string KernelWriter::write() {
  std::string text = comment() + handle();
  text +=
      "/// On the arrays' device, on its current stream.\n" + overload(nullptr);
  for (const Signatures &signatures : pointerOverloads()) {
    text += "/// The same over memory of `" + freeName("device") + "`.\n" +
            overload(&signatures);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string writeHeader(const LibraryHeader &header) {
  std::string guard = header.symbol + "_H";
  std::transform(guard.begin(), guard.end(), guard.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  std::string text = "// Made by `nereid compile --emit header`.\n"
                     "#ifndef " +
                     guard + "\n#define " + guard +
                     "\n\n#include \"nereid/Runtime/Kernel.h\"\n\n"
                     "#include <cstdint>\n\n"
                     "extern \"C\" const nereid::KernelLibrary " +
                     header.symbol + ";\n\nnamespace " + header.space + " {\n";
  for (const LibraryKernel &kernel : header.kernels) {
    text += "\n" + KernelWriter(header, kernel).write();
  }
  return text + "\n} // namespace " + header.space + "\n\n#endif // " + guard +
         "\n";
}

} // namespace nereid
