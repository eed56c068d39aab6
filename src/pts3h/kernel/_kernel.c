/* Exact Hamming search over packed codes: the k nearest, all within a radius, and histograms of distances.
 *
 * Codes come as columns of 64-bit words (see scan.h). Everything here runs on the caller's thread without the
 * interpreter lock; kernel/native.py splits the work over threads and checks every shape before it calls.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define lowest_bit(x) __builtin_ctz(x)
#define prefetch(address) __builtin_prefetch(address)
#else
static int lowest_bit(uint32_t x)
{
    int n = 0;
    while (!(x & 1u)) x >>= 1, n++;
    return n;
}
#define prefetch(address) ((void)0)
#endif

/* Without a popcount instruction in the baseline the builtin is a library call; these few operations are quicker. */
#if defined(__POPCNT__) || defined(__aarch64__)
#define popcount64(x) ((uint32_t)__builtin_popcountll(x))
#else
static inline uint32_t popcount64(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (uint32_t)((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56);
}
#endif

static inline uint32_t distance(const uint64_t *query, const uint64_t *code, size_t stride, size_t words)
{
    uint32_t d = 0;
    for (size_t w = 0; w < words; w++)
        d += popcount64(query[w] ^ code[w * stride]);
    return d;
}

/* A single query over much memory waits for the memory: asking for it 4 KB ahead nearly doubles the speed. To ask
 * beyond the end is harmless. */
static inline void fetch_ahead(const uint64_t *words, int count)
{
    for (int i = 0; i < count; i += 8)
        prefetch(words + 512 + i);
}

/* ---- the scan, once per instruction set ---- */

#define NAME(x) x##_portable
#define TARGET
#define LANES 1
#define vector uint64_t
#define vload(p) (*(p))
#define vset(x) ((uint64_t)(x))
#define vcount(a, b) ((uint64_t)popcount64((a) ^ (b)))
#define vadd(a, b) ((a) + (b))
#define vbelow(d, limit) ((uint32_t)((d) < (limit)))
#define vstore(p, d) (*(p) = (d))
#define vnarrow(p, d) (*(p) = (uint16_t)(d))
#include "scan.h"

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define HAVE_X86
#include <immintrin.h>

__attribute__((target("avx2"))) static inline __m256i count_avx2(__m256i a, __m256i b)
{
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15), x = _mm256_xor_si256(a, b);
    const __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
                                          _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
    return _mm256_sad_epu8(bytes, _mm256_setzero_si256());
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
#define vbelow(d, limit) ((uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d))))
#define vstore(p, d) _mm256_storeu_si256((__m256i *)(p), d)
#define vnarrow(p, d) narrow_avx2(p, d)
#include "scan.h"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512vpopcntdq,popcnt")))
#define LANES 8
#define vector __m512i
#define vload(p) _mm512_loadu_si512((const void *)(p))
#define vset(x) _mm512_set1_epi64((long long)(x))
#define vcount(a, b) _mm512_popcnt_epi64(_mm512_xor_si512(a, b))
#define vadd(a, b) _mm512_add_epi64(a, b)
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

#define NAME(x) x##_neon
#define TARGET
#define LANES 2
#define vector uint64x2_t
#define vload(p) vld1q_u64(p)
#define vset(x) vdupq_n_u64(x)
#define vcount(a, b) vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(veorq_u64(a, b))))))
#define vadd(a, b) vaddq_u64(a, b)
#define vbelow(d, limit) below_neon(d, limit)
#define vstore(p, d) vst1q_u64(p, d)
#define vnarrow(p, d) ((p)[0] = (uint16_t)vgetq_lane_u64(d, 0), (p)[1] = (uint16_t)vgetq_lane_u64(d, 1))
#include "scan.h"
#endif

typedef struct {
    const char *name;
    size_t (*select)(const uint64_t *, const uint64_t *, size_t, size_t, size_t, size_t, uint32_t, uint16_t *,
                     uint16_t *);
    void (*distances)(const uint64_t *, const uint64_t *, size_t, size_t, size_t, size_t, uint16_t *);
    int usable;
} Level;

static Level levels[] = { /* best first */
#ifdef HAVE_X86
    {"avx512", select_avx512, distances_avx512, 0},
    {"avx2", select_avx2, distances_avx2, 0},
#endif
#ifdef HAVE_NEON
    {"neon", select_neon, distances_neon, 1},
#endif
    {"portable", select_portable, distances_portable, 1},
};
#define LEVELS (sizeof levels / sizeof *levels)

static const Level *find_level(const char *name)
{
    for (size_t i = 0; i < LEVELS; i++)
        if (levels[i].usable && strcmp(levels[i].name, name) == 0)
            return &levels[i];
    PyErr_Format(PyExc_ValueError, "this processor has no kernel level %s", name);
    return NULL;
}

/* ---- results: for each query a growing list of (row, distance) ---- */

typedef struct {
    uint32_t *rows;
    uint16_t *distances;
    size_t size, capacity;
} Found;

static int found_reserve(Found *f, size_t capacity)
{
    if (capacity <= f->capacity)
        return 1;
    uint32_t *rows = realloc(f->rows, capacity * sizeof *rows);
    if (rows)
        f->rows = rows;
    uint16_t *distances = realloc(f->distances, capacity * sizeof *distances);
    if (distances)
        f->distances = distances;
    if (!rows || !distances)
        return 0;
    f->capacity = capacity;
    return 1;
}

static inline int found_push(Found *f, uint32_t row, uint16_t d)
{
    if (f->size == f->capacity && !found_reserve(f, f->capacity ? 2 * f->capacity : 16))
        return 0;
    f->rows[f->size] = row;
    f->distances[f->size++] = d;
    return 1;
}

static void found_free(Found *f, size_t n)
{
    for (size_t i = 0; f && i < n; i++) {
        free(f[i].rows);
        free(f[i].distances);
    }
    free(f);
}

/* (counts, rows, distances) as bytes: int64 per query, then uint32 and uint16, each query by (distance, row). The
 * lists come in row order, and a counting sort keeps that order among ties. */
static PyObject *found_sorted(Found *f, size_t n, size_t bits, const uint32_t *limits, size_t most)
{
    size_t total = 0;
    PyObject *rows = NULL, *distances = NULL;
    PyObject *counts = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(int64_t)));
    size_t *start = malloc((bits + 2) * sizeof *start);
    if (!counts || !start)
        goto failed;
    int64_t *count = (int64_t *)PyBytes_AS_STRING(counts);
    for (size_t i = 0; i < n; i++) {
        size_t kept = 0;
        for (size_t j = 0; j < f[i].size; j++)
            kept += f[i].distances[j] < limits[i];
        count[i] = (int64_t)(kept < most ? kept : most);
        total += (size_t)count[i];
    }
    rows = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(total * sizeof(uint32_t)));
    distances = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(total * sizeof(uint16_t)));
    if (!rows || !distances)
        goto failed;
    uint32_t *row = (uint32_t *)PyBytes_AS_STRING(rows);
    uint16_t *dist = (uint16_t *)PyBytes_AS_STRING(distances);
    Py_BEGIN_ALLOW_THREADS
    for (size_t i = 0; i < n; i++) {
        const size_t size = (size_t)count[i];
        if (size == 1 && f[i].size == 1) { /* the common case of a small radius */
            row[0] = f[i].rows[0];
            dist[0] = f[i].distances[0];
        } else if (size) {
            memset(start, 0, (bits + 2) * sizeof *start);
            for (size_t j = 0; j < f[i].size; j++)
                start[f[i].distances[j] + 1]++;
            for (size_t d = 0; d <= bits; d++)
                start[d + 1] += start[d];
            for (size_t j = 0; j < f[i].size; j++) {
                const size_t place = start[f[i].distances[j]]++;
                if (place < size) {
                    row[place] = f[i].rows[j];
                    dist[place] = f[i].distances[j];
                }
            }
        }
        row += size;
        dist += size;
    }
    Py_END_ALLOW_THREADS
    free(start);
    return Py_BuildValue("(NNN)", counts, rows, distances);
