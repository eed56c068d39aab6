/* Multi-index hashing: rows grouped by the value of a few bits.
 *
 * A part is a window of `width` bits from bit `first` of the code. If a code is within radius r of a query, then in
 * at least one of m disjoint windows it differs in few enough bits, so looking up the query's windows, with those few
 * bits flipped, finds it.
 */

#include "kernel.h"

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

static int check_groups(const Py_buffer *starts, const Py_buffer *rows, Py_ssize_t width, Py_ssize_t n)
{
    return check_array(starts, ((size_t)1 << width) + 1, sizeof(uint32_t), "starts of groups of another size") &&
           check_array(rows, (size_t)n, sizeof(uint32_t), "grouped rows of another size");
}

const char group_doc[] = PyDoc_STR(
"group(columns, stride, n, first, width, starts, rows)\n\n"
"Group rows by a window of their bits: starts (2^width + 1) uint32 and rows (n) uint32 are filled.");

PyObject *kernel_group(PyObject *self, PyObject *args)
{
    Py_buffer columns, starts, rows;
    Py_ssize_t stride, n, first, width;
    if (!PyArg_ParseTuple(args, "y*nnnnw*w*", &columns, &stride, &n, &first, &width, &starts, &rows))
        return NULL;
    size_t words = MOST_WORDS; /* without rows, any */
    if (stride > 0 && (uint64_t)stride <= UINT32_MAX)
        words = (size_t)columns.len / (8 * (size_t)stride);
    if (!check_rows(&columns, words, stride, 0, n) || !check_window(first, width, words) ||
        !check_groups(&starts, &rows, width, n))
        goto done;
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
done:
    PyBuffer_Release(&columns);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&rows);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

#define MAX_PARTS 64
#define AHEAD 16 /* queries whose memory is fetched while earlier ones are worked on */

/* Look into one group and keep what is near, unless an earlier part has found it already. */
static int probe(Found *found, const uint64_t *query, const uint64_t *columns, size_t stride, const Measure *m,
                 const Part *parts, size_t part, uint32_t value, uint32_t radius, const uint8_t *allowed)
{
    const uint32_t end = parts[part].starts[value + 1], stop = end < stride ? end : (uint32_t)stride;
    for (uint32_t i = parts[part].starts[value]; i < stop; i++) {
        const uint32_t row = parts[part].rows[i];
        if (row >= stride)
            continue;
        const uint32_t d = distance(query, columns + row, stride, m);
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

const char lookup_doc[] = PyDoc_STR(
"lookup(level, measure, queries, columns, n, radius, parts, flips, most, may_scan, allowed)\n"
"-> (counts, rows, distances)\n\n"
"All rows within radius by multi-index hashing. parts: (first, width, probes, budget, starts, rows) each; flips:\n"
"uint32 patterns by number of set bits, of which a part with `probes` tries so many. A query that would have to look\n"
"at more than `most` rows scans all of them instead; if it may not, None is returned.");

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

/* The first `tries` patterns are there, and flip bits inside of the window only. */
static int check_flips(const Py_buffer *flips, Py_ssize_t tries, Py_ssize_t width)
{
    if (tries < 0 || tries > flips->len / 4)
        return refuse("to try more patterns than there are");
    for (Py_ssize_t t = 0; t < tries; t++)
        if (((const uint32_t *)flips->buf)[t] >> width)
            return refuse("a pattern wider than its window");
    return 1;
}

PyObject *kernel_lookup(PyObject *self, PyObject *args)
{
    Inputs in = {0};
    Py_buffer flips, buffers[2 * MAX_PARTS];
    PyObject *list, *result = NULL;
    const char *name;
    PyObject *measure;
    Py_ssize_t stride, radius, most;
    int may_scan, too_many = 0;
    if (!PyArg_ParseTuple(args, "sO!y*y*nnO!y*npz*", &name, &PyTuple_Type, &measure, &in.queries, &in.columns, &stride,
                          &radius, &PyTuple_Type, &list, &flips, &most, &may_scan, &in.allowed))
        return NULL;
    const Level *level = find_level(name);
    Part parts[MAX_PARTS];
    size_t probes[MAX_PARTS], held = 0;
    const size_t count = (size_t)PyTuple_Size(list);
    const uint8_t *allowed = in.allowed.obj ? in.allowed.buf : NULL;
    Found *found = NULL;
    uint32_t *limits = NULL;
    Measure m;
    size_t words = 0, n = 0;
    uint32_t reached;
    int ok = 0;
    if (!level || !measure_of(&m, measure))
        goto done;
    words = m.words;
    if (!check_inputs(&in, &m, stride, 0, stride, &n) || !check_radius(radius, &m, &reached) ||
        !check_array(&flips, (size_t)flips.len / 4, sizeof *parts->starts, "patterns of another size") ||
        (count > MAX_PARTS && !refuse("so many parts")))
        goto done;
    for (; held < count; held++) {
        Part *p = &parts[held];
        Py_ssize_t first, width, tries;
        PyObject *given = PyTuple_GetItem(list, (Py_ssize_t)held);
        if ((!PyTuple_Check(given) && !refuse("a part that is no tuple")) ||
            !PyArg_ParseTuple(given, "nnniy*y*", &first, &width, &tries, &p->budget, &buffers[2 * held],
                              &buffers[2 * held + 1]))
            goto done;
        if (!check_window(first, width, words) ||
            !check_groups(&buffers[2 * held], &buffers[2 * held + 1], width, stride) ||
            !check_flips(&flips, tries, width)) {
            held++; /* its buffers are held already */
            goto done;
        }
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
        limits[i] = reached + 1;
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
                                for (size_t j = start[0]; j < start[1] && j < (size_t)start[0] + 4 && j < (size_t)stride; j++)
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
            if ((too_many = !may_scan))
                break;
            ok = scan_within(&found[i], level, query, columns, (size_t)stride, &m, 0, (size_t)stride,
                             reached, allowed);
            continue;
        }
        for (size_t p = 0; ok && p < count; p++) {
            const uint32_t value = window(query, 1, parts[p].first, parts[p].width);
            for (size_t t = 0; ok && t < probes[p]; t++)
                ok = probe(&found[i], query, columns, (size_t)stride, &m, parts, p, value ^ flip[t],
                           reached, allowed);
        }
        ok = ok && found_in_row_order(&found[i]);
    }
    Py_END_ALLOW_THREADS
    if (too_many)
        result = Py_NewRef(Py_None);
    else
        result = ok ? found_sorted(found, n, m.largest, limits, SIZE_MAX) : PyErr_NoMemory();
done:
    found_free(found, n);
    free(limits);
    for (size_t i = 0; i < 2 * held; i++)
        PyBuffer_Release(&buffers[i]);
    PyBuffer_Release(&flips);
    release(&in);
    return result;
}
