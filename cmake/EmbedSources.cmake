# cmake -DFILES="a.py;b.py" -DOUT=x.inc -P EmbedSources.cmake
#
# Text files as C++ initialisers {"a", R"nereid(...)nereid"}. A literal may hold
# 64 KiB in every compiler, so longer files are refused rather than cut.
set(text "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(LENGTH "${content}" length)
  if(length GREATER 65000)
    message(FATAL_ERROR "${file}: longer than a string literal may be")
  endif()
  string(APPEND text "{\"${name}\", R\"nereid(${content})nereid\"},\n")
endforeach()
file(WRITE ${OUT} "${text}")