failed:
    free(start);
    Py_XDECREF(counts);
    Py_XDECREF(rows);
    Py_XDECREF(distances);
    return PyErr_NoMemory();
}

/* ---- the k nearest ---- */

#define BLOCK_WORDS 2048 /* 16 KB of codes stay in the first-level cache while every query passes over them */
#define CHUNK 256        /* rows between two looks at the limit while it still falls */

typedef struct {
    Found found;       /* candidates in row order */
    uint32_t *counts;  /* candidates (or their weights) at each distance */
    uint32_t limit;    /* only distances below it can still matter */
    uint64_t below;    /* sum of counts below the limit */
    int settled;       /* the last chunk had few hits */
} Nearest;

/* Forget candidates the limit has passed. In row order the first ties win, so later ones go too. */
static void nearest_compact(Nearest *s, uint64_t k, int weighted)
{
    Found *f = &s->found;
    size_t kept = 0;
    uint64_t ties = weighted ? 0 : k - s->below;
    for (size_t i = 0; i < f->size; i++) {
        const uint16_t d = f->distances[i];
        if (d < s->limit || (d == s->limit && ties && ties--)) {
            f->rows[kept] = f->rows[i];
            f->distances[kept++] = d;
        }
    }
    f->size = kept;
}

static int nearest_push(Nearest *s, uint32_t row, uint16_t d, uint64_t k, const uint32_t *weights)
{
    Found *f = &s->found;
    if (f->size == f->capacity) {
        nearest_compact(s, k, weights != NULL);
        if (f->size > f->capacity / 2 && !found_reserve(f, 2 * f->capacity))
            return 0;
    }
    f->rows[f->size] = row;
    f->distances[f->size++] = d;
    if (weights) { /* every row of the last distance is wanted: the caller breaks ties */
        s->counts[d] += weights[row];
        s->below += weights[row];
        while (s->below - s->counts[s->limit - 1] >= k)
            s->below -= s->counts[--s->limit];
    } else {
        s->counts[d]++;
        s->below++;
        while (s->below >= k)
            s->below -= s->counts[--s->limit];
    }
    return 1;
}

