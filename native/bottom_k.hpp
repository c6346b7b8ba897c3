// Bottom-k and FracMinHash sketches of texts: the smallest shingle hashes of each, by number or by value.
//
// Broder, "On the resemblance and containment of documents", SEQUENCES 1997 (MIN_s and MOD_m, theorem 1); Irber et
// al., bioRxiv 2022.01.11.475838 (FracMinHash). The shingle hash has been through an avalanche: its order is a random one,
// so no further hashing is needed.
//
// Nothing but the result is sorted: the number of distinct hashes is counted first, and says below which value k of them
// are to be expected.
#pragma once
#include "distinct.hpp"
#include "text_kernels.hpp"

namespace dejalu::DEJALU_ISA {

struct BottomK {
    DistinctCounter counter;
    SetSorter sorter;
    Buffer<u64> low;

    // Writes the sketch of the hashes h[0..n) to out (room for `room` values as below); distinct gets their number.
    // Returns the size of the sketch or -1 when memory ends.
    int64_t sketch(const u64* h, size_t n, size_t k, u64 highest, Buffer<u64>& out, size_t size, int64_t& distinct) {
        distinct = counter(h, n);
        if (distinct < 0 || !low.need(n + 8)) return -1;
        if (k == 0) return take(h, n, highest, n, out, size);
        const u64 d = static_cast<u64>(distinct);
        if (k >= d) return take(h, n, ~0ull, k, out, size);
        // Room for five standard errors and a little: a second look is hardly ever needed.
        for (u64 want = k + 5 * root(k) + 4;; want *= 2) {
            const bool all = want >= d;
            const int64_t m = take(h, n, all ? ~0ull : ~0ull / d * want, k, out, size);
            if (m < 0 || static_cast<u64>(m) == k || all) return m;
        }
    }

  private:
    static u64 root(u64 k) {
        u64 r = 1;
        while (r * r < k) ++r;
        return r;
    }

    // The distinct hashes up to `highest`, ascending, at most `most` of them.
    int64_t take(const u64* h, size_t n, u64 highest, size_t most, Buffer<u64>& out, size_t size) {
        const u64* chosen = h;
        size_t c = n;
        if (highest != ~0ull) {
            chosen = low.at;
            c = below(h, n, highest, low.at);
        }
        if (!out.need(size + c)) return -1;
        const int64_t m = c ? sorter.distinct(chosen, c, out.at + size) : 0;
        return m > static_cast<int64_t>(most) ? static_cast<int64_t>(most) : m;
    }

    // Packs the values up to `highest`; out has room for 8 values more than there are.
    static size_t below(const u64* h, size_t n, u64 highest, u64* out) {
        size_t c = 0, i = 0;
#if defined(DEJALU_AVX512)
        const __m512i top = _mm512_set1_epi64(static_cast<long long>(highest));
        for (; i + 8 <= n; i += 8) {
            const __m512i x = _mm512_loadu_si512(h + i);
            const __mmask8 fits = _mm512_cmple_epu64_mask(x, top);
            _mm512_storeu_si512(out + c, _mm512_maskz_compress_epi64(fits, x));
            c += count_bits(fits);
        }
#endif
        for (; i < n; ++i) {
            out[c] = h[i];
            c += h[i] <= highest;
        }
        return c;
    }
};

static bool bottom_k_texts(const TextIn& text, size_t k, u64 highest, int64_t* offsets, int64_t* sizes, u64** values) {
    Hasher hasher(text.unspaced, text.by_char);
    BottomK bottom;
    Buffer<u64> hashes, out;
    size_t size = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < text.n; ++i) {
        if (!hasher.document(at(text, i), bytes(text, i))) return false;
        const size_t units = hasher.unit_count(), n = shingle_count(units, text.shingle);
        if (!hashes.need(n)) return false;
        shingles(hasher.units(), n, units < text.shingle ? units : text.shingle, hashes.at);
        const int64_t m = bottom.sketch(hashes.at, n, k, highest, out, size, sizes[i]);
        if (m < 0) return false;
        size += static_cast<size_t>(m);
        offsets[i + 1] = static_cast<int64_t>(size);
    }
    *values = out.release();
    return true;
}

}  // namespace dejalu::DEJALU_ISA
