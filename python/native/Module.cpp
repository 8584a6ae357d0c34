//===- Module.cpp - nereid._native ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Python sees of the compiler and the runtime: Core and Launcher
// (CoreTypes.cpp), a launch's compiled form, and questions about the machine.
//
//===----------------------------------------------------------------------===//

#include "python/native/Arguments.h"
#include "python/native/Core.h"

#include "nereid/ABI/KernelCompiler.h"
#include "nereid/Runtime/DeviceProperties.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace nereid::python {

namespace {
/// What a launch compiled or found, and how to get at its stages.
struct Form {
  Kernel kernel;
  CompileRequest request;
  CompiledInfo info;
  std::string key; ///< what launches tell it by: equal in every process
};
} // namespace

/// Stages that have no text are bytes.
static nb::object emitStage(const Form &form, const std::string &stage) {
  CompileRequest request = form.request;
  request.emit = stage;
  std::string text;
  {
    nb::gil_scoped_release others;
    text = valueOrThrow(createKernelCompiler()->compile(request)).stage;
  }
  if (stage == "obj") {
    return nb::bytes(text.data(), text.size());
  }
  return nb::str(text.data(), text.size());
}

/// Names of what a launch passes.
static std::vector<std::string> parametersOf(const Form &form) {
  std::vector<std::string> names;
  for (const ImageParameter &parameter : form.info.image.parameters) {
    names.push_back(parameter.name);
  }
  return names;
}

/// Names of the arrays that a store or an atomic can reach.
static std::vector<std::string> writtenBy(const Form &form) {
  std::vector<std::string> names;
  for (const ImageParameter &parameter : form.info.image.parameters) {
    if (parameter.isWritten) {
      names.push_back(parameter.name);
    }
  }
  return names;
}

/// A cubin that anybody can launch by the driver: with `num_warps` warps,
/// `shared` bytes of dynamic shared memory and `parameters`, no others. None
/// where there is none.
static nb::object machineCodeOf(const Form &form) {
  const KernelImage &image = form.info.image;
  constexpr uint32_t threadsOfWarp = 32;
  if (image.format != ImageFormat::GpuBinary || image.code.empty() ||
      image.hasFaultRecord || !image.tensorMaps.empty() ||
      form.request.options.numCtas != 1 ||
      image.threadsPerBlock != threadsOfWarp * image.numWarps) {
    return nb::none();
  }
  return nb::bytes(reinterpret_cast<const char *>(image.code.data()),
                   image.code.size());
}

/// compiled(owner, form, specialization, is a warmup, warnings, lines).
static Ref tellOf(const FormRequest &request, Form form) {
  Ref warnings = tupleOf(form.info.image.warnings);
  nb::object made = nb::cast(std::move(form));
  return Ref::steal(PyObject_CallFunctionObjArgs(
      registered.compiled, request.owner, made.ptr(),
      request.specialization.get(), request.compilesOnly ? Py_True : Py_False,
      warnings.get(), request.lines ? request.lines.get() : Py_None, nullptr));
}

Ref makeForm(const FormRequest &request, bool &needsSizes) {
  Form form{request.kernel,
            request.kernel.preview(Grid(1), request.arguments).request,
            request.kernel.compile(request.arguments),
            std::string(request.key)};
  needsSizes |= !form.info.image.tensorMaps.empty();
  return tellOf(request, std::move(form));
}

Ref makeFormFor(const FormRequest &request, std::string_view target) {
  CompiledElsewhere compiled = [&] {
    WithoutGil others;
    return request.kernel.compileFor(target, request.arguments);
  }();
  return tellOf(request,
                Form{request.kernel, std::move(compiled.request),
                     std::move(compiled.info), std::string(request.key)});
}

static std::vector<std::string> deviceNames() {
  std::vector<std::string> names;
  for (const Device &device : Device::available()) {
    names.push_back(device.str());
  }
  return names;
}