static int nearest_scan(Nearest *s, const Level *level, const uint64_t *query, const uint64_t *columns, size_t stride,
                        size_t words, size_t begin, size_t end, uint64_t k, const uint8_t *allowed,
                        const uint32_t *weights, uint16_t *offsets, uint16_t *distances)
{
    while (begin < end && s->limit) {
        size_t stop = s->settled ? end : begin + CHUNK;
        if (stop > end)
            stop = end;
        const size_t hits = level->select(query, columns, stride, words, begin, stop, s->limit, offsets, distances);
        s->settled = hits < CHUNK / 8;
        for (size_t i = 0; i < hits; i++) {
            const size_t row = begin + offsets[i];
            if (distances[i] < s->limit && (!allowed || allowed[row]) &&
                !nearest_push(s, (uint32_t)row, distances[i], k, weights))
                return 0;
        }
        begin = stop;
    }
    return 1;
}

typedef struct {
    Py_buffer queries, columns, allowed, weights;
} Inputs;

static void release(Inputs *in)
{
    PyBuffer_Release(&in->queries);
    PyBuffer_Release(&in->columns);
    if (in->allowed.obj) PyBuffer_Release(&in->allowed);
    if (in->weights.obj) PyBuffer_Release(&in->weights);
}

static size_t block_rows(size_t words)
{
    const size_t rows = BLOCK_WORDS / words;
    return rows < 64 ? 64 : rows;
}

PyDoc_STRVAR(nearest_doc,
"nearest(level, bits, queries, columns, stride, begin, end, k, allowed, weights) -> (counts, rows, distances)\n\n"
"The k rows nearest to each query, by (distance, row). With weights, every row up to the smallest distance at\n"
"which the weights sum up to k.");

