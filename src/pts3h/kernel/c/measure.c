/* How bits count, as Python says it. */

#include "kernel.h"

int measure_of(Measure *m, PyObject *given)
{
    Py_ssize_t largest;
    Py_buffer masks;
    if (!PyArg_ParseTuple(given, "nIIy*", &largest, &m->first, &m->second, &masks))
        return 0;
    m->largest = (size_t)largest;
    m->words = (size_t)masks.len / sizeof *m->mask;
    if (m->words < 1 || m->words > MOST_WORDS || largest < 1 || largest > MOST_DISTANCE || m->first > MOST_WEIGHT ||
        m->second > MOST_WEIGHT) {
        PyBuffer_Release(&masks);
        return refuse("such a measure: codes have 1 to 64 words, bits count up to 16, distances go up to 32767");
    }
    memcpy(m->mask, masks.buf, m->words * sizeof *m->mask);
    PyBuffer_Release(&masks);
    m->weighing = m->first == 1 && m->second == 1 ? PLAIN : m->first < 16 && m->second < 16 ? BY_BYTE : BY_BIT;
    m->reach = 0;
    for (size_t w = 0; w < m->words; w++) {
        m->reach += weigh_word(UINT64_MAX, m, w);
        m->plain_word[w] = (m->mask[w] == 0 && m->second == 1) || (m->mask[w] == UINT64_MAX && m->first == 1);
        m->byte_weights[w] = 0;
        for (int byte = 0; byte < 64; byte += 8) {
            const uint64_t bits = m->mask[w] >> byte & 255;
            m->byte_weights[w] |= (uint64_t)(bits ? m->first : m->second) << byte;
            if (bits && bits != 255 && m->weighing == BY_BYTE)
                m->weighing = BY_BIT;
        }
    }
    if (m->largest > m->reach)
        return refuse("a largest distance that no codes can have");
    return 1;
}
