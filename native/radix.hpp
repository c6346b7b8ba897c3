// Rows (key, place) dealt to partitions by the leading bits of their keys, in scratch memory that is given and bounded.
//
// A partition is a chain of blocks, so that one sweep over the keys is enough: no counting before, no gaps after. When a
// partition outgrows its share, or no block is free, the caller's `compact` may shrink partitions (hot keys).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace dejalu {

// Asks for the cache line of an address that is needed soon; any address will do.
inline void fetch(const void* p) {
#if !defined(_MSC_VER) || defined(__clang__)
    __builtin_prefetch(p);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
#else
    static_cast<void>(p);
#endif
}

// A bijection that lets the leading bits depend on all bits: keys that differ only at the end must not share a partition.
inline uint64_t spread(uint64_t key) { return (key ^ key >> 32) * 0x9e3779b97f4a7c15ull; }

// Rows are 32-bit words: spread key (2 words), the second half of a 128-bit key (2 words, wide rows only), place (1 word).
template <bool Wide>
struct Row {
    static constexpr size_t words = Wide ? 5 : 3;
    static uint64_t key(const uint32_t* row) { return word64(row); }
    static uint64_t high(const uint32_t* row) {
        if constexpr (Wide) return word64(row + 2);
        else return 0;
    }
    static uint32_t place(const uint32_t* row) { return row[words - 1]; }
    static void write(uint32_t* row, uint64_t key, [[maybe_unused]] uint64_t high, uint32_t place) {
        std::memcpy(row, &key, 8);
        if constexpr (Wide) std::memcpy(row + 2, &high, 8);
        row[words - 1] = place;
    }

private:
    static uint64_t word64(const uint32_t* p) {
        uint64_t v;
        std::memcpy(&v, p, 8);
        return v;
    }
};

// Spread keys from `low` to `low + span`, cut into partitions of 2^shift keys each.
struct Range {
    uint64_t low, span;
    uint32_t shift;
    uint64_t within(uint64_t key) const {                        // the bits that tell keys of one partition apart, leading
        return shift == 0 ? 0 : (key - low) << (64 - shift);
    }
};

// A view of the arrays that hold the rows. All state is in them; rows of a partition are in the order of their arrival.
struct Partitions {
    static constexpr uint32_t none = 0xffffffffu;

    uint32_t* rows;         // (blocks, block, words)
    uint32_t blocks, block; // block is a power of two
    uint32_t* chain;        // (blocks + 2,): the block after each; the first free block; the number of free blocks
    uint32_t count;         // partitions
    uint32_t* at;           // (count,) each: row that is written next, always one of the last block of the chain
    uint32_t* head;         // first block
    uint32_t* held;         // blocks in the chain
    uint32_t* share;        // number of blocks at which the partition is compacted

    uint32_t& first_free() const { return chain[blocks]; }
    uint32_t& free_blocks() const { return chain[blocks + 1]; }
    size_t size(uint32_t p) const { return static_cast<size_t>(held[p] - 1) * block + (at[p] & (block - 1)); }

    uint32_t checked(uint32_t b) const {
        if (b >= blocks) throw std::invalid_argument("chain: names no block; the scratch arrays do not belong together");
        return b;
    }
    uint32_t after(uint32_t b) const { return checked(chain[b]); }

    // Calls f(row) for the first m rows of a partition.
    template <size_t Words, class F>
    void each(uint32_t p, size_t m, F f) const {
        for (uint32_t b = checked(head[p]); m != 0;) {
            const size_t here = std::min<size_t>(m, block);
            const uint32_t* row = rows + static_cast<size_t>(b) * block * Words;
            const uint32_t next = m > block ? after(b) : b;
            const ptrdiff_t ahead = (static_cast<ptrdiff_t>(next) - static_cast<ptrdiff_t>(b)) * static_cast<ptrdiff_t>(block * Words);
            for (size_t i = 0; i < here; ++i, row += Words) {
                fetch(row + ahead);
                f(row);
            }
            b = next;
            m -= here;
        }
    }

