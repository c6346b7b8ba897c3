// Connected components by union-find in one array: path halving, the smaller place is the root.
#pragma once
#include <cstdint>
#include <utility>

namespace dejalu {

inline int64_t find_root(int64_t* parent, int64_t x) {
    while (parent[x] != x) x = parent[x] = parent[parent[x]];
    return x;
}

// parent (n,) becomes, for each place, the smallest place of its component.
inline void components(int64_t n, const int64_t* a, const int64_t* b, int64_t edges, int64_t* parent) {
    for (int64_t i = 0; i < n; ++i) parent[i] = i;
    for (int64_t e = 0; e < edges; ++e) {
        int64_t x = find_root(parent, a[e]), y = find_root(parent, b[e]);
        if (x > y) std::swap(x, y);
        parent[y] = x;
    }
    for (int64_t i = 0; i < n; ++i) parent[i] = parent[parent[i]];  // roots are smaller, so they are final already
}

}  // namespace dejalu
