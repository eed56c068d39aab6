/* Everything within a radius, by a scan. */

#include "kernel.h"

int scan_within(Found *found, const Level *level, const uint64_t *query, const uint64_t *columns, size_t stride,
                const Measure *m, size_t begin, size_t end, uint32_t radius, const uint8_t *allowed)
{
    uint16_t offsets[BLOCK_WORDS], distances[BLOCK_WORDS];
    const size_t block = block_rows(m->words);
    for (size_t from = begin; from < end; from += block) {
        const size_t to = from + block < end ? from + block : end;
        const size_t hits = level->select(query, columns, stride, m, from, to, radius + 1, offsets, distances);
        for (size_t i = 0; i < hits; i++)
            if ((!allowed || allowed[from + offsets[i]]) &&
                !found_push(found, (uint32_t)(from + offsets[i]), distances[i]))
                return 0;
    }
    return 1;
}

const char within_doc[] = PyDoc_STR(
"within(level, measure, queries, columns, stride, begin, end, radius, allowed) -> (counts, rows, distances)\n\n"
"All rows at distance radius or less of each query, by (distance, row).");

PyObject *kernel_within(PyObject *self, PyObject *args)
{
    Inputs in = {0};
    const char *name;
    PyObject *measure;
    Py_ssize_t stride, begin, end, radius;
    if (!PyArg_ParseTuple(args, "sO!y*y*nnnnz*", &name, &PyTuple_Type, &measure, &in.queries, &in.columns, &stride, &begin, &end,
                          &radius, &in.allowed))
        return NULL;
    const Level *level = find_level(name);
    const uint8_t *allowed = in.allowed.obj ? in.allowed.buf : NULL;
    Measure m;
    int ok = 0;
    PyObject *result = NULL;
    Found *found = NULL;
    uint32_t *limits = NULL;
    if (!level || !measure_of(&m, measure))
        goto done;
    const size_t words = m.words;
    size_t n;
    uint32_t most;
    if (!check_inputs(&in, &m, stride, begin, end, &n) || !check_radius(radius, &m, &most))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    found = calloc(n + 1, sizeof *found);
    limits = malloc((n + 1) * sizeof *limits);
    ok = found && limits;
    const size_t block = block_rows(words);
    for (size_t i = 0; ok && i < n; i++)
        limits[i] = most + 1;
    for (size_t from = (size_t)begin; ok && from < (size_t)end; from += block) {
        const size_t to = from + block < (size_t)end ? from + block : (size_t)end;
        for (size_t i = 0; ok && i < n; i++)
            ok = scan_within(&found[i], level, (const uint64_t *)in.queries.buf + i * words, in.columns.buf,
                             (size_t)stride, &m, from, to, most, allowed);
    }
    Py_END_ALLOW_THREADS
    result = ok ? found_sorted(found, n, m.largest, limits, SIZE_MAX) : PyErr_NoMemory();
    found_free(found, n);
    free(limits);
done:
    release(&in);
    return result;
}