    // A partition's last block is full: adds a free one. False when there is none.
    bool append(uint32_t p) const {
        if (free_blocks() == 0) return false;
        const uint32_t last = (at[p] - 1) / block, fresh = checked(first_free());
        first_free() = chain[fresh];
        --free_blocks();
        chain[last] = fresh;
        chain[fresh] = none;
        ++held[p];
        at[p] = fresh * block;
        return true;
    }
    // Lets the chain end after m rows, fewer than it has room for; blocks beyond become free.
    void cut(uint32_t p, size_t m) const {
        const uint32_t need = static_cast<uint32_t>(m / block) + 1;
        uint32_t last = checked(head[p]);
        for (uint32_t i = 1; i < need; ++i) last = after(last);
        for (uint32_t b = chain[last]; held[p] > need; --held[p]) {
            const uint32_t next = chain[checked(b)];
            chain[b] = first_free();
            first_free() = b;
            ++free_blocks();
            b = next;
        }
        chain[last] = none;
        at[p] = last * block + static_cast<uint32_t>(m & (block - 1));
    }
};

// A partition's last block is full: find room for the next row. compact(p, m) drops rows of the m in partition p that are
// no longer needed and returns how many are left. False when this range does not fit: the caller cuts it.
template <class Compact>
bool make_room(const Partitions& parts, uint32_t p, uint32_t shift, Compact& compact) {
    const auto shrink = [&](uint32_t q, size_t m) {
        const size_t left = compact(q, m);
        if (left < m) parts.cut(q, left);
        return left < m;
    };
    const size_t full = static_cast<size_t>(parts.held[p]) * parts.block;
    if (parts.held[p] >= parts.share[p]) {
        const bool shrunk = shrink(p, full);
        parts.share[p] = std::max(parts.share[p], 2 * parts.held[p]);          // so compacting costs each row a constant
        // One partition with much of the memory is grouped with as much again: cut finer, unless it is a single key.
        if (shift != 0 && parts.held[p] > parts.blocks / 8) return false;
        if (shrunk) return true;
    }
    if (parts.append(p)) return true;
    const bool shrunk = shrink(p, full);
    for (uint32_t q = 0; q < parts.count; ++q)
        if (q != p && parts.held[q] > 1) shrink(q, parts.size(q));
    return parts.free_blocks() > parts.blocks / 16 && (shrunk || parts.append(p));
}

// Deals one piece of keys, whose places are first, first + 1, …, to the partitions. high is null for narrow rows; skip may
// be null. False as for make_room.
template <bool Wide, class Compact>
bool scatter(const uint64_t* key, const uint64_t* high, size_t n, uint32_t first, const uint8_t* skip, const Range& range,
             const Partitions& parts, Compact& compact) {
    const uint32_t mask = parts.block - 1;
    uint32_t* const at = parts.at;
    const auto spread_key = [=](size_t i) { return Wide ? spread(key[i] ^ spread(high[i])) : spread(key[i]); };
    const auto deal = [&](uint64_t h, size_t i) {
        const uint32_t p = static_cast<uint32_t>((h - range.low) >> range.shift), row = at[p];
        uint32_t* const target = parts.rows + static_cast<size_t>(row) * Row<Wide>::words;
        fetch(target + 16);                                      // the chain's next cache line: stores wait for lines in order
        Row<Wide>::write(target, h, Wide ? high[i] : 0, first + static_cast<uint32_t>(i));
        at[p] = row + 1;
        return ((row + 1) & mask) != 0 || make_room(parts, p, range.shift, compact);
    };
    if (!skip && range.low == 0 && range.span == ~uint64_t{0}) {
        for (size_t i = 0; i < n; ++i)
            if (!deal(spread_key(i), i)) return false;
        return true;
    }
    // What is wanted is picked out first, without a branch: which key is wanted cannot be predicted.
    constexpr size_t batch = 256;
    uint64_t wanted[batch + 1];
    uint16_t which[batch + 1];
    for (size_t from = 0; from < n; from += batch) {
        const size_t here = std::min(batch, n - from);
        size_t k = 0;
        for (size_t i = 0; i < here; ++i) {
            const uint64_t h = spread_key(from + i);
            wanted[k] = h;
            which[k] = static_cast<uint16_t>(i);
            k += static_cast<size_t>((h - range.low <= range.span) & !(skip && skip[from + i]));
        }
        for (size_t j = 0; j < k; ++j)
            if (!deal(wanted[j], from + which[j])) return false;
    }
    return true;
}

}  // namespace dejalu
