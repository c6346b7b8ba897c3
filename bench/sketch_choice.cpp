// The measurements of docs/decisions/0001-sketch.md: error, agreement of bands and cost of four sketches of 128 slots.
//
//     g++ -std=c++20 -O3 -march=native -I native bench/sketch_choice.cpp -o /tmp/sketch_choice && /tmp/sketch_choice
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "sketch.hpp"

using namespace dejalu::DEJALU_ISA;

constexpr int K = 128;
static u64 state;
static u64 random64() { return avalanche((state += GOLDEN) ^ 0x1234567); }

// k independent 64-bit hashes: MinHash as the theory has it.
static void minhash_ideal(const u64* h, size_t n, u32* out) {
    for (int j = 0; j < K; ++j) {
        const u64 salt = avalanche(static_cast<u64>(j) + 77);
        u64 best = EMPTY;
        for (size_t e = 0; e < n; ++e) best = std::min(best, avalanche(h[e] ^ salt));
        out[j] = static_cast<u32>(best);
    }
}

// MinHash as fast as we can make it: (x xor c) * a in 32 bits, 64 slots in registers.
static void minhash_fast(const u64* h, size_t n, u32* out) {
    static std::vector<u32> a, c, x;
    if (a.empty())
        for (int j = 0; j < K; ++j) { a.push_back(static_cast<u32>(random64()) | 1); c.push_back(static_cast<u32>(random64())); }
    x.resize(n);
    for (size_t e = 0; e < n; ++e) x[e] = static_cast<u32>(h[e] >> 32);
    for (int j = 0; j < K; j += 64) {
        u32 best[64];
        for (u32& b : best) b = ~0u;
        for (size_t e = 0; e < n; ++e)
            for (int t = 0; t < 64; ++t) best[t] = std::min(best[t], (x[e] ^ c[j + t]) * a[j + t]);
        for (int t = 0; t < 64; ++t) out[j + t] = avalanche32(best[t]);
    }
}

// The paper's algorithm: k scatter rounds, then k direct ones.
static void paper(const u64* h, size_t n, u32* out) {
    u64 best[K];
    bool full[K] = {}, before[K];
    int filled = 0;
    std::fill(best, best + K, EMPTY);
    for (int i = 0; i < 2 * K && filled < K; ++i) {
        std::copy(full, full + K, before);
        for (size_t e = 0; e < n; ++e) {
            const u64 g = i ? avalanche(h[e] + static_cast<u64>(i) * GOLDEN) : h[e];
            const int s = i < K ? static_cast<int>((g >> 32) * K >> 32) : i - K;
            if (before[s]) continue;
            filled += !full[s];
            full[s] = true;
            best[s] = std::min(best[s], g);
        }
    }
    for (int j = 0; j < K; ++j) out[j] = static_cast<u32>(best[j]);
}

static Sketcher sketcher;
static void ours(const u64* h, size_t n, u32* out) {
    sketcher.begin();
    sketcher.scatter(h, n);
    sketcher.finish(h, n, out);
}

int main() {
    sketcher.prepare(K);
    struct { const char* name; void (*run)(const u64*, size_t, u32*); } methods[] = {
        {"minhash ideal", minhash_ideal}, {"minhash fast", minhash_fast}, {"fss paper", paper}, {"fss ours", ours}};
    struct { double j; int bands, rows; } cases[] = {{.5, 42, 3}, {.7, 32, 4}, {.8, 21, 6}, {.9, 14, 9}};
    for (const int n : {2, 5, 10, 20, 50, 100, 200, 400, 800, 2000})
        for (const auto& c : cases) {
            const int shared = static_cast<int>(std::ceil(c.j * n - 1e-9));
            if (shared >= n) continue;
            const double j = static_cast<double>(shared) / n, band = std::pow(j, c.rows);
            const int trials = std::max(1000, std::min(100'000, 4'000'000 / n));
            for (const auto& m : methods) {
                if (m.run == minhash_ideal && n > 100) continue;
                state = static_cast<u64>(n) * 1000 + static_cast<u64>(shared);
                double sum = 0, squares = 0;
                long agree = 0, missed = 0;
                std::vector<u64> a, b;
                u32 x[K], y[K];
                for (int t = 0; t < trials; ++t) {
                    a.clear();
                    b.clear();
                    for (int i = 0; i < n; ++i) {
                        const u64 h = random64();
                        if (i < shared || (i - shared) % 2) a.push_back(h);
                        if (i < shared || (i - shared) % 2 == 0) b.push_back(h);
                    }
                    m.run(a.data(), a.size(), x);
                    m.run(b.data(), b.size(), y);
                    int equal = 0;
                    for (int s = 0; s < K; ++s) equal += x[s] == y[s];
                    sum += static_cast<double>(equal) / K;
                    squares += static_cast<double>(equal) * equal / K / K;
                    bool any = false;
                    for (int q = 0; q < c.bands; ++q) {
                        const bool same = std::equal(x + q * c.rows, x + (q + 1) * c.rows, y + q * c.rows);
                        agree += same;
                        any |= same;
                    }
                    missed += !any;
                }
                const double mean = sum / trials, sd = std::sqrt(std::max(0.0, squares / trials - mean * mean));
                std::printf("union %4d J %.3f %-13s bias %+.4f sd %.4f (MinHash theory %.4f)  band %.4f (J^%d %.4f)  missed by all %d bands %.5f (theory %.5f)\n",
                            n, j, m.name, mean - j, sd, std::sqrt(j * (1 - j) / K), static_cast<double>(agree) / trials / c.bands,
                            c.rows, band, c.bands, static_cast<double>(missed) / trials, std::pow(1 - band, c.bands));
            }
        }
    for (const int n : {5, 30, 100, 200, 400, 800, 2000, 10000}) {
        std::vector<u64> h(static_cast<size_t>(n));
        for (u64& v : h) v = random64();
        u32 x[K];
        for (const auto& m : methods) {
            if (m.run == minhash_ideal) continue;
            double best = 1e9;
            for (int r = 0; r < 9; ++r) {
                const int times = std::max(1, 200'000 / n);
                const auto t0 = std::chrono::steady_clock::now();
                for (int i = 0; i < times; ++i) { h[0] ^= static_cast<u64>(i); m.run(h.data(), h.size(), x); }
                best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count() / times);
            }
            std::printf("%5d shingles %-13s %8.0f ns a text, %6.2f ns a shingle\n", n, m.name, best * 1e9, best * 1e9 / n);
        }
    }
}
