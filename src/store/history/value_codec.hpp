// A column of doubles, each written relative to the one before, exactly.
//
// Monitoring values are mostly whole numbers or have a few decimals: those are written as the
// difference of scaled integers. What is left (NaN, infinities, minus zero, full mantissas) is
// written as the XOR with the value before, without its leading and trailing zeros (as in
// Facebook's Gorilla). Of the two the shorter form is taken.
//
//   0                      the same bits as before
//   10   + difference      at the scale in force
//   110  + scale (3 bits) + difference
//   1110 + the middle bits, placed as the last time
//   1111 + leading zeros (6 bits) + number of bits - 1 (6 bits) + these bits
//
// A difference is zigzag: 0+4 bits, 10+8, 110+14, 1110+24, 1111+56.
#pragma once

#include <cstdint>

#include "store/history/bit_stream.hpp"

namespace pollux::store {

// The running state is the same on both sides; one object either encodes or decodes.
class ValueCodec {
  public:
    void encode(BitWriter& out, double value);
    double decode(BitReader& in);

  private:
    void encode_xor(BitWriter& out, std::uint64_t bits);
    double decode_xor(BitReader& in, bool placed);

    std::uint64_t last_ = 0;     // bits of the value before
    std::uint8_t scale_ = 0;     // decimals in force; only grows
    std::uint8_t leading_ = 64;  // of the last XOR; 64: there was none
    std::uint8_t length_ = 0;
};

}  // namespace pollux::store
