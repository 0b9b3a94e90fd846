// SHA-256 by the instructions of the processor, where it has them.
#include "base/sha256_x86.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace pollux::base {

#if defined(__x86_64__)

bool has_sha256_instructions() {
    static const bool has =
        __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") && [] {
            unsigned a = 0;
            unsigned b = 0;
            unsigned c = 0;
            unsigned d = 0;
            // Asks first whether the processor has this page at all.
            return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29U & 1U) != 0;
        }();
    return has;
}

// Rounds are done four at a time: two by each instruction. Sixteen words of the schedule are kept
// in four registers; what each four need of the others is added as they come round.
__attribute__((target("sha,sse4.1,ssse3"))) void sha256_compress_by_instructions(
    std::uint32_t* state, const std::uint8_t* block, const std::uint32_t* rounds) {
    const auto load = [](const void* at) __attribute__((target("sha,sse4.1,ssse3"))) {
        return _mm_loadu_si128(static_cast<const __m128i*>(at));
    };
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    // The instructions want the words as ABEF and CDGH.
    const __m128i badc = _mm_shuffle_epi32(load(state), 0xB1);
    const __m128i efgh = _mm_shuffle_epi32(load(state + 4), 0x1B);
    __m128i abef = _mm_alignr_epi8(badc, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, badc, 0xF0);
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4];
    for (int i = 0; i < 16; ++i) {
        __m128i& now = words[i % 4];
        if (i < 4) {
            now = _mm_shuffle_epi8(load(block + 16 * i), big_endian);
        } else {
            const __m128i& last = words[(i + 3) % 4];
            const __m128i& before_last = words[(i + 2) % 4];
            now = _mm_sha256msg1_epu32(now, words[(i + 1) % 4]);
            now = _mm_add_epi32(now, _mm_alignr_epi8(last, before_last, 4));
            now = _mm_sha256msg2_epu32(now, last);
        }
        const __m128i sum = _mm_add_epi32(now, load(rounds + 4 * i));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool has_sha256_instructions() { return false; }
void sha256_compress_by_instructions(std::uint32_t*, const std::uint8_t*, const std::uint32_t*) {}

#endif

}  // namespace pollux::base
