// The general path of folding: a cluster of code points whose marks reorder, compose or vanish.
//
// fold(x) = NFC(map(NFD(x))), map = NFKC_Casefold of each code point (Unicode 3.13, toNFKC_Casefold of the NFD form).
// Marks are put in canonical order twice, before and after the mapping: U+0345 is a mark before it and a letter after.
#pragma once
#include "isa.hpp"
#include "unicode_table.hpp"

namespace dejalu::DEJALU_ISA {

static inline u32 fast_entry(u32 c) { return unicode::fast_blocks[unicode::fast_index[c >> 6] * 64u + (c & 63)]; }
static inline const unicode::Slow& slow_record(u32 c) { return unicode::slow_records[unicode::slow_blocks[unicode::slow_index[c >> 6] * 64u + (c & 63)]]; }

using namespace unicode;

constexpr u32 HANGUL = 0xAC00, HANGUL_L = 0x1100, HANGUL_V = 0x1161, HANGUL_T = 0x11A7;
static inline bool is_hangul(u32 c) { return c - HANGUL < 11172; }

// Primary composite of two code points, 0 if they have none.
static inline u32 composed(u32 a, u32 b) {
    if (a - HANGUL_L < 19 && b - HANGUL_V < 21) return HANGUL + ((a - HANGUL_L) * 21 + b - HANGUL_V) * 28;
    if (is_hangul(a) && (a - HANGUL) % 28 == 0 && b - HANGUL_T - 1 < 27) return a + b - HANGUL_T;
    const u64 key = static_cast<u64>(a) << 21 | b;
    for (u32 i = (a * 0x9E3779B1u + b * 0x85EBCA6Bu) >> 16;; ++i) {
        i &= 4095;
        if (compose_keys[i] == key) return compose_made[i];
        if (compose_keys[i] == 0) return 0;
    }
}

// A code point with its combining class in the top byte, so that it is looked up once.
static inline u32 with_class(u32 c) { return static_cast<u32>(slow_record(c).ccc) << 24 | c; }
constexpr u32 POINT = 0x1FFFFF;

struct Normalizer {
    Buffer<u32> input, first, second;      // `input` is filled by the caller
    size_t count = 0;

    bool push(u32 c) {
        if (!input.need(count + 1)) return false;
        input.at[count++] = c;
        return true;
    }

    // Folds input[0..count) into first[0..result); returns false when memory ends.
    bool fold(size_t& result) {
        if (!first.need(count * 4 + 8)) return false;             // a canonical decomposition has at most 4
        size_t n = 0;
        for (size_t i = 0; i < count; ++i) {
            const u32 c = input.at[i];
            if (is_hangul(c)) {
                const u32 s = c - HANGUL;
                first.at[n++] = HANGUL_L + s / 588;
                first.at[n++] = HANGUL_V + s % 588 / 28;
                if (s % 28) first.at[n++] = HANGUL_T + s % 28;
                continue;
            }
            const Slow& r = slow_record(c);
            if (!r.decomposed) first.at[n++] = static_cast<u32>(r.ccc) << 24 | c;
            for (u32 j = 0; j < r.decomposed; ++j) first.at[n++] = with_class(pool[r.decomposed_at + j]);
        }
        if (!order(first, second, n)) return false;
        size_t m = 0;
        for (size_t i = 0; i < n; ++i) {
            const u32 c = first.at[i] & POINT;
            const Slow& r = slow_record(c);
            if (r.mapped == 255) {
                if (!second.need(m + 1)) return false;
                second.at[m++] = first.at[i];
            } else {
                if (!second.need(m + r.mapped)) return false;
                for (u32 j = 0; j < r.mapped; ++j) second.at[m++] = with_class(pool[r.mapped_at + j]);
            }
        }
        if (!order(second, first, m) || !first.need(m)) return false;
        result = compose(second.at, m, first.at);
        return true;
    }

  private:
    // Stable sort by combining class between starters. Long runs of marks (an attack, not a language) are merged, so
    // that the cost stays n log n.
    static bool order(Buffer<u32>& text, Buffer<u32>& spare, size_t n) {
        for (size_t i = 0; i < n;) {
            if (text.at[i] >> 24 == 0) { ++i; continue; }
            size_t j = i + 1;
            bool sorted = true;
            for (; j < n && text.at[j] >> 24; ++j) sorted &= text.at[j - 1] >> 24 <= text.at[j] >> 24;
            if (!sorted && !merge_sort(text.at + i, spare, j - i)) return false;
            i = j;
        }
        return true;
    }

    static bool merge_sort(u32* a, Buffer<u32>& spare, size_t n) {
        constexpr size_t RUN = 16;
        for (size_t from = 0; from < n; from += RUN) {
            const size_t to = from + RUN < n ? from + RUN : n;
            for (size_t i = from + 1; i < to; ++i) {
                const u32 x = a[i];
                size_t j = i;
                for (; j > from && a[j - 1] >> 24 > x >> 24; --j) a[j] = a[j - 1];
                a[j] = x;
            }
        }
        if (n <= RUN) return true;
        if (!spare.need(n)) return false;
        for (size_t width = RUN; width < n; width *= 2) {
            for (size_t from = 0; from < n; from += 2 * width) {
                const size_t mid = from + width < n ? from + width : n, to = mid + width < n ? mid + width : n;
                size_t i = from, j = mid, k = from;
                while (i < mid && j < to) spare.at[k++] = a[j] >> 24 < a[i] >> 24 ? a[j++] : a[i++];
                while (i < mid) spare.at[k++] = a[i++];
                while (j < to) spare.at[k++] = a[j++];
            }
            std::memcpy(a, spare.at, n * sizeof(u32));
        }
        return true;
    }

    // Canonical composition (UAX #15, D117); classes are stripped on the way.
    static size_t compose(const u32* in, size_t n, u32* out) {
        size_t k = 0, starter = static_cast<size_t>(-1);
        u32 last = 0;
        for (size_t i = 0; i < n; ++i) {
            const u32 c = in[i] & POINT, ccc = in[i] >> 24;
            if (starter != static_cast<size_t>(-1) && (k - 1 == starter || last < ccc)) {
                if (const u32 both = composed(out[starter], c)) { out[starter] = both; continue; }
            }
            out[k++] = c;
            last = ccc;
            if (ccc == 0) starter = k - 1;
        }
        return k;
    }
};

}  // namespace dejalu::DEJALU_ISA
