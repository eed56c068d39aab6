/* Histograms of distances, for metrics. */

#include "kernel.h"

const char histograms_doc[] = PyDoc_STR(
"histograms(level, measure, queries, columns, stride, n, kind, relevance, masks, width, out)\n\n"
"Counts per query of irrelevant and of relevant rows at each distance, into out (q, 2, largest + 1) int64.\n"
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

static int check_relevance(int kind, const Py_buffer *relevance, const Py_buffer *masks, size_t queries, size_t n,
                           Py_ssize_t width)
{
    static const char other[] = "marks of relevant rows of another size";
    if (kind == 0)
        return check_array(relevance, queries * n, 1, other);
    if (kind == 1)
        return check_array(relevance, queries * 2, sizeof(int64_t), other);
    if (kind != 2 || !masks->obj || width < 0 || width > UINT16_MAX)
        return refuse("such a kind of relevance");
    return check_array(relevance, queries * (size_t)width, sizeof(uint64_t), other) &&
           check_array(masks, n * (size_t)width, sizeof(uint64_t), other);
}

PyObject *kernel_histograms(PyObject *self, PyObject *args)
{
    Py_buffer queries, columns, relevance, masks = {0}, out;
    const char *name;
    PyObject *measure;
    Py_ssize_t stride, n, width;
    int kind;
    if (!PyArg_ParseTuple(args, "sO!y*y*nniy*z*nw*", &name, &PyTuple_Type, &measure, &queries, &columns, &stride, &n,
                          &kind, &relevance, &masks, &width, &out))
        return NULL;
    const Level *level = find_level(name);
    Measure m;
    size_t count = 0;
    const int known = level && measure_of(&m, measure) && check_queries(&queries, m.words, &count) &&
                      check_rows(&columns, m.words, stride, 0, n) &&
                      check_relevance(kind, &relevance, &masks, count, (size_t)n, width) &&
                      check_array(&out, count * 2 * (m.largest + 1), sizeof(int64_t), "counts of another size");
    /* A place for every distance, even with bits set beyond the code; twice that many are numbers of 16 bits. */
    const size_t bins = !known ? 1 : m.reach < MOST_DISTANCE ? m.reach + 1 : MOST_DISTANCE + 1;
    const size_t words = known ? m.words : 1, block = block_rows(words), stripe = 2 * bins;
    uint32_t *tables = malloc(STRIPES * stripe * sizeof *tables);
    if (known && tables) {
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
                level->distances(query, columns.buf, (size_t)stride, &m, from, to, bin);
                if (kind == 0)
                    mark_relevant(bin, to - from, bins, (const uint8_t *)relevance.buf + i * (size_t)n + from, NULL,
                                  NULL, 0);
                else if (kind == 2)
                    mark_relevant(bin, to - from, bins, NULL, mine,
                                  (const uint64_t *)masks.buf + from * (size_t)width, (size_t)width);
                count_bins(bin, to - from, tables + (inside ? bins : 0), stripe);
            }
            int64_t *sum = (int64_t *)out.buf + i * 2 * (m.largest + 1);
            for (size_t first = 0; first < stripe; first += bins)
                for (size_t b = first; b <= first + m.largest; b++, sum++) {
                    *sum = 0;
                    for (size_t s = 0; s < STRIPES; s++)
                        *sum += tables[s * stripe + b];
                }
        }
        Py_END_ALLOW_THREADS
    } else if (known)
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
