/* Exact Hamming search over packed codes: the Python module. */

#include "kernel.h"

PyDoc_STRVAR(levels_doc, "levels() -> names of the instruction sets this processor can run, best first");

static PyObject *kernel_levels(PyObject *self, PyObject *none)
{
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && i < level_count; i++) {
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
    find_usable_levels();
    return PyModule_Create(&module);
}
