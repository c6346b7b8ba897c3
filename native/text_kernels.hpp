// The text kernels over many documents: what the table of an instruction set offers. Plain pointers and sizes only.
#pragma once
#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include "third_party/xxhash/xxhash.h"

#include <new>

#include "bbit.hpp"
#include "hash_set.hpp"
#include "isa_table.hpp"
#include "shingle.hpp"
#include "sketch.hpp"
#include "tokenize.hpp"

namespace dejalu::DEJALU_ISA {

static inline void xxh128(const void* p, size_t n, u64* high_low) {
    const XXH128_hash_t h = XXH3_128bits(p, n);
    high_low[0] = h.high64;
    high_low[1] = h.low64;
}

constexpr size_t LONG_TOKEN = 1000;                      // code points

static inline size_t code_points(const u8* p, size_t n) {
    size_t c = 0;
    for (size_t i = 0; i < n; ++i) c += (p[i] & 0xC0) != 0x80;
    return c;
}

// Hashes of the tokens (and with `by_char` of the code points) of one document at a time.
struct Hasher {
    Tokenizer tokenizer;
    Buffer<u64> tokens, chars;
    size_t count = 0, char_count = 0;
    u32 long_tokens = 0;
    const bool by_char;

    Hasher(bool unspaced, bool chars_too) : tokenizer(unspaced), by_char(chars_too) {}

    // Returns false when memory ends.
    bool document(const u8* p, size_t n) {
        const u8* const end = p + n;
        tokenizer.begin();
        count = char_count = 0;
        long_tokens = 0;
        while (p < end) {
            p = tokenizer.piece(p, end);
            if (tokenizer.failed) return false;
            if (p >= end) break;
            if (!take()) return false;
            tokenizer.carry_over();
        }
        tokenizer.close();
        return take();
    }

    // What shingles are made of: token hashes, or code point hashes.
    const u64* units() const { return by_char ? chars.at : tokens.at; }
    size_t unit_count() const { return by_char ? char_count : count; }

  private:
    bool take() {
        const size_t n = tokenizer.closed();
        if (!tokens.need(count + n)) return false;
        const u8* const text = tokenizer.text.at;
        const u32* const borders = tokenizer.borders.at;
        u64* const out = tokens.at + count;
        u32 longest = 0;
        for (size_t i = 0; i < n; ++i) {
            const u32 from = borders[2 * i], length = borders[2 * i + 1] - from;
            longest = length > longest ? length : longest;
            out[i] = token_hash(text + from, length);
        }
        count += n;
        if (longest > LONG_TOKEN)
            for (size_t i = 0; i < n; ++i) {
                const u32 from = borders[2 * i], length = borders[2 * i + 1] - from;
                if (length > LONG_TOKEN) long_tokens += code_points(text + from, length) > LONG_TOKEN;
            }
        return !by_char || take_chars(n);
    }

    bool take_chars(size_t n) {
        const u8* const text = tokenizer.text.at;
        const u32* const borders = tokenizer.borders.at;
        for (size_t i = 0; i < n; ++i) {
            const u8* p = text + borders[2 * i];
            const u8* const end = text + borders[2 * i + 1];
            if (!chars.need(char_count + static_cast<size_t>(end - p))) return false;
            while (p < end) {
                const u32 length = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
                chars.at[char_count++] = token_hash(p, length);
                p += length;
            }
        }
        return true;
    }
};

static const u8* at(const TextIn& t, int64_t i) { return t.starts ? t.starts[i] : t.data + t.offsets[i]; }
static size_t bytes(const TextIn& t, int64_t i) {
    return static_cast<size_t>(t.starts ? t.sizes[i] : t.offsets[i + 1] - t.offsets[i]);
}

static bool sketch_texts(const TextIn& text, const SketchOut& out) {
    Hasher hasher(text.unspaced, text.by_char);
    Sketcher sketcher;
    Buffer<u64> hashes;
    const size_t k = out.slots, w = text.shingle;
    if (k && !sketcher.prepare(k)) return false;
    int64_t held = 0;                                    // documents whose signatures are held
    for (int64_t i = 0; i < text.n; ++i) {
        if (out.full && held == out.step) {
            out.full(out.self, i - held, held);
            held = 0;
        }
        u32* const signature = out.signatures + static_cast<size_t>(out.full ? held : i) * k;
        ++held;
        if (!hasher.document(at(text, i), bytes(text, i))) return false;
        out.tokens[i] = static_cast<int64_t>(hasher.count);
        out.long_tokens[i] = hasher.long_tokens;
        out.flags[i] = hasher.tokenizer.damaged;
        out.token_hash[2 * i] = out.token_hash[2 * i + 1] = 0;
        if (hasher.count) xxh128(hasher.tokens.at, hasher.count * sizeof(u64), out.token_hash + 2 * i);
        if (!k) continue;
        const size_t units = hasher.unit_count(), n = shingle_count(units, w);
        if (!n) {
            std::memset(signature, 0xFF, k * sizeof(u32));
            continue;
        }
        if (!hashes.need(n)) return false;
        const size_t width = units < w ? units : w;
        constexpr size_t STEP = 512;                     // shingle hashes are scattered while they are in the L1 cache
        sketcher.begin();
        for (size_t from = 0; from < n; from += STEP) {
            const size_t m = n - from < STEP ? n - from : STEP;
            shingles(hasher.units() + from, m, width, hashes.at + from);
            sketcher.scatter(hashes.at + from, m);
        }
        if (!sketcher.finish(hashes.at, n, signature)) return false;
    }
    if (out.full && held) out.full(out.self, text.n - held, held);
    return true;
}

struct SetMaker {
    Hasher hasher;
    SetSorter sorter;
    Buffer<u64> hashes, out;

