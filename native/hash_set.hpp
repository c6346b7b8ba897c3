// Distinct values in ascending order: an ordered hash table for sets of usual size; else one distribution pass by leading
// bits, then small sorts.
//
// Shingle hashes are random, so leading bits spread them evenly: most buckets hold one value or none. Values that occur
// often share a bucket; buckets over 24 values are first split by a three-way quicksort.
#pragma once
#include "isa.hpp"

namespace dejalu::DEJALU_ISA {

static inline void insertion_sort(u64* a, size_t n) {
    for (size_t i = 1; i < n; ++i) {
        const u64 x = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > x; --j) a[j] = a[j - 1];
        a[j] = x;
    }
}

static DEJALU_NOINLINE void three_way_sort(u64* a, size_t n, int depth) {
    while (n > 24) {
        const u64 x = a[n / 4], y = a[n / 2], z = a[n - 1 - n / 4];
        u64 p = x < y ? (y < z ? y : (x < z ? z : x)) : (x < z ? x : (y < z ? z : y));      // median of three
        if (depth > 40) p = a[static_cast<size_t>(depth * 0x9E3779B1u) % n];
        size_t low = 0, i = 0, high = n;
        while (i < high) {
            const u64 v = a[i];
            if (v < p) { a[i++] = a[low]; a[low++] = v; }
            else if (v > p) { a[i] = a[--high]; a[high] = v; }
            else ++i;
        }
        ++depth;
        if (low < n - high) { three_way_sort(a, low, depth); a += high; n -= high; }
        else { three_way_sort(a + high, n - high, depth); n = low; }
    }
    insertion_sort(a, n);
}

struct SetSorter {
    Buffer<u32> ends;
    Buffer<u64> table;
    static constexpr size_t PLACED = 1 << 14;            // the table stays in the L2 cache
    static constexpr size_t FAR = 64;                    // places between where a value belongs and where it ends up
    static constexpr int64_t CROWDED = -2;

    // Sorts v[0..n) into out (room n), which must not overlap. Returns false when memory ends.
    bool sort(const u64* v, size_t n, u64* out) {
        if (n <= 32) {
            std::memcpy(out, v, n * sizeof(u64));
            insertion_sort(out, n);
        } else if (n >> 32) {
            std::memcpy(out, v, n * sizeof(u64));
            three_way_sort(out, n, 0);
        } else {
            int bits = 6;                                // two to four buckets per value: few values share one, and
            while (bits < 16 && (n >> bits) > 0) ++bits; // the insertion sort below seldom has anything to guess
            bits += bits < 16;
            const size_t buckets = 1ull << bits;
            const int shift = 64 - bits;
            if (!ends.need(buckets)) return false;
            u32* const e = ends.at;
            std::memset(e, 0, buckets * sizeof(u32));
            for (size_t i = 0; i < n; ++i) ++e[v[i] >> shift];
            u32 sum = 0, most = 0;
            for (size_t b = 0; b < buckets; ++b) {
                const u32 c = e[b];
                e[b] = sum;
                sum += c;
                most = c > most ? c : most;
            }
            for (size_t i = 0; i < n; ++i) out[e[v[i] >> shift]++] = v[i];
            if (most > 24) {
                u32 from = 0;
                for (size_t b = 0; b < buckets; ++b) { three_way_sort(out + from, e[b] - from, 0); from = e[b]; }
            } else {
                insertion_sort(out, n);
            }
        }
        return true;
    }

    // The same without repetitions; returns how many, or -1 when memory ends.
    int64_t distinct(const u64* v, size_t n, u64* out) {
        if (n > 32 && n <= PLACED) {
            const int64_t m = place(v, n, out);
            if (m != CROWDED) return m;
        }
        if (!sort(v, n, out)) return -1;
        size_t m = 0;
        for (size_t i = 0; i < n; ++i) {
            out[m] = out[i];
            m += i + 1 == n || out[i + 1] != out[i];
        }
        return static_cast<int64_t>(m);
    }

  private:
    // Ordered hash table (Amble, Knuth, "Ordered hash tables", The Computer Journal 17, 1974): the leading bits of a value
    // say where it belongs, larger ones make way, and so the table is in order when it is full. CROWDED: values share
    // leading bits as random ones do not.
    int64_t place(const u64* v, size_t n, u64* out) {
        constexpr u64 FREE = ~0ull;                      // comes last as a value, too
        int bits = 6;                                    // four to eight places per value: few meet
        while ((n >> bits) > 0) ++bits;
        const size_t places = 4ull << bits, all = places + FAR + 8;
        const int shift = 62 - bits;
        if (!table.need(all)) return -1;
        u64* const t = table.at;
        std::memset(t, 0xFF, all * sizeof(u64));
        bool last = false;
        for (size_t i = 0; i < n; ++i) {
            u64 x = v[i];
            last |= x == FREE;
            u64* p = t + (x >> shift);
            if (*p == FREE) {                            // most are
                *p = x;
                continue;
            }
            u64* const end = p + FAR;
            while (true) {
                const u64 y = *p;
                *p = x < y ? x : y;
                if (x == y) break;
                x = x < y ? y : x;
                if (x == FREE) break;
                if (DEJALU_UNLIKELY(++p == end)) return CROWDED;
            }
        }
        size_t m = 0;
#if defined(DEJALU_AVX512)
        const __m512i free8 = _mm512_set1_epi64(-1);
        for (size_t i = 0; i < all; i += 8) {
            const __m512i x = _mm512_loadu_si512(t + i);
            const __mmask8 k = _mm512_cmpneq_epi64_mask(x, free8);
            _mm512_storeu_si512(t + m, _mm512_maskz_compress_epi64(k, x));      // never beyond what was read
            m += count_bits(k);
        }
#else
        for (size_t i = 0; i < all; ++i) {
            t[m] = t[i];
            m += t[i] != FREE;
        }
#endif
        std::memcpy(out, t, m * sizeof(u64));
        if (last) out[m++] = FREE;
        return static_cast<int64_t>(m);
    }
};

}  // namespace dejalu::DEJALU_ISA
