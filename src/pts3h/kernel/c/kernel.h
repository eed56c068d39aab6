/* What the parts of the kernel share.
 *
 * Codes come as columns of 64-bit words (see scan.h). Everything here runs on the caller's thread without the
 * interpreter lock; native.py splits the work over threads. door.c checks what a call is given.
 */

#ifndef PTS3H_KERNEL_H
#define PTS3H_KERNEL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define lowest_bit(x) __builtin_ctz(x)
#define prefetch(address) __builtin_prefetch(address)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
static inline int lowest_bit(uint32_t x)
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

#define MOST_WORDS 64       /* of a code */
#define MOST_DISTANCE 32767 /* twice as many still fit into 16 bits */
#define MOST_WEIGHT 16      /* of a bit */
#define MOST_WINDOW 31      /* bits of a window that rows are grouped by */

/* How bits count: one each; or every byte of a word has its own weight, below 16; or even bits of a byte differ. */
typedef enum { PLAIN, BY_BYTE, BY_BIT } Weighing;

/* What a distance counts. A code has two parts: a bit of the first counts `first`, a bit of the second `second`. */
typedef struct {
    size_t words, largest; /* of a code; distance that there can be */
    size_t reach;          /* the distance if bits beyond the code were set, too */
    uint32_t first, second;
    Weighing weighing;
    uint64_t mask[MOST_WORDS];         /* the bits of the first part */
    uint64_t byte_weights[MOST_WORDS]; /* what a bit counts in each byte, if it is by byte */
    uint8_t plain_word[MOST_WORDS];    /* whether every bit of the word counts one */
} Measure;

int measure_of(Measure *m, PyObject *given); /* from (largest, first, second, masks); 0 with an exception */

static inline uint32_t weigh_word(uint64_t differ, const Measure *m, size_t w)
{
    return m->first * popcount64(differ & m->mask[w]) + m->second * popcount64(differ & ~m->mask[w]);
}

static inline uint32_t distance(const uint64_t *query, const uint64_t *code, size_t stride, const Measure *m)
{
    uint32_t d = 0;
    if (m->weighing == PLAIN)
        for (size_t w = 0; w < m->words; w++)
            d += popcount64(query[w] ^ code[w * stride]);
    else
        for (size_t w = 0; w < m->words; w++)
            d += weigh_word(query[w] ^ code[w * stride], m, w);
    return d;
}

/* One instruction set: its name, the two functions of scan.h, and whether this processor can run them. */
typedef struct {
    const char *name;
    size_t (*select)(const uint64_t *, const uint64_t *, size_t, const Measure *, size_t, size_t, uint32_t,
                     uint16_t *, uint16_t *);
    void (*distances)(const uint64_t *, const uint64_t *, size_t, const Measure *, size_t, size_t, uint16_t *);
    int usable;
} Level;

extern Level levels[];
extern const size_t level_count;
void find_usable_levels(void);
const Level *find_level(const char *name); /* or NULL with an exception */

/* What one query found: a growing list. */
typedef struct {
    uint32_t *rows;
    uint16_t *distances;
    size_t size, capacity;
} Found;

int found_reserve(Found *f, size_t capacity); /* 0 if memory ran out; so does found_push */
void found_free(Found *f, size_t n);
PyObject *found_sorted(Found *f, size_t n, size_t largest, const uint32_t *limits, size_t most);

static inline int found_push(Found *f, uint32_t row, uint16_t d)
{
    if (f->size == f->capacity && !found_reserve(f, f->capacity ? 2 * f->capacity : 16))
        return 0;
    f->rows[f->size] = row;
    f->distances[f->size++] = d;
    return 1;
}

/* What most calls take; absent ones have no obj. */
typedef struct {
    Py_buffer queries, columns, allowed, weights;
} Inputs;

static inline void release(Inputs *in)
{
    PyBuffer_Release(&in->queries);
    PyBuffer_Release(&in->columns);
    if (in->allowed.obj) PyBuffer_Release(&in->allowed);
    if (in->weights.obj) PyBuffer_Release(&in->weights);
}

/* The door. Each sets an exception and returns 0 if something is wrong. */
int refuse(const char *what);
int check_array(const Py_buffer *given, size_t count, size_t size, const char *what);
int check_rows(const Py_buffer *columns, size_t words, Py_ssize_t stride, Py_ssize_t begin, Py_ssize_t end);
int check_queries(const Py_buffer *queries, size_t words, size_t *count);
int check_inputs(const Inputs *in, const Measure *m, Py_ssize_t stride, Py_ssize_t begin, Py_ssize_t end,
                 size_t *count);
int check_radius(Py_ssize_t radius, const Measure *m, uint32_t *clean);
int check_window(Py_ssize_t first, Py_ssize_t width, size_t words);

#define BLOCK_WORDS 2048 /* 16 KB of codes stay in the first-level cache while every query passes over them */

static inline size_t block_rows(size_t words)
{
    const size_t rows = BLOCK_WORDS / words;
    return rows < 64 ? 64 : rows;
}

/* Push what is within the radius among rows begin..end. 0 if memory ran out. */
int scan_within(Found *found, const Level *level, const uint64_t *query, const uint64_t *columns, size_t stride,
                const Measure *m, size_t begin, size_t end, uint32_t radius, const uint8_t *allowed);

PyObject *kernel_nearest(PyObject *self, PyObject *args);
PyObject *kernel_within(PyObject *self, PyObject *args);
PyObject *kernel_histograms(PyObject *self, PyObject *args);
PyObject *kernel_group(PyObject *self, PyObject *args);
PyObject *kernel_lookup(PyObject *self, PyObject *args);
extern const char nearest_doc[], within_doc[], histograms_doc[], group_doc[], lookup_doc[];

#endif
