/* The scan of scan.h for each instruction set, and which of them this processor has. */

#include "kernel.h"

/* A single query over much memory waits for the memory: asking for it 4 KB ahead nearly doubles the speed. To ask
 * beyond the end is harmless. */
static inline void fetch_ahead(const uint64_t *words, int count)
{
    for (int i = 0; i < count; i += 8)
        prefetch(words + 512 + i);
}

#define NAME(x) x##_portable
#define TARGET
#define LANES 1
#define vector uint64_t
#define vload(p) (*(p))
#define vset(x) ((uint64_t)(x))
#define vcount(a, b) ((uint64_t)popcount64((a) ^ (b)))
#define vadd(a, b) ((a) + (b))
#define vand(a, b) ((a) & (b))
#define vscale(a, factor) ((a) * (factor))
#define vweigh(a, b, m, w) ((uint64_t)weigh_word((a) ^ (b), m, w))
#define vbelow(d, limit) ((uint32_t)((d) < (limit)))
#define vstore(p, d) (*(p) = (d))
#define vnarrow(p, d) (*(p) = (uint16_t)(d))
#include "scan.h"

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define HAVE_X86
#include <immintrin.h>

/* In each byte, how many bits are set. */
__attribute__((target("avx2"))) static inline __m256i byte_counts_avx2(__m256i x)
{
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
                           _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
}

__attribute__((target("avx2"))) static inline __m256i count_avx2(__m256i a, __m256i b)
{
    return _mm256_sad_epu8(byte_counts_avx2(_mm256_xor_si256(a, b)), _mm256_setzero_si256());
}

__attribute__((target("avx2"))) static inline __m256i weigh_avx2(__m256i a, __m256i b, __m256i weights)
{
    const __m256i counts = byte_counts_avx2(_mm256_xor_si256(a, b));
    /* sums of two bytes, 2 * 8 * 15 at most, still fit into one */
    return _mm256_sad_epu8(_mm256_maddubs_epi16(counts, weights), _mm256_setzero_si256());
}

__attribute__((target("avx2"))) static inline void narrow_avx2(uint16_t *out, __m256i d)
{
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(d), _mm256_extracti128_si256(d, 1));
    _mm_storel_epi64((__m128i *)out, _mm_packus_epi32(words, words)); /* the upper halves are zero, so they pack away */
}

#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,popcnt")))
#define LANES 4
#define vector __m256i
#define vload(p) _mm256_loadu_si256((const __m256i *)(p))
#define vset(x) _mm256_set1_epi64x((long long)(x))
#define vcount(a, b) count_avx2(a, b)
#define vadd(a, b) _mm256_add_epi64(a, b)
#define vand(a, b) _mm256_and_si256(a, b)
#define vscale(d, factor) _mm256_mul_epu32(d, vset(factor))
#define vweigh(a, b, m, w) weigh_avx2(a, b, vset((m)->byte_weights[w]))
#define vbelow(d, limit) ((uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d))))
#define vstore(p, d) _mm256_storeu_si256((__m256i *)(p), d)
#define vnarrow(p, d) narrow_avx2(p, d)
#include "scan.h"

#define AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512vpopcntdq,avx512bitalg,popcnt")))

AVX512 static inline __m512i weigh_avx512(__m512i a, __m512i b, __m512i weights)
{
    const __m512i counts = _mm512_popcnt_epi8(_mm512_xor_si512(a, b));
    return _mm512_sad_epu8(_mm512_maddubs_epi16(counts, weights), _mm512_setzero_si512());
}

#define NAME(x) x##_avx512
#define TARGET AVX512
#define LANES 8
#define vector __m512i
#define vload(p) _mm512_loadu_si512((const void *)(p))
#define vset(x) _mm512_set1_epi64((long long)(x))
#define vcount(a, b) _mm512_popcnt_epi64(_mm512_xor_si512(a, b))
#define vadd(a, b) _mm512_add_epi64(a, b)
#define vand(a, b) _mm512_and_si512(a, b)
#define vscale(d, factor) _mm512_mul_epu32(d, vset(factor))
#define vweigh(a, b, m, w) weigh_avx512(a, b, vset((m)->byte_weights[w]))
#define vbelow(d, limit) ((uint32_t)_mm512_cmplt_epu64_mask(d, limit))
#define vstore(p, d) _mm512_storeu_si512((void *)(p), d)
#define vnarrow(p, d) _mm_storeu_si128((__m128i *)(p), _mm512_cvtepi64_epi16(d))
#include "scan.h"
#endif

#if defined(__aarch64__)
#define HAVE_NEON
#include <arm_neon.h>

static inline uint32_t below_neon(uint64x2_t d, uint64x2_t limit)
{
    const uint64x2_t below = vcltq_u64(d, limit);
    return (uint32_t)(vgetq_lane_u64(below, 0) & 1u) | (uint32_t)(vgetq_lane_u64(below, 1) & 2u);
}

static inline uint64x2_t sum_bytes_neon(uint8x16_t bytes)
{
    return vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes)));
}

static inline uint8x16_t byte_counts_neon(uint64x2_t a, uint64x2_t b)
{
    return vcntq_u8(vreinterpretq_u8_u64(veorq_u64(a, b)));
}

static inline uint64x2_t weigh_neon(uint64x2_t a, uint64x2_t b, uint64x2_t weights)
{
    return sum_bytes_neon(vmulq_u8(byte_counts_neon(a, b), vreinterpretq_u8_u64(weights)));
}

static inline uint64x2_t scale_neon(uint64x2_t d, uint32_t factor)
{
    return vreinterpretq_u64_u32(vmulq_n_u32(vreinterpretq_u32_u64(d), factor)); /* the upper halves are zero */
}

#define NAME(x) x##_neon
#define TARGET
#define LANES 2
#define vector uint64x2_t
#define vload(p) vld1q_u64(p)
#define vset(x) vdupq_n_u64(x)
#define vcount(a, b) sum_bytes_neon(byte_counts_neon(a, b))
#define vadd(a, b) vaddq_u64(a, b)
#define vand(a, b) vandq_u64(a, b)
#define vscale(d, factor) scale_neon(d, factor)
#define vweigh(a, b, m, w) weigh_neon(a, b, vset((m)->byte_weights[w]))
#define vbelow(d, limit) below_neon(d, limit)
#define vstore(p, d) vst1q_u64(p, d)
#define vnarrow(p, d) ((p)[0] = (uint16_t)vgetq_lane_u64(d, 0), (p)[1] = (uint16_t)vgetq_lane_u64(d, 1))
#include "scan.h"
#endif

Level levels[] = { /* best first */
#ifdef HAVE_X86
    {"avx512", select_avx512, distances_avx512, 0},
    {"avx2", select_avx2, distances_avx2, 0},
#endif
#ifdef HAVE_NEON
    {"neon", select_neon, distances_neon, 1},
#endif
    {"portable", select_portable, distances_portable, 1},
};
const size_t level_count = sizeof levels / sizeof *levels;

const Level *find_level(const char *name)
{
    for (size_t i = 0; i < level_count; i++)
        if (levels[i].usable && strcmp(levels[i].name, name) == 0)
            return &levels[i];
    PyErr_Format(PyExc_ValueError, "this processor has no kernel level %s", name);
    return NULL;
}

void find_usable_levels(void)
{
#ifdef HAVE_X86
    __builtin_cpu_init();
    levels[0].usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vpopcntdq") &&
                       __builtin_cpu_supports("avx512bitalg");
    levels[1].usable = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#endif
}
