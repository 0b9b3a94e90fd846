# The dashboard (web/, TypeScript) as a part of the binary: npm builds it, tools/web/pack.mjs packs it.
#
# pollux_add_web(target) adds the packed files to the sources of the target, or an empty table if the
# dashboard is left out (POLLUX_WEB=OFF, fuzzers, no web/): the server then says so on its first page.
include_guard(GLOBAL)

# All files of web/ but what npm and vite write there. Folders are listed one by one, so that nobody
# walks through node_modules at each build.
function(_pollux_web_inputs out)
  set(web "${CMAKE_SOURCE_DIR}/web")
  file(GLOB inputs CONFIGURE_DEPENDS LIST_DIRECTORIES false "${web}/*" "${web}/.npmrc")
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true "${web}/*")
  foreach(entry IN LISTS entries)
    get_filename_component(name "${entry}" NAME)
    if(IS_DIRECTORY "${entry}" AND NOT name MATCHES "^(node_modules|dist|\\..*)$")
      file(GLOB_RECURSE files CONFIGURE_DEPENDS "${entry}/*")
      list(APPEND inputs ${files})
    endif()
  endforeach()
  set(${out} "${inputs}" PARENT_SCOPE)
endfunction()

function(pollux_add_web target)
  set(out "${CMAKE_BINARY_DIR}/web")
  if(POLLUX_WEB AND NOT POLLUX_FUZZ AND NOT EXISTS "${CMAKE_SOURCE_DIR}/web/package.json")
    message(STATUS "web/package.json is missing: this build has no dashboard")
  elseif(POLLUX_WEB AND NOT POLLUX_FUZZ)
    find_program(POLLUX_NODE NAMES node nodejs)
    find_program(POLLUX_NPM npm)
    if(NOT POLLUX_NODE OR NOT POLLUX_NPM)
      message(FATAL_ERROR "The dashboard is built with node and npm, which are missing: run ./dev "
                          "setup, or configure with -DPOLLUX_WEB=OFF to leave the dashboard out.")
    endif()
    _pollux_web_inputs(inputs)
    add_custom_command(
      OUTPUT "${out}/web_files.cpp"
      BYPRODUCTS "${out}/web_files.bin"
      COMMAND "${CMAKE_SOURCE_DIR}/tools/web/build.sh" "${CMAKE_SOURCE_DIR}/web" "${out}"
      DEPENDS ${inputs} "${CMAKE_SOURCE_DIR}/tools/web/build.sh" "${CMAKE_SOURCE_DIR}/tools/web/pack.mjs"
      COMMENT "Building the dashboard"
      VERBATIM)
    target_sources(${target} PRIVATE "${out}/web_files.cpp")
    # The table holds the digest of each file, so it changes whenever the bytes do.
    set_source_files_properties("${out}/web_files.cpp" PROPERTIES OBJECT_DEPENDS "${out}/web_files.bin")
    return()
  endif()
  file(CONFIGURE OUTPUT "${out}/no_web_files.cpp" @ONLY CONTENT
    [=[// Written by cmake/Web.cmake: this build has no dashboard.
#include "api/web_files.hpp"

namespace pollux::api {

std::span<const PackedWebFile> packed_web_files() { return {}; }
std::string_view web_files_blob() { return {}; }

}  // namespace pollux::api
]=])
  target_sources(${target} PRIVATE "${out}/no_web_files.cpp")
endfunction()