static PyObject *kernel_nearest(PyObject *self, PyObject *args)
{
    Inputs in = {0};
    const char *name;
    Py_ssize_t bits, stride, begin, end;
    unsigned long long k;
    if (!PyArg_ParseTuple(args, "sny*y*nnnKz*z*", &name, &bits, &in.queries, &in.columns, &stride, &begin, &end, &k,
                          &in.allowed, &in.weights))
        return NULL;
    const Level *level = find_level(name);
    const size_t words = ((size_t)bits + 63) / 64, n = (size_t)in.queries.len / (8 * words);
    const uint32_t *weights = in.weights.obj ? in.weights.buf : NULL;
    PyObject *result = NULL;
    Nearest *states = NULL;
    int ok = 0;
    if (!level)
        goto done;
    Py_BEGIN_ALLOW_THREADS
    uint64_t capacity = 2 * k + 256, rows = (uint64_t)(end - begin);
    if (capacity > rows + 1)
        capacity = rows + 1;
    ok = (states = calloc(n + 1, sizeof *states)) != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        states[i].limit = (uint32_t)bits + 1;
        states[i].counts = calloc((size_t)bits + 2, sizeof(uint32_t));
        ok = states[i].counts && found_reserve(&states[i].found, (size_t)capacity);
    }
    uint16_t offsets[BLOCK_WORDS], distances[BLOCK_WORDS];
    const size_t block = block_rows(words);
    for (size_t from = (size_t)begin; ok && from < (size_t)end; from += block) {
        const size_t to = from + block < (size_t)end ? from + block : (size_t)end;
        for (size_t i = 0; ok && i < n; i++)
            ok = nearest_scan(&states[i], level, (const uint64_t *)in.queries.buf + i * words, in.columns.buf,
                              (size_t)stride, words, from, to, k, in.allowed.obj ? in.allowed.buf : NULL, weights,
                              offsets, distances);
    }
    Py_END_ALLOW_THREADS
    if (ok) {
        Found *found = malloc((n + 1) * sizeof *found);
        uint32_t *limits = malloc((n + 1) * sizeof *limits);
        if (found && limits) {
            for (size_t i = 0; i < n; i++) {
                found[i] = states[i].found;
                limits[i] = states[i].limit + (weights == NULL); /* the ties at the limit count here */
            }
            result = found_sorted(found, n, (size_t)bits, limits, weights ? SIZE_MAX : (size_t)k);
        } else
            PyErr_NoMemory();
        free(found);
        free(limits);
    } else
        PyErr_NoMemory();
    for (size_t i = 0; states && i < n; i++) {
        free(states[i].counts);
        free(states[i].found.rows);
        free(states[i].found.distances);
    }
    free(states);
done:
    release(&in);
    return result;
}

/* ---- everything within a radius ---- */

static int scan_within(Found *found, const Level *level, const uint64_t *query, const uint64_t *columns, size_t stride,
                       size_t words, size_t begin, size_t end, uint32_t radius, const uint8_t *allowed)
{
    uint16_t offsets[BLOCK_WORDS], distances[BLOCK_WORDS];
    const size_t block = block_rows(words);
    for (size_t from = begin; from < end; from += block) {
        const size_t to = from + block < end ? from + block : end;
        const size_t hits = level->select(query, columns, stride, words, from, to, radius + 1, offsets, distances);
        for (size_t i = 0; i < hits; i++)
            if ((!allowed || allowed[from + offsets[i]]) &&
                !found_push(found, (uint32_t)(from + offsets[i]), distances[i]))
                return 0;
    }
    return 1;
}

PyDoc_STRVAR(within_doc,
"within(level, bits, queries, columns, stride, begin, end, radius, allowed) -> (counts, rows, distances)\n\n"
"All rows at distance radius or less of each query, by (distance, row).");

