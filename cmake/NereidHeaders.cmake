# What files without MLIR include most, as precompiled headers: reading these is a third of the time that a file takes to
# compile. NereidMLIR.cmake has the headers of files with MLIR. A program or library has one.
set(standardHeaders
  <algorithm>
  <array>
  <atomic>
  <bit>
  <charconv>
  <cmath>
  <cstdint>
  <cstdio>
  <cstdlib>
  <cstring>
  <deque>
  <filesystem>
  <functional>
  <limits>
  <map>
  <memory>
  <mutex>
  <numeric>
  <optional>
  <set>
  <span>
  <string>
  <string_view>
  <thread>
  <tuple>
  <unordered_map>
  <utility>
  <variant>
  <vector>)
add_library(NereidStandardHeaders STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/StandardHeaders.cpp)
nereid_compile_options(NereidStandardHeaders)
nereid_precompile(NereidStandardHeaders ${standardHeaders})

if(PROJECT_IS_TOP_LEVEL)
  add_library(NereidTestHeaders STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/TestHeaders.cpp)
  nereid_compile_options(NereidTestHeaders)
  nereid_not_optimized(NereidTestHeaders)
  target_link_libraries(NereidTestHeaders PRIVATE GTest::gmock nlohmann_json::nlohmann_json)
  nereid_precompile(NereidTestHeaders
    ${standardHeaders} <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <chrono> <fstream> <random> <sstream>)
endif()