    SetMaker(bool unspaced, bool by_char) : hasher(unspaced, by_char) {}

    bool sets(const TextIn& text, int64_t* offsets) {
        size_t size = 0;
        offsets[0] = 0;
        for (int64_t i = 0; i < text.n; ++i) {
            if (!hasher.document(at(text, i), bytes(text, i))) return false;
            const size_t units = hasher.unit_count(), n = shingle_count(units, text.shingle);
            if (!hashes.need(n) || !out.need(size + n)) return false;
            shingles(hasher.units(), n, units < text.shingle ? units : text.shingle, hashes.at);
            const int64_t m = n ? sorter.distinct(hashes.at, n, out.at + size) : 0;
            if (m < 0) return false;
            size += static_cast<size_t>(m);
            offsets[i + 1] = static_cast<int64_t>(size);
        }
        return true;
    }
};

static void free_set_maker(void* maker) { delete static_cast<SetMaker*>(maker); }

// values: distinct shingle hashes, document after document. They are the caller's to free, or, with `scratch`, stay there
// until it is used again.
static bool shingle_sets(const TextIn& text, int64_t* offsets, u64** values, SetScratch* scratch) {
    if (!scratch) {
        SetMaker maker(text.unspaced, text.by_char);
        if (!maker.sets(text, offsets)) return false;
        *values = maker.out.release();
        return true;
    }
    if (!scratch->state) {
        scratch->state = new (std::nothrow) SetMaker(text.unspaced, text.by_char);
        scratch->free = &free_set_maker;
    }
    SetMaker* const maker = static_cast<SetMaker*>(scratch->state);
    if (!maker || !maker->sets(text, offsets)) return false;
    *values = maker->out.at;
    return true;
}

// Folded tokens one after another (document borders: doc_offsets, in tokens), or, without token_offsets, the folded text
// (document borders: doc_offsets, in bytes). The caller frees data and token_offsets.
static bool folded_texts(const TextIn& text, int64_t* doc_offsets, u8** data, int64_t** token_offsets) {
    Tokenizer tokenizer(text.unspaced);
    Buffer<u8> out;
    Buffer<int64_t> borders;
    size_t size = 0, count = 0;
    const bool whole = !token_offsets;
    doc_offsets[0] = 0;
    if (!borders.need(1) || !out.need(1)) return false;
    borders.at[0] = 0;
    for (int64_t i = 0; i < text.n; ++i) {
        const u8* p = at(text, i);
        const u8* const end = p + bytes(text, i);
        tokenizer.begin();
        for (bool last = p >= end; !last;) {
            const size_t carried = whole ? tokenizer.size : 0;
            p = tokenizer.piece(p, end);
            if (tokenizer.failed) return false;
            last = p >= end;
            if (last) tokenizer.close();
            const size_t n = tokenizer.closed();
            if (!out.need(size + tokenizer.size) || !borders.need(count + n + 1)) return false;
            if (whole) {
                std::memcpy(out.at + size, tokenizer.text.at + carried, tokenizer.size - carried);
                size += tokenizer.size - carried;
            } else {
                for (size_t j = 0; j < n; ++j) {
                    const u32 from = tokenizer.borders.at[2 * j], length = tokenizer.borders.at[2 * j + 1] - from;
                    std::memcpy(out.at + size, tokenizer.text.at + from, length);
                    size += length;
                    borders.at[++count] = static_cast<int64_t>(size);
                }
            }
            if (!last) tokenizer.carry_over();
        }
        doc_offsets[i + 1] = static_cast<int64_t>(whole ? size : count);
    }
    *data = out.release();
    if (!whole) *token_offsets = borders.release();
    return true;
}

static void bytes_hashes(const TextIn& text, u64* out) {
    for (int64_t i = 0; i < text.n; ++i) xxh128(at(text, i), bytes(text, i), out + 2 * i);
}

static void pack_rows(const u32* signatures, int64_t n, size_t slots, u32 bits, u8* out) {
    const size_t width = (slots * bits + 7) / 8;
    for (int64_t i = 0; i < n; ++i) pack_row(signatures + static_cast<size_t>(i) * slots, slots, bits, out + static_cast<size_t>(i) * width);
}

static void equal_rows(const u8* a, const u8* b, int64_t n, size_t slots, u32 bits, u32* out) {
    const size_t width = (slots * bits + 7) / 8;
    for (int64_t i = 0; i < n; ++i)
        out[i] = equal_slots(a + static_cast<size_t>(i) * width, b + static_cast<size_t>(i) * width, slots, bits);
}

}  // namespace dejalu::DEJALU_ISA