static PyObject *kernel_within(PyObject *self, PyObject *args)
{
    Inputs in = {0};
    const char *name;
    Py_ssize_t bits, stride, begin, end, radius;
    if (!PyArg_ParseTuple(args, "sny*y*nnnnz*", &name, &bits, &in.queries, &in.columns, &stride, &begin, &end,
                          &radius, &in.allowed))
        return NULL;
    const Level *level = find_level(name);
    const size_t words = ((size_t)bits + 63) / 64, n = (size_t)in.queries.len / (8 * words);
    const uint8_t *allowed = in.allowed.obj ? in.allowed.buf : NULL;
    PyObject *result = NULL;
    Found *found = NULL;
    uint32_t *limits = NULL;
    int ok = 0;
    if (!level)
        goto done;
    Py_BEGIN_ALLOW_THREADS
    found = calloc(n + 1, sizeof *found);
    limits = malloc((n + 1) * sizeof *limits);
    ok = found && limits;
    const size_t block = block_rows(words);
    for (size_t i = 0; ok && i < n; i++)
        limits[i] = (uint32_t)radius + 1;
    for (size_t from = (size_t)begin; ok && from < (size_t)end; from += block) {
        const size_t to = from + block < (size_t)end ? from + block : (size_t)end;
        for (size_t i = 0; ok && i < n; i++)
            ok = scan_within(&found[i], level, (const uint64_t *)in.queries.buf + i * words, in.columns.buf,
                             (size_t)stride, words, from, to, (uint32_t)radius, allowed);
    }
    Py_END_ALLOW_THREADS
    result = ok ? found_sorted(found, n, (size_t)bits, limits, SIZE_MAX) : PyErr_NoMemory();
    found_free(found, n);
    free(limits);
done:
    release(&in);
    return result;
}

/* ---- histograms of distances, for metrics ---- */

PyDoc_STRVAR(histograms_doc,
"histograms(level, bits, queries, columns, stride, n, kind, relevance, masks, width, out)\n\n"
"Counts per query of irrelevant and of relevant rows at each distance, into out (q, 2, bits + 1) int64.\n"
"kind 0: relevance (q, n) of bytes; 1: relevance (q, 2) int64, first and last + 1 of the relevant rows; 2: relevance\n"
"(q, width) and masks (n, width) of 64-bit words, a common bit is relevant.");

#define STRIPES 8 /* neighbours often share a distance: counting in turns into several tables avoids waiting */

static void count_bins(const uint16_t *bin, size_t size, uint32_t *tables, size_t stripe)
{
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t a, b; /* four at a load */
        memcpy(&a, bin + i, 8);
        memcpy(&b, bin + i + 4, 8);
        for (size_t s = 0; s < 4; s++) {
            tables[s * stripe + (a >> (16 * s) & 0xffff)]++;
            tables[(s + 4) * stripe + (b >> (16 * s) & 0xffff)]++;
        }
    }
    for (; i < size; i++)
        tables[bin[i]]++;
}

/* Add `bins` to the bin of every relevant row. */
static void mark_relevant(uint16_t *bin, size_t size, size_t bins, const uint8_t *flags, const uint64_t *mine,
                          const uint64_t *masks, size_t width)
{
    for (size_t r = 0; flags && r < size; r++)
        bin[r] = (uint16_t)(bin[r] + (flags[r] ? bins : 0));
    for (size_t r = 0; masks && r < size; r++) {
        uint64_t common = 0;
        for (size_t w = 0; w < width; w++)
            common |= mine[w] & masks[r * width + w];
        bin[r] = (uint16_t)(bin[r] + (common ? bins : 0));
    }
}

