# NEREID_GLOO: what nereid-gpt2 sums tensors of CPUs with, in programs that travel.
#
# Debian has Gloo as a shared library only, which asks for Redis and InfiniBand.
# Same version as Debian's: what its transport over TCP and its collective calls
# for hosts need.
set(NEREID_GLOO_DIR ${PROJECT_BINARY_DIR}/gloo CACHE PATH "Sources of Gloo; fetched if absent")
if(NOT EXISTS ${NEREID_GLOO_DIR}/gloo/allreduce.cc)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-gloo ${NEREID_GLOO_DIR} RESULT_VARIABLE failed)
  if(failed)
    message(WARNING "nereid-gpt2 is not built: no sources of Gloo")
    return()
  endif()
endif()
file(GLOB glooSources ${NEREID_GLOO_DIR}/gloo/*.cc ${NEREID_GLOO_DIR}/gloo/transport/*.cc
     ${NEREID_GLOO_DIR}/gloo/transport/tcp/*.cc)
list(FILTER glooSources EXCLUDE REGEX "/cuda[^/]*$")
foreach(source common/linux common/logging rendezvous/context rendezvous/file_store rendezvous/store)
  list(APPEND glooSources ${NEREID_GLOO_DIR}/gloo/${source}.cc)
endforeach()
set(GLOO_VERSION_MAJOR 0)
set(GLOO_VERSION_MINOR 5)
set(GLOO_VERSION_PATCH 0)
set(GLOO_HAVE_TRANSPORT_TCP ON)
configure_file(${NEREID_GLOO_DIR}/gloo/config.h.in ${PROJECT_BINARY_DIR}/gloo-config/gloo/config.h)
add_library(NereidGloo STATIC ${glooSources})
target_include_directories(NereidGloo SYSTEM PUBLIC ${NEREID_GLOO_DIR} ${PROJECT_BINARY_DIR}/gloo-config)
target_compile_options(NereidGloo PRIVATE -w -ffunction-sections -fdata-sections)
target_link_libraries(NereidGloo PUBLIC Threads::Threads)
set(NEREID_GLOO NereidGloo)
