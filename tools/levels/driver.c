/* Runs the functions of every instruction level that this processor has over problems from standard input.
 *
 * A problem is eight 64-bit numbers (words, largest, first, second, stride, begin, end, limit), then the masks, the
 * query and the columns. The answer, per level: its name in 16 bytes, the distances of the rows, how many are
 * below the limit (64 bits), their offsets and their distances. An empty name ends a problem.
 */

#include <stdio.h>

#include "kernel.h"

PyObject *PyExc_ValueError = NULL;

int refuse(const char *what)
{
    fprintf(stderr, "the kernel refuses %s\n", what);
    exit(1);
}

void PyErr_Format(PyObject *kind, const char *text, ...)
{
    (void)kind;
    refuse(text);
}

void PyBuffer_Release(Py_buffer *buffer)
{
    (void)buffer;
}

int PyArg_ParseTuple(PyObject *given, const char *format, Py_ssize_t *largest, uint32_t *first, uint32_t *second,
                     Py_buffer *masks)
{
    (void)format;
    *largest = given->largest;
    *first = given->first;
    *second = given->second;
    masks->buf = given->masks;
    masks->len = given->bytes;
    return 1;
}

/* Memory of its own for each array: a sanitizer sees every step beyond its end. */
static uint64_t *read_words(size_t count)
{
    uint64_t *words = malloc(count * sizeof *words + 1);
    if (!words || fread(words, sizeof *words, count, stdin) != count)
        refuse("a problem that ends too early");
    return words;
}

int main(void)
{
    uint64_t sizes[8];
    find_usable_levels();
    while (fread(sizes, sizeof *sizes, 8, stdin) == 8) {
        const size_t words = sizes[0], stride = sizes[4], begin = sizes[5], end = sizes[6], rows = end - begin;
        uint64_t *masks = read_words(words), *query = read_words(words), *columns = read_words(words * stride);
        PyObject given = {(Py_ssize_t)sizes[1], (uint32_t)sizes[2], (uint32_t)sizes[3], masks, (Py_ssize_t)(8 * words)};
        Measure m;
        measure_of(&m, &given);
        for (size_t i = 0; i < level_count; i++) {
            if (!levels[i].usable)
                continue;
            uint16_t *all = malloc(2 * rows + 1), *offsets = malloc(2 * rows + 1), *near = malloc(2 * rows + 1);
            char name[16] = {0};
            strncpy(name, levels[i].name, sizeof name - 1);
            levels[i].distances(query, columns, stride, &m, begin, end, all);
            const uint64_t found =
                levels[i].select(query, columns, stride, &m, begin, end, (uint32_t)sizes[7], offsets, near);
            fwrite(name, 1, sizeof name, stdout);
            fwrite(all, 2, rows, stdout);
            fwrite(&found, sizeof found, 1, stdout);
            fwrite(offsets, 2, found, stdout);
            fwrite(near, 2, found, stdout);
            free(all);
            free(offsets);
            free(near);
        }
        fwrite("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 1, 16, stdout);
        free(masks);
        free(query);
        free(columns);
    }
    return 0;
}