static PyObject *kernel_histograms(PyObject *self, PyObject *args)
{
    Py_buffer queries, columns, relevance, masks = {0}, out;
    const char *name;
    Py_ssize_t bits, stride, n, width;
    int kind;
    if (!PyArg_ParseTuple(args, "sny*y*nniy*z*nw*", &name, &bits, &queries, &columns, &stride, &n, &kind, &relevance,
                          &masks, &width, &out))
        return NULL;
    const Level *level = find_level(name);
    const size_t words = ((size_t)bits + 63) / 64, count = (size_t)queries.len / (8 * words), bins = (size_t)bits + 1;
    const size_t block = block_rows(words), stripe = 2 * bins;
    uint32_t *tables = malloc(STRIPES * stripe * sizeof *tables);
    if (level && tables) {
        Py_BEGIN_ALLOW_THREADS
        uint16_t bin[BLOCK_WORDS];
        for (size_t i = 0; i < count; i++) {
            const uint64_t *query = (const uint64_t *)queries.buf + i * words;
            const int64_t *range = (const int64_t *)relevance.buf + 2 * i;
            const uint64_t *mine = (const uint64_t *)relevance.buf + i * (size_t)width;
            memset(tables, 0, STRIPES * stripe * sizeof *tables);
            for (size_t from = 0, to; from < (size_t)n; from = to) {
                to = from + block < (size_t)n ? from + block : (size_t)n;
                int inside = 0;
                if (kind == 1) { /* a block is all relevant or not at all */
                    inside = (int64_t)from >= range[0] && (int64_t)from < range[1];
                    if (inside && (int64_t)to > range[1])
                        to = (size_t)range[1];
                    if ((int64_t)from < range[0] && (int64_t)to > range[0])
                        to = (size_t)range[0];
                }
                level->distances(query, columns.buf, (size_t)stride, words, from, to, bin);
                if (kind == 0)
                    mark_relevant(bin, to - from, bins, (const uint8_t *)relevance.buf + i * (size_t)n + from, NULL,
                                  NULL, 0);
                else if (kind == 2)
                    mark_relevant(bin, to - from, bins, NULL, mine,
                                  (const uint64_t *)masks.buf + from * (size_t)width, (size_t)width);
                count_bins(bin, to - from, tables + (inside ? bins : 0), stripe);
            }
            int64_t *sums = (int64_t *)out.buf + i * stripe;
            for (size_t b = 0; b < stripe; b++) {
                sums[b] = 0;
                for (size_t s = 0; s < STRIPES; s++)
                    sums[b] += tables[s * stripe + b];
            }
        }
        Py_END_ALLOW_THREADS
    } else if (level)
        PyErr_NoMemory();
    free(tables);
    PyBuffer_Release(&queries);
    PyBuffer_Release(&columns);
    PyBuffer_Release(&relevance);
    if (masks.obj) PyBuffer_Release(&masks);
    PyBuffer_Release(&out);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* ---- multi-index hashing: rows grouped by the value of a few bits ----
 *
 * A part is a window of `width` bits from bit `first` of the code. If a code is within radius r of a query, then in
 * at least one of m disjoint windows it differs in few enough bits, so looking up the query's windows, with those few
 * bits flipped, finds it. */

typedef struct {
    size_t first, width;
    int budget;              /* bits that may differ inside this window */
    const uint32_t *starts;  /* 2^width + 1 */
    const uint32_t *rows;    /* grouped by window value, ascending inside a group */
} Part;

static inline uint32_t window(const uint64_t *code, size_t stride, size_t first, size_t width)
{
    const size_t word = first / 64, shift = first % 64;
    uint64_t value = code[word * stride] >> shift;
    if (shift + width > 64)
        value |= code[(word + 1) * stride] << (64 - shift);
    return (uint32_t)(value & (((uint64_t)1 << width) - 1));
}

PyDoc_STRVAR(group_doc,
"group(columns, stride, n, first, width, starts, rows)\n\n"
"Group rows by a window of their bits: starts (2^width + 1) uint32 and rows (n) uint32 are filled.");

static PyObject *kernel_group(PyObject *self, PyObject *args)
{
    Py_buffer columns, starts, rows;
    Py_ssize_t stride, n, first, width;
    if (!PyArg_ParseTuple(args, "y*nnnnw*w*", &columns, &stride, &n, &first, &width, &starts, &rows))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    const uint64_t *code = columns.buf;
    uint32_t *start = starts.buf, *row = rows.buf;
    const size_t groups = (size_t)1 << width;
    memset(start, 0, (groups + 1) * sizeof *start);
    for (size_t r = 0; r < (size_t)n; r++)
        start[window(code + r, (size_t)stride, (size_t)first, (size_t)width)]++;
    uint32_t sum = 0;
    for (size_t g = 0; g < groups; g++) {
        const uint32_t size = start[g];
        start[g] = sum += size; /* the end of the group for now; filling from the back turns it into the start */
    }
    start[groups] = sum;
    for (size_t r = (size_t)n; r-- > 0;)
        row[--start[window(code + r, (size_t)stride, (size_t)first, (size_t)width)]] = (uint32_t)r;
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&columns);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&rows);
    Py_RETURN_NONE;
}

