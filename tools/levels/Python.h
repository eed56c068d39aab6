/* As much of Python as levels.c and measure.c name, so that they can be compiled for a processor without a Python. */

#ifndef PTS3H_STAND_IN_PYTHON_H
#define PTS3H_STAND_IN_PYTHON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PY_SSIZE_T_MAX ((Py_ssize_t)(SIZE_MAX >> 1))

typedef ssize_t Py_ssize_t;

typedef struct { /* the only object there is: what Python says of a measure */
    Py_ssize_t largest;
    uint32_t first, second;
    void *masks;
    Py_ssize_t bytes;
} PyObject;

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
} Py_buffer;

extern PyObject *PyExc_ValueError;
void PyErr_Format(PyObject *kind, const char *text, ...);
void PyBuffer_Release(Py_buffer *buffer);
int PyArg_ParseTuple(PyObject *given, const char *format, Py_ssize_t *largest, uint32_t *first, uint32_t *second,
                     Py_buffer *masks);

#endif
