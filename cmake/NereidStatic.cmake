# NEREID_STATIC: programs that need nothing but libc, libm and the loader.
# docs/Portable.md says what is in them and why.

# GPUs are reached by dlopen, so the C library itself stays dynamic.
# Equal functions become one (docs/Portable.md says how that was verified). At a
# fixed address a program has no relocations, which are 3 MB of the file, and
# twice that of memory which each start would write.
add_link_options(-static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--icf=all -Wl,--strip-all -Wl,--as-needed)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
# What a shared library has from archives stays inside: Debian compiled libz.a and
# libzstd.a for programs (-fPIE), and their code reaches only symbols that no other
# library can replace. A Python process may also hold another LLVM.
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,--exclude-libs,ALL>)

# Debian has oneTBB as a shared library only, and its authors advise against
# archives: two copies in a process are two schedulers. Here nothing else can
# bring another copy. Same version as Debian's, so the same headers.
find_package(Threads REQUIRED)
set(NEREID_TBB_DIR ${PROJECT_BINARY_DIR}/onetbb CACHE PATH "Sources of oneTBB; fetched if absent")
if(NOT EXISTS ${NEREID_TBB_DIR}/src/tbb/version.cpp)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-onetbb ${NEREID_TBB_DIR}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
file(GLOB tbbSources ${NEREID_TBB_DIR}/src/tbb/*.cpp)
add_library(NereidTBB STATIC ${tbbSources})
add_library(TBB::tbb ALIAS NereidTBB)
target_include_directories(NereidTBB SYSTEM PUBLIC ${NEREID_TBB_DIR}/include)
# What its own build sets for an archive: no libtbbmalloc, libtbbbind or libirml
# is looked for at run time, so that a program is the same on every machine.
target_compile_definitions(NereidTBB PRIVATE __TBB_BUILD __TBB_DYNAMIC_LOAD_ENABLED=0
                           __TBB_SOURCE_DIRECTLY_INCLUDED=1)
target_compile_options(NereidTBB PRIVATE -mrtm -mwaitpkg -w -ffunction-sections -fdata-sections)
target_link_libraries(NereidTBB PUBLIC Threads::Threads)

include(NereidGloo)

find_library(NEREID_LIBZSTD libzstd.a REQUIRED)
set(NEREID_ZSTD ${NEREID_LIBZSTD})
find_library(NEREID_LIBZ libz.a REQUIRED)
find_library(NEREID_SODIUM libsodium.a REQUIRED)