#define MAX_PARTS 64
#define AHEAD 16 /* queries whose memory is fetched while earlier ones are worked on */

/* Look into one group and keep what is near, unless an earlier part has found it already. */
static int probe(Found *found, const uint64_t *query, const uint64_t *columns, size_t stride, size_t words,
                 const Part *parts, size_t part, uint32_t value, uint32_t radius, const uint8_t *allowed)
{
    const uint32_t stop = parts[part].starts[value + 1];
    for (uint32_t i = parts[part].starts[value]; i < stop; i++) {
        const uint32_t row = parts[part].rows[i];
        const uint32_t d = distance(query, columns + row, stride, words);
        if (d > radius || (allowed && !allowed[row]))
            continue;
        int seen = 0;
        for (size_t p = 0; p < part && !seen; p++) {
            const uint32_t differ = window(query, 1, parts[p].first, parts[p].width) ^
                                    window(columns + row, stride, parts[p].first, parts[p].width);
            seen = (int)popcount64(differ) <= parts[p].budget;
        }
        if (!seen && !found_push(found, row, (uint16_t)d))
            return 0;
    }
    return 1;
}

PyDoc_STRVAR(lookup_doc,
"lookup(level, bits, queries, columns, n, radius, parts, flips, most, allowed) -> (counts, rows, distances)\n\n"
"All rows within radius by multi-index hashing. parts: (first, width, probes, budget, starts, rows) each; flips:\n"
"uint32 patterns by number of set bits, of which a part with `probes` tries so many. A query that would have to look\n"
"at more than `most` rows scans all of them instead.");

