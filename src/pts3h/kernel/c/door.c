/* The door: what a caller says is checked against the memory that it gives. Past it, nothing is checked again. */

#include "kernel.h"

int refuse(const char *what)
{
    PyErr_Format(PyExc_ValueError, "the kernel refuses %s", what);
    return 0;
}

int check_array(const Py_buffer *given, size_t count, size_t size, const char *what)
{
    if ((uintptr_t)given->buf % size && given->len)
        return refuse("an array that does not begin at a whole number");
    if (count > PY_SSIZE_T_MAX / size || (size_t)given->len != count * size)
        return refuse(what);
    return 1;
}

int check_rows(const Py_buffer *columns, size_t words, Py_ssize_t stride, Py_ssize_t begin, Py_ssize_t end)
{
    if (stride < 0 || (uint64_t)stride > UINT32_MAX) /* rows are counted in 32 bits */
        return refuse("so many rows");
    if (begin < 0 || begin > end || end > stride)
        return refuse("a range of rows that are not there");
    return check_array(columns, words * (size_t)stride, sizeof(uint64_t), "columns of another size");
}

int check_queries(const Py_buffer *queries, size_t words, size_t *count)
{
    *count = (size_t)queries->len / (sizeof(uint64_t) * words);
    return check_array(queries, *count * words, sizeof(uint64_t), "queries of another size");
}

int check_inputs(const Inputs *in, const Measure *m, Py_ssize_t stride, Py_ssize_t begin, Py_ssize_t end, size_t *count)
{
    return check_queries(&in->queries, m->words, count) && check_rows(&in->columns, m->words, stride, begin, end) &&
           (!in->allowed.obj || check_array(&in->allowed, (size_t)stride, 1, "marks of allowed rows of another size")) &&
           (!in->weights.obj || check_array(&in->weights, (size_t)stride, sizeof(uint32_t), "weights of another size"));
}

int check_radius(Py_ssize_t radius, const Measure *m, uint32_t *clean)
{
    if (radius < 0)
        return refuse("a radius below 0");
    *clean = (uint32_t)((size_t)radius < m->largest ? (size_t)radius : m->largest); /* results have that many places */
    return 1;
}

int check_window(Py_ssize_t first, Py_ssize_t width, size_t words)
{
    if (width < 1 || width > MOST_WINDOW || first < 0 || first > 64 * MOST_WORDS || (size_t)(first + width) > 64 * words)
        return refuse("a window beyond the bits of a code");
    return 1;
}
