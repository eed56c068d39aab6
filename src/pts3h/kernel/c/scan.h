/* One scan, written once and compiled for each instruction set and for each way to weigh bits.
 *
 * levels.c includes this file with NAME, TARGET, LANES, vector, and the vector operations below defined. Codes lie in
 * columns: word w of row r is at columns[w * stride + r], so neighbouring rows fill a register and sums stay vertical.
 *
 *   vector vload(const uint64_t *)           LANES words
 *   vector vset(uint64_t)                    one word in every lane
 *   vector vcount(vector a, vector b)        bits in which a and b differ, per lane
 *   vector vadd(vector, vector)
 *   vector vand(vector, vector)
 *   vector vscale(vector, uint32_t)          every lane, below 2^16, times a number
 *   vector vweigh(vector a, vector b, const Measure *, size_t w)   as vcount, but bits count as they do in word w
 *   uint32_t vbelow(vector d, vector limit)  one bit per lane: d < limit
 *   void vstore(uint64_t *, vector)
 *   void vnarrow(uint16_t *, vector)         LANES distances as 16 bits each
 */

#define UNROLL 4
#define STEP (LANES * UNROLL)

/* What word w of the query and of LANES rows add to their distances. */
TARGET static ALWAYS_INLINE vector NAME(differ)(const uint64_t *query, const uint64_t *rows, size_t w,
                                                const Measure *m, Weighing weighing)
{
    const vector a = vset(query[w]), b = vload(rows);
    if (weighing == PLAIN)
        return vcount(a, b);
    if (weighing == BY_BYTE)
        return vweigh(a, b, m, w);
    const vector mask = vset(m->mask[w]), others = vset(~m->mask[w]);
    return vadd(vscale(vcount(vand(a, mask), vand(b, mask)), m->first),
                vscale(vcount(vand(a, others), vand(b, others)), m->second));
}

/* The distances of STEP rows. */
TARGET static ALWAYS_INLINE void NAME(measure)(vector *d, const uint64_t *query, const uint64_t *rows, size_t stride,
                                               const Measure *m, Weighing weighing)
{
    fetch_ahead(rows, STEP);
    for (int u = 0; u < UNROLL; u++)
        d[u] = NAME(differ)(query, rows + u * LANES, 0, m, weighing);
    for (size_t w = 1; w < m->words; w++) {
        const uint64_t *column = rows + w * stride;
        fetch_ahead(column, STEP);
        if (weighing != PLAIN && m->plain_word[w])
            for (int u = 0; u < UNROLL; u++)
                d[u] = vadd(d[u], NAME(differ)(query, column + u * LANES, w, m, PLAIN));
        else
            for (int u = 0; u < UNROLL; u++)
                d[u] = vadd(d[u], NAME(differ)(query, column + u * LANES, w, m, weighing));
    }
}

TARGET static ALWAYS_INLINE size_t NAME(select_by)(const uint64_t *query, const uint64_t *columns, size_t stride,
                                                   const Measure *m, Weighing weighing, size_t begin, size_t end,
                                                   uint32_t limit, uint16_t *offsets, uint16_t *distances)
{
    size_t found = 0, row = begin;
    const vector below = vset(limit);
    for (; row + STEP <= end; row += STEP) {
        vector d[UNROLL];
        NAME(measure)(d, query, columns + row, stride, m, weighing);
        uint32_t mask = 0;
        for (int u = 0; u < UNROLL; u++)
            mask |= vbelow(d[u], below) << (u * LANES);
        if (!mask)
            continue;
        uint64_t exact[STEP];
        for (int u = 0; u < UNROLL; u++)
            vstore(exact + u * LANES, d[u]);
        for (; mask; mask &= mask - 1) {
            const int lane = lowest_bit(mask);
            offsets[found] = (uint16_t)(row + lane - begin);
            distances[found++] = (uint16_t)exact[lane];
        }
    }
    for (; row < end; row++) {
        const uint32_t d = distance(query, columns + row, stride, m);
        if (d < limit) {
            offsets[found] = (uint16_t)(row - begin);
            distances[found++] = (uint16_t)d;
        }
    }
    return found;
}

TARGET static ALWAYS_INLINE void NAME(distances_by)(const uint64_t *query, const uint64_t *columns, size_t stride,
                                                    const Measure *m, Weighing weighing, size_t begin, size_t end,
                                                    uint16_t *out)
{
    size_t row = begin;
    for (; row + STEP <= end; row += STEP) {
        vector d[UNROLL];
        NAME(measure)(d, query, columns + row, stride, m, weighing);
        for (int u = 0; u < UNROLL; u++)
            vnarrow(out + (row - begin) + u * LANES, d[u]);
    }
    for (; row < end; row++)
        out[row - begin] = (uint16_t)distance(query, columns + row, stride, m);
}

/* Rows begin..end at distance < limit: their offsets from begin and distances, in row order. Returns how many. */
TARGET static size_t NAME(select)(const uint64_t *query, const uint64_t *columns, size_t stride, const Measure *m,
                                  size_t begin, size_t end, uint32_t limit, uint16_t *offsets, uint16_t *distances)
{
    switch (m->weighing) { /* a constant inside of each call, so that no row asks for it */
    case PLAIN: return NAME(select_by)(query, columns, stride, m, PLAIN, begin, end, limit, offsets, distances);
    case BY_BYTE: return NAME(select_by)(query, columns, stride, m, BY_BYTE, begin, end, limit, offsets, distances);
    default: return NAME(select_by)(query, columns, stride, m, BY_BIT, begin, end, limit, offsets, distances);
    }
}

/* The distance of every row begin..end. */
TARGET static void NAME(distances)(const uint64_t *query, const uint64_t *columns, size_t stride, const Measure *m,
                                   size_t begin, size_t end, uint16_t *out)
{
    switch (m->weighing) {
    case PLAIN: NAME(distances_by)(query, columns, stride, m, PLAIN, begin, end, out); break;
    case BY_BYTE: NAME(distances_by)(query, columns, stride, m, BY_BYTE, begin, end, out); break;
    default: NAME(distances_by)(query, columns, stride, m, BY_BIT, begin, end, out);
    }
}

#undef UNROLL
#undef STEP
#undef NAME
#undef TARGET
#undef LANES
#undef vector
#undef vload
#undef vset
#undef vcount
#undef vadd
#undef vand
#undef vscale
#undef vweigh
#undef vbelow
#undef vstore
#undef vnarrow
