/* The k nearest, by counting: a limit that falls as better rows are found. */

#include "kernel.h"

#define CHUNK 256        /* rows between two looks at the limit while it still falls */

typedef struct {
    Found found;       /* candidates in row order */
    uint64_t *counts;  /* candidates (or their weights) at each distance */
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
                        const Measure *m, size_t begin, size_t end, uint64_t k, const uint8_t *allowed,
                        const uint32_t *weights, uint16_t *offsets, uint16_t *distances)
{
    while (begin < end && s->limit) {
        size_t stop = s->settled ? end : begin + CHUNK;
        if (stop > end)
            stop = end;
        const size_t hits = level->select(query, columns, stride, m, begin, stop, s->limit, offsets, distances);
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

const char nearest_doc[] = PyDoc_STR(
"nearest(level, measure, queries, columns, stride, begin, end, k, allowed, weights) -> (counts, rows, distances)\n\n"
"The k rows nearest to each query, by (distance, row). With weights, every row up to the smallest distance at\n"
"which the weights sum up to k.");

PyObject *kernel_nearest(PyObject *self, PyObject *args)
{
    Inputs in = {0};
    const char *name;
    PyObject *measure;
    Py_ssize_t stride, begin, end;
    long long k;
    if (!PyArg_ParseTuple(args, "sO!y*y*nnnLz*z*", &name, &PyTuple_Type, &measure, &in.queries, &in.columns, &stride,
                          &begin, &end, &k, &in.allowed, &in.weights))
        return NULL;
    const Level *level = find_level(name);
    const uint32_t *weights = in.weights.obj ? in.weights.buf : NULL;
    PyObject *result = NULL;
    Nearest *states = NULL;
    Measure m;
    int ok = 0;
    if (!level || !measure_of(&m, measure))
        goto done;
    const size_t words = m.words;
    size_t n;
    if (!check_inputs(&in, &m, stride, begin, end, &n) || (k < 1 && !refuse("to find fewer than one")))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    uint64_t capacity = 2 * (uint64_t)k + 256, rows = (uint64_t)(end - begin);
    if (capacity > rows + 1)
        capacity = rows + 1;
    ok = (states = calloc(n + 1, sizeof *states)) != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        states[i].limit = (uint32_t)m.largest + 1;
        states[i].counts = calloc(m.largest + 2, sizeof *states[i].counts);
        ok = states[i].counts && found_reserve(&states[i].found, (size_t)capacity);
    }
    uint16_t offsets[BLOCK_WORDS], distances[BLOCK_WORDS];
    const size_t block = block_rows(words);
    for (size_t from = (size_t)begin; ok && from < (size_t)end; from += block) {
        const size_t to = from + block < (size_t)end ? from + block : (size_t)end;
        for (size_t i = 0; ok && i < n; i++)
            ok = nearest_scan(&states[i], level, (const uint64_t *)in.queries.buf + i * words, in.columns.buf,
                              (size_t)stride, &m, from, to, (uint64_t)k, in.allowed.obj ? in.allowed.buf : NULL, weights,
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
            result = found_sorted(found, n, m.largest, limits, weights ? SIZE_MAX : (size_t)k);
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
