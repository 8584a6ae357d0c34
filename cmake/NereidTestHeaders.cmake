# GoogleTest and what tests include most, as one precompiled header: reading these is a third of the time that the file of a
# test takes to compile. Test programs with MLIR have that one's header instead (NereidMLIR.cmake): a program has one.
add_library(NereidTestHeaders STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/TestHeaders.cpp)
nereid_compile_options(NereidTestHeaders)
target_link_libraries(NereidTestHeaders PRIVATE GTest::gmock nlohmann_json::nlohmann_json)
nereid_same_precompiled(NereidTestHeaders)
target_precompile_headers(NereidTestHeaders PRIVATE
  <gmock/gmock.h>
  <gtest/gtest.h>
  <nlohmann/json.hpp>
  <algorithm>
  <array>
  <atomic>
  <bit>
  <chrono>
  <cmath>
  <cstdint>
  <cstdio>
  <cstdlib>
  <cstring>
  <filesystem>
  <fstream>
  <functional>
  <limits>
  <map>
  <memory>
  <mutex>
  <numeric>
  <optional>
  <random>
  <set>
  <span>
  <sstream>
  <string>
  <string_view>
  <thread>
  <unordered_map>
  <utility>
  <variant>
  <vector>)