static int by_row(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Parts find rows in their own order: restore row order, so that ties come out by row. */
static int found_in_row_order(Found *f)
{
    if (f->size < 2)
        return 1;
    uint64_t *both = malloc(f->size * sizeof *both);
    if (!both)
        return 0;
    for (size_t i = 0; i < f->size; i++)
        both[i] = (uint64_t)f->rows[i] << 16 | f->distances[i];
    qsort(both, f->size, sizeof *both, by_row);
    for (size_t i = 0; i < f->size; i++) {
        f->rows[i] = (uint32_t)(both[i] >> 16);
        f->distances[i] = (uint16_t)both[i];
    }
    free(both);
    return 1;
}

static PyObject *kernel_lookup(PyObject *self, PyObject *args)
{
    Inputs in = {0};
    Py_buffer flips, buffers[2 * MAX_PARTS];
    PyObject *list, *result = NULL;
    const char *name;
    Py_ssize_t bits, stride, radius, most;
    if (!PyArg_ParseTuple(args, "sny*y*nnO!y*nz*", &name, &bits, &in.queries, &in.columns, &stride, &radius,
                          &PyTuple_Type, &list, &flips, &most, &in.allowed))
        return NULL;
    const Level *level = find_level(name);
    Part parts[MAX_PARTS];
    size_t probes[MAX_PARTS], held = 0;
    const size_t count = (size_t)PyTuple_GET_SIZE(list);
    const size_t words = ((size_t)bits + 63) / 64, n = (size_t)in.queries.len / (8 * words);
    const uint8_t *allowed = in.allowed.obj ? in.allowed.buf : NULL;
    Found *found = NULL;
    uint32_t *limits = NULL;
    int ok = 0;
    if (!level)
        goto done;
    if (count > MAX_PARTS) {
        PyErr_SetString(PyExc_ValueError, "too many parts");
        goto done;
    }
    for (; held < count; held++) {
        Part *p = &parts[held];
        Py_ssize_t first, width, tries;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(list, (Py_ssize_t)held), "nnniy*y*", &first, &width, &tries,
                              &p->budget, &buffers[2 * held], &buffers[2 * held + 1]))
            goto done;
        p->first = (size_t)first;
        p->width = (size_t)width;
        probes[held] = (size_t)tries;
        p->starts = buffers[2 * held].buf;
        p->rows = buffers[2 * held + 1].buf;
    }
    Py_BEGIN_ALLOW_THREADS
    const uint64_t *queries = in.queries.buf, *columns = in.columns.buf;
    const uint32_t *flip = flips.buf;
    found = calloc(n + 1, sizeof *found);
    limits = malloc((n + 1) * sizeof *limits);
    ok = found && limits;
    for (size_t i = 0; ok && i < n; i++) {
        limits[i] = (uint32_t)radius + 1;
        if (i % AHEAD == 0) { /* three passes over the next queries: each fetches what the following one reads */
            const size_t last = i + AHEAD < n ? i + AHEAD : n;
            for (int pass = 0; pass < 3; pass++)
                for (size_t q = i; q < last; q++)
                    for (size_t p = 0; p < count; p++) {
                        const uint32_t *start =
                            parts[p].starts + window(queries + q * words, 1, parts[p].first, parts[p].width);
                        if (pass == 0)
                            prefetch(start);
                        else if (start[0] < start[1]) {
                            if (pass == 1)
                                prefetch(parts[p].rows + start[0]);
                            else
                                for (uint32_t j = start[0]; j < start[1] && j < start[0] + 4; j++)
                                    prefetch(columns + parts[p].rows[j]);
                        }
                    }
        }
        const uint64_t *query = queries + i * words;
        size_t candidates = 0;
        for (size_t p = 0; p < count; p++) {
            const uint32_t value = window(query, 1, parts[p].first, parts[p].width);
            for (size_t t = 0; t < probes[p]; t++)
                candidates += parts[p].starts[(value ^ flip[t]) + 1] - parts[p].starts[value ^ flip[t]];
        }
        if (candidates > (size_t)most) { /* many codes share these windows */
            ok = scan_within(&found[i], level, query, columns, (size_t)stride, words, 0, (size_t)stride,
                             (uint32_t)radius, allowed);
            continue;
        }
        for (size_t p = 0; ok && p < count; p++) {
            const uint32_t value = window(query, 1, parts[p].first, parts[p].width);
            for (size_t t = 0; ok && t < probes[p]; t++)
                ok = probe(&found[i], query, columns, (size_t)stride, words, parts, p, value ^ flip[t],
                           (uint32_t)radius, allowed);
        }
        ok = ok && found_in_row_order(&found[i]);
    }
    Py_END_ALLOW_THREADS
    result = ok ? found_sorted(found, n, (size_t)bits, limits, SIZE_MAX) : PyErr_NoMemory();
done:
    found_free(found, n);
    free(limits);
    for (size_t i = 0; i < 2 * held; i++)
        PyBuffer_Release(&buffers[i]);
    PyBuffer_Release(&flips);
    release(&in);
    return result;
}

PyDoc_STRVAR(levels_doc, "levels() -> names of the instruction sets this processor can run, best first");

static PyObject *kernel_levels(PyObject *self, PyObject *none)
{
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < LEVELS; i++) {
        PyObject *name = levels[i].usable ? PyUnicode_FromString(levels[i].name) : NULL;
        if (levels[i].usable && (!name || PyList_Append(names, name) < 0))
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyMethodDef methods[] = {
    {"nearest", kernel_nearest, METH_VARARGS, nearest_doc},
    {"within", kernel_within, METH_VARARGS, within_doc},
    {"histograms", kernel_histograms, METH_VARARGS, histograms_doc},
    {"group", kernel_group, METH_VARARGS, group_doc},
    {"lookup", kernel_lookup, METH_VARARGS, lookup_doc},
    {"levels", kernel_levels, METH_NOARGS, levels_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", "Exact Hamming search, compiled.", -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void)
{
#ifdef HAVE_X86
    __builtin_cpu_init();
    levels[0].usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vpopcntdq");
    levels[1].usable = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#endif
    return PyModule_Create(&module);
}
