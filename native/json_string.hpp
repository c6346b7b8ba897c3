// The inside of a JSON string (RFC 8259 §7): checked, and with or without its text written out, in one go.
//
// 64 bytes are looked at together; what lies between two escapes is copied as it was read. Bytes above 0x7F pass
// unchecked here (utf8_sure.hpp looks at the text afterwards, while it is in the cache).
#pragma once
#include "byte_marks.hpp"
#include "formats_table.hpp"
#include "utf8.hpp"

namespace dejalu::DEJALU_ISA {

struct StringState {
    const u8* p;
    const u8* end;
    const u8* safe;
    const u8* far;              // up to here copy_escaped can look
    u8* to;
    bool escaped = false, lone = false;
};

// The value of four hexadecimal digits, or a number of 0x10000 or more.
static inline u32 hex4(const u8* p) {
    u32 v = 0;
    for (int i = 0; i < 4; ++i) {
        const u32 digit = static_cast<u32>(p[i]) - '0', letter = (static_cast<u32>(p[i]) | 0x20) - 'a';
        v = v << 4 | (digit < 10 ? digit : letter < 6 ? letter + 10 : 0x10000);
        if (v >= 0x10000) return 0x10000;
    }
    return v;
}

// One escape at s.p, which is a backslash. False where it is none; s.p is then s.end if the bytes ended before it did.
template <bool COPY>
static inline bool json_escape(StringState& s) {
    const u8* const p = s.p;
    if (s.end - p < 2) { s.p = s.end; return false; }
    u8 c = p[1];
    switch (c) {
        case 'n': c = '\n'; break;
        case '"': case '\\': case '/': break;
        case 't': c = '\t'; break;
        case 'r': c = '\r'; break;
        case 'b': c = '\b'; break;
        case 'f': c = '\f'; break;
        case 'u': {
            if (s.end - p < 6) { s.p = s.end; return false; }
            u32 point = hex4(p + 2);
            if (point >= 0x10000) return false;
            s.p = p + 6;
            if (!COPY) return true;
            if (point - 0xD800 < 0x400 && s.end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
                const u32 low = hex4(p + 8) - 0xDC00;
                if (low < 0x400) {
                    point = 0x10000 + ((point - 0xD800) << 10) + low;
                    s.p = p + 12;
                }
            }
            if (point - 0xD800 < 0x800) { point = 0xFFFD; s.lone = true; }
            s.to += encode(point, s.to);
            return true;
        }
        default: return false;
    }
    if (COPY) *s.to++ = c;
    s.p = p + 2;
    return true;
}

// What the character after a backslash stands for; 0 for u and for what is no escape.
struct EscapeTable {
    alignas(64) u8 v[256];
    constexpr EscapeTable() : v() {
        v['"'] = '"'; v['\\'] = '\\'; v['/'] = '/';
        v['b'] = '\b'; v['f'] = '\f'; v['n'] = '\n'; v['r'] = '\r'; v['t'] = '\t';
    }
};
static constexpr EscapeTable ESCAPES;

#if defined(DEJALU_AVX512)
// Copies 64 bytes with all escapes of one letter undone, up to the first byte that ends the string, or that is more than
// that; s.p is there then. Which backslashes begin an escape: Langdale, Lemire: Parsing gigabytes of JSON per second
// (2019), section 3.1.1, in the form of simdjson 3: a subtraction finds the runs of odd length. True: nothing ends here.
static inline bool copy_escaped(StringState& s, const Bytes64& block, const StringMarks& m, u64& high) {
    const u64 backslash = block.eq('\\'), quote = block.eq('"'), control = m.stop & ~backslash & ~quote;
    constexpr u64 ODD = 0xAAAAAAAAAAAAAAAAull;
    const u64 turns = (((backslash << 1) | ODD) - backslash) ^ ODD;
    const u64 escaped = turns ^ backslash, begins = turns & backslash;
    const __m512i plain = _mm512_permutex2var_epi8(_mm512_load_si512(ESCAPES.v), block.v, _mm512_load_si512(ESCAPES.v + 64));
    const u64 odd = escaped & (_mm512_testn_epi8_mask(plain, plain) | m.high);
    const u64 stop = (quote & ~escaped) | (control & ~escaped) | odd >> 1 | (begins & 1ull << 63);
    const __m512i text = _mm512_mask_mov_epi8(block.v, escaped, plain);
    const u64 before = (stop & (0 - stop)) - 1, kept = before & ~begins;   // before: all 64, where nothing stops
    _mm512_storeu_si512(s.to, _mm512_maskz_compress_epi8(kept, text));
    s.to += count_bits(kept);
    s.escaped |= (before & backslash) != 0;
    high |= m.high & before;
    if (!stop) {                                               // foreseen, so that the next load need not wait for all this
        s.p += 64;
        return true;
    }
    s.p += lowest_bit(stop);
    return false;
}
#else
// The same, from escape to escape; 128 bytes can be read at s.p.
static inline bool copy_escaped(StringState& s, const Bytes64&, const StringMarks& m, u64& high) {
    const u8 *const base = s.p, *from = base;
    for (u64 stops = m.stop; stops;) {
        const int n = lowest_bit(stops);
        const u8* const at = base + n;
        Bytes64(from).store(s.to);
        s.to += at - from;
        const u8 plain = *at == '\\' ? ESCAPES.v[at[1]] : 0;
        if (!plain || n == 63) {
            high |= m.high & (stops ^ (stops - 1));
            s.p = at;
            return false;
        }
        *s.to++ = plain;
        s.escaped = true;
        from = at + 2;
        stops &= ~(3ull << n);
    }
    Bytes64(from).store(s.to);
    s.to += base + 64 - from;
    s.p = base + 64;
    high |= m.high;
    return true;
}
#endif

template <bool COPY>
static inline const u8* json_string(StringState s, u8** to, u32& found) {
    u64 high = 0;
    bool closed = false;
    for (;;) {
        if (s.p <= s.safe) {
            const Bytes64 block(s.p);
            const StringMarks m = block.marks();
            if (COPY && m.stop && s.p <= s.far) {
                if (copy_escaped(s, block, m, high)) continue;
            } else {
                const int n = m.stop ? lowest_bit(m.stop) : 64;
                high |= m.stop ? m.high & (m.stop ^ (m.stop - 1)) : m.high;    // those up to the first stop
                if (COPY) {
                    block.store(s.to);
                    s.to += n;
                }
                s.p += n;
                if (n == 64) continue;
            }
        } else {
            for (; s.p < s.end && *s.p != '"' && *s.p != '\\' && *s.p >= 0x20; ++s.p) {
                high |= *s.p & 0x80;
                if (COPY) *s.to++ = *s.p;
            }
        }
        if (s.p >= s.end) {
            s.p = s.end;
            break;
        }
        if (*s.p == '"') {
            closed = true;
            break;
        }
        if (*s.p != '\\') break;                               // a raw control byte
        s.escaped = true;
        bool good;
        do {                                                   // escapes come in runs, above all in ASCII-only files
            good = json_escape<COPY>(s);
        } while (good && s.p < s.end && *s.p == '\\');
        if (!good) break;
    }
    found = (closed ? kClosed : 0u) | (s.escaped ? kEscaped : 0u) | (high ? kHigh : 0u) | (s.lone ? kLone : 0u);
    if (COPY) *to = s.to;
    return s.p;
}

static const u8* json_skip(const u8* p, const u8* end, const u8* safe, u32& found) {
    return json_string<false>({p, end, safe, nullptr, nullptr}, nullptr, found);
}
static const u8* json_copy(const u8* p, const u8* end, const u8* safe, u8*& to, u32& found) {
#if defined(DEJALU_AVX512)
    const u8* const far = safe;
#else
    const u8* const far = safe > p && safe - p > 64 ? safe - 64 : nullptr;
#endif
    return json_string<true>({p, end, safe, far, to}, &to, found);
}

}  // namespace dejalu::DEJALU_ISA
