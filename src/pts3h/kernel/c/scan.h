/* One scan, written once and compiled for each instruction set.
 *
 * levels.c includes this file with NAME, TARGET, LANES, vector, and the vector operations below defined. Codes lie in
 * columns: word w of row r is at columns[w * stride + r], so neighbouring rows fill a register and sums stay vertical.
 *
 *   vector vload(const uint64_t *)           LANES words
 *   vector vset(uint64_t)                    one word in every lane
 *   vector vcount(vector a, vector b)        bits in which a and b differ, per lane
 *   vector vadd(vector, vector)
 *   uint32_t vbelow(vector d, vector limit)  one bit per lane: d < limit
 *   void vstore(uint64_t *, vector)
 *   void vnarrow(uint16_t *, vector)         LANES distances as 16 bits each
 */

#define UNROLL 4
#define STEP (LANES * UNROLL)

/* Rows begin..end at distance < limit: their offsets from begin and distances, in row order. Returns how many. */
TARGET static size_t NAME(select)(const uint64_t *query, const uint64_t *columns, size_t stride, size_t words,
                                  size_t begin, size_t end, uint32_t limit, uint16_t *offsets, uint16_t *distances)
{
    size_t found = 0, row = begin;
    const vector below = vset(limit);
    const vector first = vset(query[0]);
    for (; row + STEP <= end; row += STEP) {
        vector d[UNROLL];
        fetch_ahead(columns + row, STEP);
        for (int u = 0; u < UNROLL; u++)
            d[u] = vcount(first, vload(columns + row + u * LANES));
        for (size_t w = 1; w < words; w++) {
            const vector word = vset(query[w]);
            const uint64_t *column = columns + w * stride + row;
            fetch_ahead(column, STEP);
            for (int u = 0; u < UNROLL; u++)
                d[u] = vadd(d[u], vcount(word, vload(column + u * LANES)));
        }
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
        const uint32_t d = distance(query, columns + row, stride, words);
        if (d < limit) {
            offsets[found] = (uint16_t)(row - begin);
            distances[found++] = (uint16_t)d;
        }
    }
    return found;
}

/* The distance of every row begin..end. */
TARGET static void NAME(distances)(const uint64_t *query, const uint64_t *columns, size_t stride, size_t words,
                                   size_t begin, size_t end, uint16_t *out)
{
    size_t row = begin;
    for (; row + STEP <= end; row += STEP) {
        for (int u = 0; u < UNROLL; u++) {
            vector d = vcount(vset(query[0]), vload(columns + row + u * LANES));
            for (size_t w = 1; w < words; w++)
                d = vadd(d, vcount(vset(query[w]), vload(columns + w * stride + row + u * LANES)));
            vnarrow(out + (row - begin) + u * LANES, d);
        }
    }
    for (; row < end; row++)
        out[row - begin] = (uint16_t)distance(query, columns + row, stride, words);
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
#undef vbelow
#undef vstore
#undef vnarrow
