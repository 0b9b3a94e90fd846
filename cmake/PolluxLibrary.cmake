# One library and one test binary per folder. Sources are found by name, so that a new file is
# built without touching CMake:
#
#   foo.cpp             the folder's library
#   main.cpp            the folder's executable, if it calls pollux_executable
#   foo_test.cpp        the folder's test binary
#   foo_slow_test.cpp   a second test binary, label `slow`, left out by `./dev test --quick`
#
# A folder without sources is fine: its library then only carries its dependencies.
include_guard(GLOBAL)

# Sets <out> to the .cpp files below the calling folder whose kind is library, main, test or slow.
function(_pollux_sources kind out)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(kind STREQUAL "slow")
    list(FILTER sources INCLUDE REGEX "_slow_test\\.cpp$")
  elseif(kind STREQUAL "test")
    list(FILTER sources INCLUDE REGEX "_test\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_slow_test\\.cpp$")
  elseif(kind STREQUAL "main")
    list(FILTER sources INCLUDE REGEX "/main\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  endif()
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()

# pollux_library(NAME base [SOURCES files...] [DEPS targets...] [PRIVATE_DEPS targets...])
# makes the static library pollux_base, known to others as pollux::base.
function(pollux_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEPS;PRIVATE_DEPS")
  set(target "pollux_${arg_NAME}")
  if(NOT arg_SOURCES)
    _pollux_sources(library arg_SOURCES)
  endif()
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_DEPS})
  endif()
  add_library("pollux::${arg_NAME}" ALIAS ${target})
endfunction()

# pollux_executable(NAME pollux [DEPS targets...]) makes bin/pollux from the folder's main.cpp.
function(pollux_executable)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "DEPS")
  _pollux_sources(main sources)
  if(sources)
    add_executable(${arg_NAME} ${sources})
    target_link_libraries(${arg_NAME} PRIVATE ${arg_DEPS})
  endif()
endfunction()

# pollux_test(NAME base [SHARDS n] [SOURCES files...] [DEPS targets...] [LABELS labels...])
# makes base_test (and base_slow_test), each one entry of ctest, or n entries that share the cases.
# Default label: unit.
function(pollux_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SHARDS" "SOURCES;DEPS;LABELS")
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_SOURCES)
    _pollux_sources(test arg_SOURCES)
  endif()
  _pollux_sources(slow slow_sources)
  # The limit is for what hangs: the longest take 275 s on two cores that have other work too.
  _pollux_test_binary("${arg_NAME}_test" "${arg_SOURCES}" "${arg_DEPS}" "${arg_LABELS}" 900 ${arg_SHARDS})
  _pollux_test_binary("${arg_NAME}_slow_test" "${slow_sources}" "${arg_DEPS}"
                      "${arg_LABELS};slow" 1800 1)
endfunction()

function(_pollux_test_binary target sources deps labels timeout shards)
  if(NOT sources OR POLLUX_FUZZ)
    return()
  endif()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${deps} GTest::gmock_main)
  if(POLLUX_SANITIZE)
    # Tests themselves are not hot, and the macros of gtest cost twice as long with optimisation.
    target_compile_options(${target} PRIVATE -O0)
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(name ${target})
    if(shards GREATER 1)
      set(name "${target}.${shard}")
    endif()
    add_test(NAME ${name} COMMAND ${target})
    pollux_test_properties(${name} "${labels}" ${timeout})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
                 "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/results/${name}.xml"
                 "GTEST_TOTAL_SHARDS=${shards}" "GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# What every test has: runs in the project's root, bounded in time, sanitizers that stop at once.
# The stories of property tests are always the same ones: one commit, one result. New ones are told
# by `./dev soak --stories`.
function(pollux_test_properties name labels timeout)
  set_tests_properties(${name} PROPERTIES
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    LABELS "${labels}"
    TIMEOUT ${timeout}
    ENVIRONMENT "LC_ALL=C.UTF-8;ASAN_OPTIONS=detect_stack_use_after_return=1;UBSAN_OPTIONS=print_stacktrace=1;TSAN_OPTIONS=halt_on_error=1;RC_PARAMS=seed=7655")
endfunction()
