// Folding and tokens in one pass: raw UTF-8 in; folded UTF-8 and the borders of its tokens out.
//
// Tokens: runs of letters, marks, numbers and '_'; in scripts written without spaces each letter or number with its
// marks; each pictograph. ASCII goes 64 bytes at a time through bit masks. Everything else is looked up one code point at
// a time and emitted at once when the table says that its neighbours cannot change it; only clusters (a base with marks
// or ignorable code points) take the general path of normalize.hpp, and of those only the ones out of order.
//
// A text is worked through in pieces that stay in the L1 cache. `borders` holds start, end, start, end, ... of tokens;
// an odd number of borders means that a token is open. `joins`: a mark now would belong to the last token.
#pragma once
#include "ascii_block.hpp"
#include "isa.hpp"
#include "normalize.hpp"
#include "utf8.hpp"

namespace dejalu::DEJALU_ISA {

constexpr size_t PIECE = 8192;                       // bytes of raw text per piece
constexpr size_t GROWTH = 12;                        // U+FDFA: 3 bytes fold to 33, and to 8 borders
constexpr size_t SLACK = 128;                        // whole blocks are written past the end

struct Tokenizer {
    Buffer<u8> text;                                 // folded bytes of the piece (and of a token open before it)
    Buffer<u32> borders;
    size_t size = 0, count = 0;
    bool joins = false, damaged = false, failed = false;

    explicit Tokenizer(bool unspaced) : single_(unspaced ? UNSPACED : WORD) {}

    void begin() { size = count = 0; joins = damaged = false; }

    // Number of tokens in the piece that nothing can extend any more.
    size_t closed() const { return (count - (joins ? 2 : 0)) / 2; }

    // Drops all closed tokens and moves what may still grow to the front.
    void carry_over() {
        if ((count & 1) || joins) {
            const size_t keep = joins ? 2 : 1, start = borders.at[count - keep];
            std::memmove(text.at, text.at + start, size - start);
            size -= start;
            borders.at[0] = 0;
            borders.at[1] = static_cast<u32>(size);
            count = keep;
        } else {
            size = count = 0;
        }
    }

    // Works through at least PIECE bytes (or all) of [p, end); returns where it stopped. After the last piece, close().
    const u8* piece(const u8* p, const u8* end) {
        const u8* stop = end - p > static_cast<ptrdiff_t>(PIECE) ? p + PIECE : end;
        growth_ = static_cast<size_t>(stop - p) * GROWTH + SLACK;
        if (!room()) return end;
        while (p < stop) {
            const size_t left = static_cast<size_t>(end - p), n = left < 64 ? left : 64;
            const Block b = ascii_block(p, n, text.at + size);
            size_t m = b.high ? static_cast<size_t>(lowest_bit(b.high)) : n;
            const bool other = m < left && p[m] >= 0x80;           // the run ends at a code point that is not ASCII
            if (other && m > 0 && !(fast_entry(decode(p + m, end).point) & BOUNDARY)) --m;   // the base of a cluster
            if (m) ascii(b.word, m);
            p += m;
            if (other && p < stop) p = points(p, stop, end);     // a block may reach past the piece
            if (failed) return end;
        }
        return p;
    }

    void close() {
        if (count & 1) borders.at[count++] = static_cast<u32>(size);
        joins = false;
    }

  private:
    const u32 single_;                               // the class that unspaced letters take
    size_t growth_ = 0;                              // what a piece may add to text and to borders
    Normalizer normalizer_;

    void ascii(u64 word, size_t m) {
        const u64 valid = m < 64 ? (1ull << m) - 1 : ~0ull;
        word &= valid;
        const u64 change = (word ^ (word << 1 | (count & 1))) & valid;
        count += write_bits(change, static_cast<u32>(size), borders.at + count);
        size += m;
        joins = false;
    }

    // Enters a folded code point that occupies [from, size) into the borders.
    void enter(u32 klass, size_t from) {
        const u32 at = static_cast<u32>(from), to = static_cast<u32>(size);
        if (klass <= WORD) {                                    // no branch on letter or blank: a guess that often fails
            borders.at[count] = at;
            count += (count & 1) ^ klass;
            joins = false;
        } else if (klass == MARK) {
            if (count & 1) return;
            if (joins) borders.at[count - 1] = to;
            else borders.at[count++] = at;
        } else if (klass == UNSPACED && single_ == WORD) {
            enter(WORD, from);
        } else {
            borders.at[count] = at;
            count += count & 1;
            borders.at[count++] = at;
            borders.at[count++] = to;
            joins = klass == UNSPACED;
        }
    }

    // Emits a code point whose neighbours cannot change it.
    void emit(u32 point, u32 entry) {
        const u32 kind = entry >> 26 & 3;
        if (DEJALU_UNLIKELY(kind == POOL)) {
            const u32* f = pool + (entry & 0xFFFF);
            for (u32 i = 0, n = entry >> 16 & 31; i < n; ++i) emit_folded(f[i]);
            return;
        }
        const size_t from = size;
        size += encode(kind == SINGLE ? entry & 0x1FFFFF : point, text.at + size);
        enter(entry >> 21 & 7, from);
    }

