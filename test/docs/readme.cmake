# The README's C++ with what it prints, and its CMake, word by word. Included by the top-level
# CMakeLists.txt, since its paths are relative to that.
function(nereid_readme_block language result)
  file(READ ${PROJECT_SOURCE_DIR}/README.md text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md)
  string(FIND "${text}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md: expected a block of ${language}, got none")
  endif()
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

set(folder ${PROJECT_BINARY_DIR}/readme)
# The snippet's statements become the body of main.
nereid_readme_block(output printed)
nereid_readme_block(cpp snippet)
# A list of lines would be split at the semicolons, too.
string(REPLACE ";" "<semicolon>" snippet "${snippet}")
string(REGEX MATCHALL "\n(#include|using) [^\n]*" head "${snippet}")
string(REGEX REPLACE "\n(#include|using) [^\n]*" "" body "${snippet}")
list(JOIN head "" head)
string(REPLACE "<semicolon>" ";" head "${head}")
string(REPLACE "<semicolon>" ";" body "${body}")
file(CONFIGURE OUTPUT ${folder}/snippet.cpp @ONLY
     CONTENT "@head@
#include <cmath>
#include <sstream>
#include <vector>

// The numbers of a text; brackets are blanks.
static std::vector<double> numbersOf(std::string text) {
  for (char &c : text) {
    c = c == '[' || c == ']' ? ' ' : c;
  }
  std::istringstream words(text);
  std::vector<double> numbers;
  for (double number; words >> number;) {
    numbers.push_back(number);
  }
  return numbers;
}

int main() {
  std::ostringstream printed;
  std::streambuf *own = std::cout.rdbuf(printed.rdbuf());
@body@
  std::cout.rdbuf(own);
  std::cout << printed.str();
  std::vector<double> got = numbersOf(printed.str());
  std::vector<double> wanted = numbersOf(R\"(@printed@)\");
  bool isSame = got.size() == wanted.size() && got.size() == 8;
  for (size_t i = 0; isSame && i < got.size(); ++i) {
    isSame = std::abs(got[i] - wanted[i]) < 1e-5;
  }
  return isSame ? 0 : 1;
}
")
nereid_executable(readme_snippet SOURCES ${folder}/snippet.cpp DEPENDS NereidPipeline NereidTune NereidRuntime)

file(CONFIGURE OUTPUT ${folder}/program.cpp @ONLY CONTENT "#include \"my_kernels.h\"

int main() {
  auto x = nereid::randn({4, 1024}, nereid::f32, nereid::Device::cpu());
  auto y = nereid::emptyLike(x);
  my_kernels::softmax_kernel({4}, y, x, x.stride(0), 1024);
  double sum = 0;
  for (double value : y.toFloat64()) {
    sum += value;
  }
  return sum > 3.999 && sum < 4.001 ? 0 : 1;
}
")
nereid_executable(my_program SOURCES ${folder}/program.cpp)
nereid_readme_block(cmake kernels)
file(CONFIGURE OUTPUT ${folder}/kernels.cmake @ONLY CONTENT "@kernels@")
include(${folder}/kernels.cmake)

nereid_test(docs.readme.snippet RING level LABELS docs WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND readme_snippet)
nereid_test(docs.readme.kernels RING level LABELS docs COMMAND my_program)
nereid_test(docs.readme.commands RING level LABELS docs
  COMMAND ${PROJECT_SOURCE_DIR}/test/docs/follow-readme --build ${PROJECT_BINARY_DIR})
