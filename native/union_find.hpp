// Union-find in one array of places, shared by threads without a lock (Anderson, Woll, "Wait-free parallel algorithms for
// the union-find problem", STOC 1991). The larger root is hooked under the smaller one, so that in the end the root of a
// component is its smallest place, whatever the order of the unions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace dejalu {

// Relaxed atomic access to plain memory: std::atomic_ref would say it, but not every standard library has it. Nothing but
// the entries themselves is passed between threads, and whoever reads the labels has waited for the threads.
#if defined(_MSC_VER) && !defined(__clang__)
inline uint32_t load(const uint32_t* p) {
    return static_cast<uint32_t>(__iso_volatile_load32(reinterpret_cast<const volatile int*>(p)));
}
inline void store(uint32_t* p, uint32_t value) {
    __iso_volatile_store32(reinterpret_cast<volatile int*>(p), static_cast<int>(value));
}
inline bool exchange(uint32_t* p, uint32_t expected, uint32_t value) {
    return _InterlockedCompareExchange(reinterpret_cast<volatile long*>(p), static_cast<long>(value), static_cast<long>(expected)) ==
           static_cast<long>(expected);
}
#else
inline uint32_t load(const uint32_t* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
inline void store(uint32_t* p, uint32_t value) { __atomic_store_n(p, value, __ATOMIC_RELAXED); }
inline bool exchange(uint32_t* p, uint32_t expected, uint32_t value) {
    return __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
#endif

// parent[x] <= x always; x is a root when parent[x] == x, and what is no root never becomes one again.
struct UnionFind {
    uint32_t* parent;
    size_t n;

    // Path halving needs no compare-and-swap: the grandparent stored is an ancestor, and an ancestor remains one.
    uint32_t root(uint32_t x) const {
        for (;;) {
            const uint32_t p = load(parent + x);
            if (p == x) return x;
            const uint32_t g = load(parent + p);
            if (g == p) return p;
            store(parent + x, g);
            x = g;
        }
    }
    bool same(uint32_t a, uint32_t b) const { return root(a) == root(b); }     // true stays true; false may be news of yesterday
    void unite(uint32_t a, uint32_t b) const {
        for (;;) {
            a = root(a), b = root(b);
            if (a == b) return;
            if (a < b) std::swap(a, b);
            if (exchange(parent + a, a, b)) return;                            // else another thread hooked a elsewhere
        }
    }
    // Every entry becomes the root of its component; parents are smaller, so they are final already.
    void flatten() const {
        for (size_t x = 0; x < n; ++x) parent[x] = parent[parent[x]];
    }
};

}  // namespace dejalu