    void emit_folded(u32 c) {
        const size_t from = size;
        size += encode(c, text.at + size);
        enter(fast_entry(c) >> 21 & 7, from);
    }

    // Han letters U+4E00..U+9FFF, 3 bytes each: tokens that fold to themselves whatever stands beside them.
    const u8* han(const u8* p, const u8* stop, const u8* end) {
        borders.at[count] = static_cast<u32>(size);
        count += count & 1;
        u8* out = text.at + size;
        u32* border = borders.at + count;
        u32 at = static_cast<u32>(size);
        while (p < stop && end - p >= 4) {
            const u32 w = load32(p);
            const u32 c = (w & 0xF) << 12 | (w >> 8 & 0x3F) << 6 | (w >> 16 & 0x3F);
            if ((w & 0xC0C0F0) != 0x8080E0 || c - 0x4E00 >= 0x5200) break;
            std::memcpy(out, &w, 4);
            border[0] = at;
            border[1] = at += 3;
            out += 3;
            border += 2;
            p += 3;
        }
        size = at;
        count = static_cast<size_t>(border - borders.at);
        joins = true;
        return p;
    }

    // Code points from p on, until a longer ASCII run begins or `stop` is reached.
    const u8* points(const u8* p, const u8* stop, const u8* end) {
        Decoded d = decode_fast(p, end);
        u32 entry = fast_entry(d.point);
        u8* out = text.at + size;                               // kept in registers; members could be aliased by bytes
        u32* border = borders.at + count;
        const auto save = [&] {
            size = static_cast<size_t>(out - text.at);
            count = static_cast<size_t>(border - borders.at);
        };
        const auto load = [&] {
            out = text.at + size;
            border = borders.at + count;
        };
        while (true) {
            const u8* next = p + d.length;
            if (d.point - 0x4E00 < 0x5200 && single_ == UNSPACED && end - p >= 4) {
                save();
                p = han(p, stop, end);
                if (p >= stop || p[0] < 0x80) return p;
                load();
                d = decode_fast(p, end);
                entry = fast_entry(d.point);
                continue;
            }
            Decoded e = {0, 0, true};
            u32 following = BOUNDARY;
            if (next < end) {
                e = decode_fast(next, end);
                following = fast_entry(e.point);
            }
            if (DEJALU_UNLIKELY(!(entry & BOUNDARY) || !((following & BOUNDARY) | (entry & SOLID)))) {
                save();
                p = cluster(p, end);
                if (p >= stop || failed) return p;
                load();
                d = decode_fast(p, end);
                entry = fast_entry(d.point);
            } else {
                const u32 kind = entry >> 26 & 3, klass = entry >> 21 & 7;
                damaged |= !d.valid;
                if (kind != POOL && klass <= WORD) {             // no branch on letter or blank: it would often be wrong
                    *border = static_cast<u32>(out - text.at);
                    border += ((border - borders.at) & 1) ^ static_cast<ptrdiff_t>(klass);
                    joins = false;
                    out += encode(kind == SINGLE ? entry & 0x1FFFFF : d.point, out);
                } else {
                    save();
                    emit(d.point, entry);
                    load();
                }
                p = next;
                d = e;
                entry = following;
                if (p >= stop) break;
            }
            if (end - p < 8 ? d.point < 0x80 : !(load64(p) & 0x8080808080808080ull)) break;
        }
        save();
        return p;
    }

    // A cluster: the code point at p and all that follow up to the next boundary. It may run past the piece.
    DEJALU_NOINLINE const u8* cluster(const u8* p, const u8* end) {
        const u8* q = p;
        u32 last = 0;
        bool ordered = true, marks = false, steady = true;
        while (q < end) {
            const Decoded d = decode(q, end);
            const u32 entry = fast_entry(d.point);
            if (entry & BOUNDARY) {
                if (q > p) break;
                steady = entry & STEADY;
            } else if (entry & INERT) {
                const u32 ccc = entry & 0xFF;
                ordered &= ccc >= last;
                last = ccc;
                marks = true;
            } else if (!(entry & DROPPED)) {
                ordered = false;
            }
            damaged |= !d.valid;
            q += d.length;
        }
        if (ordered && (steady || !marks)) {
            while (p < q) {
                const Decoded d = decode(p, q);
                const u32 entry = fast_entry(d.point);
                if (!room()) return end;
                if (!(entry & DROPPED)) emit(d.point, entry);
                p += d.length;
            }
            return q;
        }
        normalizer_.count = 0;
        while (p < q) {
            const Decoded d = decode(p, q);
            if (!normalizer_.push(d.point)) { failed = true; return end; }
            p += d.length;
        }
        size_t n = 0;
        if (!normalizer_.fold(n)) { failed = true; return end; }
        for (size_t i = 0; i < n; ++i) {
            if (!room()) return end;
            emit_folded(normalizer_.first.at[i]);
        }
        return q;
    }

    // Room for one more code point and for the rest of the piece; borders are 32 bits.
    bool room() {
        if (size < 0xF0000000u && text.need(size + growth_) && borders.need(count + growth_)) return true;
        failed = true;
        return false;
    }
};

}  // namespace dejalu::DEJALU_ISA
