/* Results: for each query a growing list of (row, distance). */

#include "kernel.h"

int found_reserve(Found *f, size_t capacity)
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

void found_free(Found *f, size_t n)
{
    for (size_t i = 0; f && i < n; i++) {
        free(f[i].rows);
        free(f[i].distances);
    }
    free(f);
}

/* (counts, rows, distances) as bytes: int64 per query, then uint32 and uint16, each query by (distance, row). The
 * lists come in row order, and a counting sort keeps that order among ties. */
PyObject *found_sorted(Found *f, size_t n, size_t largest, const uint32_t *limits, size_t most)
{
    size_t total = 0;
    PyObject *rows = NULL, *distances = NULL;
    PyObject *counts = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(int64_t)));
    size_t *start = malloc((largest + 2) * sizeof *start);
    if (!counts || !start)
        goto failed;
    int64_t *count = (int64_t *)PyBytes_AsString(counts);
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
    uint32_t *row = (uint32_t *)PyBytes_AsString(rows);
    uint16_t *dist = (uint16_t *)PyBytes_AsString(distances);
    Py_BEGIN_ALLOW_THREADS
    for (size_t i = 0; i < n; i++) {
        const size_t size = (size_t)count[i];
        if (size == 1 && f[i].size == 1) { /* the common case of a small radius */
            row[0] = f[i].rows[0];
            dist[0] = f[i].distances[0];
        } else if (size) {
            memset(start, 0, (largest + 2) * sizeof *start);
            for (size_t j = 0; j < f[i].size; j++)
                start[f[i].distances[j] + 1]++;
            for (size_t d = 0; d <= largest; d++)
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
