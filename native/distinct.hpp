// Distinct values of one text, without sorting them: how many there are, and each once in order of first appearance.
#pragma once
#include "hash_set.hpp"

namespace dejalu::DEJALU_ISA {

// Counts distinct random values. A byte map of 8 to 16 places per value tells which values may occur twice: those whose
// place was taken before; only the values of such places are sorted.
struct DistinctCounter {
    static constexpr size_t MOST = 1 << 13;                              // above, the map leaves the cache: all are sorted
    Buffer<u8> map, again;
    Buffer<u64> twice, sorted;
    SetSorter sorter;

    // Returns how many of v[0..n) are distinct, or -1 when memory ends.
    int64_t operator()(const u64* v, size_t n) {
        if (n < 2) return static_cast<int64_t>(n);
        if (!sorted.need(n)) return -1;
        if (n > MOST || n <= 16) return sorter.distinct(v, n, sorted.at);
        int bits = 7;
        while ((8 * n) >> bits) ++bits;
        const size_t places = size_t{1} << bits;
        if (!map.need(places) || !again.need(places) || !twice.need(n + 1)) return -1;
        const int shift = 64 - bits;
        u8* const m = map.at;
        std::memset(m, 0, places);
        size_t c = 0;
        for (size_t i = 0; i < n; ++i) {
            u8* const at = m + (v[i] >> shift);
            twice.at[c] = v[i];
            c += *at;
            *at = 1;
        }
        if (c == 0) return static_cast<int64_t>(n);
        u8* const a = again.at;
        std::memset(a, 0, places);
        for (size_t i = 0; i < c; ++i) a[twice.at[i] >> shift] = 1;
        size_t k = 0;
        for (size_t i = 0; i < n; ++i) {
            twice.at[k] = v[i];
            k += a[v[i] >> shift];
        }
        const int64_t d = sorter.distinct(twice.at, k, sorted.at);
        return d < 0 ? d : static_cast<int64_t>(n - k) + d;
    }
};

// Keeps each value once, in order of first appearance; the value 0, which a hash table of them could not hold, is dropped.
struct FirstSeen {
    Buffer<u64> table;

    // Writes the distinct values of v[0..n) to out (room n) and returns how many, or -1 when memory ends.
    int64_t operator()(const u64* v, size_t n, u64* out) {
        int bits = 4;
        while ((2 * n) >> bits) ++bits;
        const size_t places = size_t{1} << bits;
        if (!table.need(places)) return -1;
        u64* const t = table.at;
        std::memset(t, 0, places * sizeof(u64));
        size_t c = 0;
        for (size_t i = 0; i < n; ++i) {
            const u64 x = v[i];
            size_t s = x >> (64 - bits);
            while (t[s] != 0 && t[s] != x) s = (s + 1) & (places - 1);
            out[c] = x;
            c += static_cast<size_t>((t[s] == 0) & (x != 0));
            t[s] = x;
        }
        return static_cast<int64_t>(c);
    }
};

}  // namespace dejalu::DEJALU_ISA