static nb::dict propertiesOf(int index) {
  DeviceProperties p = properties(gpuOf(index));
  nb::dict found;
  found["name"] = p.name;
  found["multiprocessor_count"] = p.processors;
  found["max_shared_mem"] = p.sharedBytes;
  found["memory_bytes"] = p.memoryBytes;
  found["compute_capability"] = p.computeCapability;
  return found;
}

/// The Python part's classes and callables, by keyword.
static void registerObjects(const nb::kwargs &given) {
  const std::pair<const char *, PyObject **> places[] = {
      {"constexpr", &registered.constexprType},
      {"dtype", &registered.dtypeType},
      {"jit_function", &registered.jitType},
      {"tensor_descriptor", &registered.descriptorType},
      {"error", &registered.error},
      {"compiled", &registered.compiled},
      {"default_device", &registered.defaultDevice},
      {"current_stream", &registered.currentStream},
      {"settings", &registered.settings},
      {"enter_hook", &registered.enterHook},
      {"exit_hook", &registered.exitHook},
      {"enter_calls", &registered.enterCalls},
      {"exit_calls", &registered.exitCalls},
  };
  for (auto [name, place] : places) {
    if (given.contains(name)) {
      nb::object value = given[name];
      Py_XDECREF(std::exchange(*place, value.release().ptr()));
    }
  }
}

} // namespace nereid::python

NB_MODULE(_native, module) {
  using namespace nereid;
  using namespace nereid::python;
  nb::set_leak_warnings(false); // kernels of a script live until its end
  nb::register_exception_translator(
      [](const std::exception_ptr &pointer, void *) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Error &error) {
          setFailure(error.failure());
        } catch (const PythonError &) {
        }
      });
  internNames();
  addCoreTypes(module.ptr());
  nb::class_<Form>(module, "Form")
      .def("emit", &emitStage)
      .def_prop_ro("kernel", [](const Form &f) { return f.info.image.kernel; })
      .def_prop_ro("target", [](const Form &f) { return f.info.image.target; })
      .def_prop_ro("entry", [](const Form &f) { return f.info.image.entry; })
      .def_prop_ro(
          "key",
          [](const Form &f) { return nb::bytes(f.key.data(), f.key.size()); })
      .def_prop_ro("num_warps",
                   [](const Form &f) { return f.request.options.numWarps; })
      .def_prop_ro("num_stages",
                   [](const Form &f) { return f.request.options.numStages; })
      .def_prop_ro("num_ctas",
                   [](const Form &f) { return f.request.options.numCtas; })
      .def_prop_ro("fp_fusion",
                   [](const Form &f) { return f.request.options.fpFusion; })
      .def_prop_ro("shared",
                   [](const Form &f) { return f.info.image.sharedBytes; })
      .def_prop_ro("n_regs",
                   [](const Form &f) { return f.info.image.numRegisters; })
      .def_prop_ro("spill_bytes",
                   [](const Form &f) { return f.info.image.spillBytes; })
      .def_prop_ro(
          "is_gpu",
          [](const Form &f) { return f.info.image.threadsPerBlock != 0; })
      .def_prop_ro("parameters", &parametersOf)
      .def_prop_ro("written", &writtenBy)
      .def_prop_ro("machine_code", &machineCodeOf)
      .def_prop_ro("milliseconds",
                   [](const Form &f) { return f.info.milliseconds; })
      .def_prop_ro("is_from_disk", [](const Form &f) {
        return f.info.origin == CompiledInfo::Origin::Disk;
      });
  module.def("register", &registerObjects);
  module.def("hooks_changed", [] { registered.hooksAreKnown = false; });
  module.def("devices", &deviceNames);
  module.def("cuda_properties", &propertiesOf);
  // For tests: a tensor's address by torch's C functions.
  module.def("address_of_tensor", [](nb::handle tensor) -> nb::object {
    uint16_t place = placeOfTensor(tensor.ptr());
    void *data = nullptr;
    TorchFacts facts;
    if (!place || !readTensor(tensor.ptr(), place, data, facts)) {
      return nb::none();
    }
    return nb::int_(reinterpret_cast<uintptr_t>(data));
  });
  module.def("build_id", [] { return createKernelCompiler()->buildId(); });
}
