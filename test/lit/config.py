"""One configuration for every lit test of the tree: nereid/**/test/*.mlir and
*.py, and test/**/*.mlir. Run all with `ctest -L lit`, one with
`lit -v build/lit --filter NAME`. (Not named lit.cfg.py: lit would take the
folder for a second suite.)"""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(config.nereid_source, "test", "lit"))
import folder_format

config.name = "nereid"
config.test_format = folder_format.FilesOfTestFolders(execute_external=False)
config.suffixes = [".mlir", ".py"]
config.test_source_root = config.nereid_source
config.test_exec_root = os.path.join(config.nereid_build, "lit", "output")
# Programs and their data, and folders that ctest drives itself.
config.excludes = ["Inputs", "stdlib", "wrong", "lit", "attack", "corpus", "e2e", "pages", "isa",
                   "harness", "models", "errors", "perf", "kernels", "tutorials",
                   "bench", "scripts", "tools", "cmake", "docs", "syntax",
                   "gpu", "amd", "aot", "examples", "semantics", "source", "upstream",
                   "scaling", "prof", "apps", "python", "portable"]
config.excludes += [name for name in os.listdir(config.nereid_source)
                    if name.startswith(("build", "."))]

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.nereid_build, "bin"), config.llvm_tools,
     config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"

# What is there to run: a test REQUIRES a program that an option leaves out.
for program in ("nereid", "nereid-opt", "nereid-fuzz"):
    if os.path.exists(os.path.join(config.nereid_build, "bin", program)):
        config.available_features.add(program)
for program in ("llc", "mlir-translate", "ptxas"):
    if shutil.which(program, path=config.environment["PATH"]):
        config.available_features.add(program)
with open("/proc/cpuinfo") as info:
    flags = info.read().split()
for feature in ("avx2", "avx512f"):
    if feature in flags:
        config.available_features.add(feature)
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source", config.nereid_source))
