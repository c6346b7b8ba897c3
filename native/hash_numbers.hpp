// Hashes told apart and numbered: a table from hashes to numbers, a map of cells that says which hashes may repeat, and memory
// that is not cleared.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "radix.hpp"

namespace dejalu {

struct FreeMemory {
    void operator()(void* p) const { std::free(p); }
};
template <class T>
using Held = std::unique_ptr<T[], FreeMemory>;                  // not cleared
template <class T>
Held<T> hold(size_t n) {
    void* p = std::malloc(std::max<size_t>(n, 1) * sizeof(T));
    if (!p) throw std::bad_alloc();
    return Held<T>(static_cast<T*>(p));
}
template <class T>
void shrink(Held<T>& h, size_t n) {
    if (void* p = std::realloc(h.get(), std::max<size_t>(n, 1) * sizeof(T))) {
        static_cast<void>(h.release());
        h.reset(static_cast<T*>(p));
    }
}

// An open-addressed table from hashes to numbers; 0 marks a free slot. Both lie together: a look-up is one cache line.
class HashNumbers {
  public:
    explicit HashNumbers(size_t expected) {
        while ((size_t{1} << bits_) < 2 * expected) ++bits_;
        slots_.resize(size_t{1} << bits_);
    }

    // `spread_hash`: the hash after spread(), shifted left past the bits that all hashes of this table share.
    void ask(uint64_t spread_hash) const { fetch(slots_.data() + home(spread_hash)); }
    uint32_t find(uint64_t hash, uint64_t spread_hash) const { return slots_[slot(hash, spread_hash)].number; }
    void insert(uint64_t hash, uint64_t spread_hash, uint32_t number) { slots_[slot(hash, spread_hash)].set(hash, number); }
    // Counts one more of this hash; false when the table is full by half.
    bool count(uint64_t hash, uint64_t spread_hash) {
        Slot& s = slots_[slot(hash, spread_hash)];
        if (s.number == 0) {
            if (2 * (used_ + 1) > slots_.size()) return false;
            ++used_;
            s.set(hash, 0);
        }
        ++s.number;
        return true;
    }
    template <class F>
    void each(F f) const {
        for (const Slot& s : slots_)
            if (s.number != 0) f(s.key(), s.number);
    }

  private:
    struct Slot {                   // 12 bytes
        uint32_t low, high, number;
        uint64_t key() const { return uint64_t{high} << 32 | low; }
        void set(uint64_t k, uint32_t n) { low = static_cast<uint32_t>(k), high = static_cast<uint32_t>(k >> 32), number = n; }
    };
    size_t home(uint64_t spread_hash) const { return static_cast<size_t>(spread_hash >> (64 - bits_)); }
    size_t slot(uint64_t hash, uint64_t spread_hash) const {
        size_t s = home(spread_hash);
        while (slots_[s].number != 0 && slots_[s].key() != hash) s = (s + 1) & (slots_.size() - 1);
        return s;
    }
    int bits_ = 4;
    size_t used_ = 0;
    std::vector<Slot> slots_;
};

// One bit per cell of spread hashes; cells are the leading bits.
class CellMap {
  public:
    explicit CellMap(int bits) : down_(64 - bits), words_((size_t{1} << bits) / 64) {}
    static int bits_for(size_t cells) {
        int bits = 6;
        while (bits < 40 && (size_t{1} << bits) < cells) ++bits;
        return bits;
    }
    bool has(uint64_t spread_hash) const { return words_[spread_hash >> down_ >> 6] >> (spread_hash >> down_ & 63) & 1; }
    void ask(uint64_t spread_hash) const { fetch(words_.data() + (spread_hash >> down_ >> 6)); }
    // Sets the cell; whether it was set.
    bool add(uint64_t spread_hash) {
        uint64_t& word = words_[spread_hash >> down_ >> 6];
        const uint64_t bit = uint64_t{1} << (spread_hash >> down_ & 63);
        const bool was = (word & bit) != 0;
        word |= bit;
        return was;
    }
    size_t count() const {
        size_t n = 0;
        for (uint64_t w : words_)
            for (; w != 0; w &= w - 1) ++n;
        return n;
    }

  private:
    int down_;
    std::vector<uint64_t> words_;
};

}  // namespace dejalu
