// One block of SHA-256 by the instructions of the processor; used by sha256.cpp alone.
#pragma once

#include <cstdint>

namespace pollux::base {

bool has_sha256_instructions();
// `state` of 8 words, `block` of 64 bytes, the 64 constants of the rounds. Only if there are such
// instructions.
void sha256_compress_by_instructions(std::uint32_t* state, const std::uint8_t* block,
                                     const std::uint32_t* rounds);

}  // namespace pollux::base
