// Distinct values in ascending order: one distribution pass by leading bits, then small sorts.
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

    // Sorts v[0..n) into out (room n) without repetitions; returns how many, or -1 when memory ends. v is not changed.
    int64_t distinct(const u64* v, size_t n, u64* out) {
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
            if (!ends.need(buckets)) return -1;
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
        size_t m = 0;
        for (size_t i = 0; i < n; ++i) {
            out[m] = out[i];
            m += i + 1 == n || out[i + 1] != out[i];
        }
        return static_cast<int64_t>(m);
    }
};

}  // namespace dejalu::DEJALU_ISA
