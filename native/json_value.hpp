// One JSON value: where it ends, what kind it is, and whether it is well formed (RFC 8259, and NaN, Infinity and
// -Infinity, which Python writes). Every byte is checked, so a damaged line is one that json.loads would refuse.
#pragma once
#include <cstdint>
#include <cstring>

#include "bytes.hpp"
#include "scan.hpp"
#include "utf8_check.hpp"

namespace dejalu::json {

// The kinds of dejalu.data, in its order.
enum Kind : uint8_t { kAbsent, kNull, kString, kInteger, kReal, kBoolean, kNested };

constexpr int kMaxDepth = 512;

// Value of a hexadecimal digit, -1 for any other byte.
struct HexTable {
    int8_t v[256];
    constexpr HexTable() : v() {
        for (int i = 0; i < 256; ++i)
            v[i] = static_cast<int8_t>(i >= '0' && i <= '9'                     ? i - '0'
                                       : (i | 0x20) >= 'a' && (i | 0x20) <= 'f' ? (i | 0x20) - 'a' + 10
                                                                                : -1);
    }
};
inline constexpr HexTable kHex;

// The four digits at p as a number; negative if one is no digit.
inline int hex4(const uint8_t* p) {
    const int a = kHex.v[p[0]], b = kHex.v[p[1]], c = kHex.v[p[2]], d = kHex.v[p[3]];
    return (a | b | c | d) < 0 ? -1 : a << 12 | b << 8 | c << 4 | d;
}

struct Span {
    const uint8_t* begin = nullptr;                            // a string's span excludes its quotes
    const uint8_t* end = nullptr;
    Kind kind = kAbsent;
    bool escaped = false;                                      // holds a backslash
    bool high = false;                                         // may hold a byte above 0x7F
};

// Reads [p, end); on damage `p` stays where it was found and every call returns false.
struct Reader {
    const uint8_t* p;
    const uint8_t* end;

    void blanks() {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) ++p;
    }
    bool eat(uint8_t b) {
        if (p == end || *p != b) return false;
        ++p;
        return true;
    }

    bool string(Span& s) {
        if (!eat('"')) return false;
        s = {p, p, kString, false, false};
        for (;;) {
            if (end - p >= scan::kWidth) {
                const scan::Block x(p);
                const auto h = scan::Block::hits(
                    scan::Block::either(scan::Block::either(x.eq('"'), x.eq('\\')), x.at_most(0x1F)));
                s.high |= x.high().any();
                if (!h.any()) {
                    p += scan::kWidth;
                    continue;
                }
                p += h.first();
            } else {
                while (p < end && *p != '"' && *p != '\\' && *p >= 0x20) s.high |= *p++ >= 0x80;
                if (p == end) return false;
            }
            if (*p == '"') {
                s.end = p++;
                return true;
            }
            if (*p != '\\') return false;                      // a raw control character
            s.escaped = true;
            do {                                               // escapes come in runs, above all in ASCII-only files
                if (!escape()) return false;
            } while (p < end && *p == '\\');
        }
    }

    bool number(Span& s) {
        s = {p, p, kInteger, false, false};
        eat('-');
        if (p < end && *p == 'I') {
            s.kind = kReal;
            if (!word("Infinity")) return false;
            s.end = p;
            return true;
        }
        if (!eat('0') && !digits()) return false;
        if (p < end && *p == '.') {
            ++p;
            s.kind = kReal;
            if (!digits()) return false;
        }
        if (p < end && (*p | 0x20) == 'e') {
            ++p;
            s.kind = kReal;
            if (p < end && (*p == '+' || *p == '-')) ++p;
            if (!digits()) return false;
        }
        s.end = p;
        return true;
    }

    // Any value; nested ones are walked with a stack of their own, so that depth costs no machine stack.
    bool value(Span& s) {
        if (p == end) return false;
        if (*p != '{' && *p != '[') return scalar(s);
        s = {p, p, kNested, false, true};
        uint8_t closing[kMaxDepth];
        int depth = 0;
        Span ignored;
        for (;;) {                                             // here a value begins
            if (p < end && (*p == '{' || *p == '[')) {
                if (depth == kMaxDepth) return false;
                const bool object = *p == '{';
                closing[depth++] = object ? '}' : ']';
                ++p;
                blanks();
                if (p < end && *p == closing[depth - 1]) {
                    ++p;
                    --depth;
                } else if (object ? key(ignored) : p < end) {
                    continue;
                } else {
                    return false;
                }
            } else if (!scalar(ignored)) {
                return false;
            }
            for (;;) {                                         // here a value has ended
                if (depth == 0) {
                    s.end = p;
                    return true;
                }
                blanks();
                if (eat(',')) {
                    blanks();
                    if (closing[depth - 1] == '}' && !key(ignored)) return false;
                    break;
                }
                if (!eat(closing[depth - 1])) return false;
                --depth;
            }
        }
    }

    // A key, its colon and the blanks around them.
    bool key(Span& s) {
        if (!string(s)) return false;
        blanks();
        if (!eat(':')) return false;
        blanks();
        return true;
    }

private:
    bool word(const char* w) {
        for (; *w; ++w)
            if (!eat(static_cast<uint8_t>(*w))) return false;
        return true;
    }
    bool digits() {
        const uint8_t* const begin = p;
        while (p < end && *p >= '0' && *p <= '9') ++p;
        return p > begin;
    }
    bool escape() {
        if (end - p < 2) {
            p = end;
            return false;
        }
        switch (p[1]) {
            case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
                p += 2;
                return true;
            case 'u':
                if (end - p < 6) {
                    p = end;
                    return false;
                }
                if (hex4(p + 2) < 0) return false;
                p += 6;
                return true;
            default:
                return false;
        }
    }
    bool scalar(Span& s) {
        if (p == end) return false;
        const uint8_t* const begin = p;
        switch (*p) {
            case '"': return string(s);
            case 't': if (!word("true")) return false; s = {begin, p, kBoolean, false, false}; return true;
            case 'f': if (!word("false")) return false; s = {begin, p, kBoolean, false, false}; return true;
            case 'n': if (!word("null")) return false; s = {begin, p, kNull, false, false}; return true;
            case 'N': if (!word("NaN")) return false; s = {begin, p, kReal, false, false}; return true;
            default: return number(s);
        }
    }
};

inline uint8_t* put(uint32_t c, uint8_t* to) {
    if (c < 0x80) {
        *to++ = static_cast<uint8_t>(c);
    } else if (c < 0x800) {
        *to++ = static_cast<uint8_t>(0xC0 | c >> 6);
        *to++ = static_cast<uint8_t>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *to++ = static_cast<uint8_t>(0xE0 | c >> 12);
        *to++ = static_cast<uint8_t>(0x80 | (c >> 6 & 0x3F));
        *to++ = static_cast<uint8_t>(0x80 | (c & 0x3F));
    } else {
        *to++ = static_cast<uint8_t>(0xF0 | c >> 18);
        *to++ = static_cast<uint8_t>(0x80 | (c >> 12 & 0x3F));
        *to++ = static_cast<uint8_t>(0x80 | (c >> 6 & 0x3F));
        *to++ = static_cast<uint8_t>(0x80 | (c & 0x3F));
    }
    return to;
}

// Undo the escapes of a checked string; `to` has room for the span and 16 bytes. A lone surrogate becomes U+FFFD.
inline uint8_t* unescape(const uint8_t* p, const uint8_t* end, uint8_t* to, bool& lone) {
    while (p < end) {
        if (*p == '\\') {
            // below
        } else if (end - p >= scan::kWidth) {
            const scan::Block x(p);
            x.store(to);
            const auto h = scan::Block::hits(x.eq('\\'));
            const int n = h.any() ? h.first() : scan::kWidth;
            p += n;
            to += n;
            if (!h.any()) continue;
        } else {
            *to++ = *p++;
            continue;
        }
        const uint8_t e = p[1];
        p += 2;
        if (e != 'u') {
            *to++ = e == 'n' ? '\n' : e == 't' ? '\t' : e == 'r' ? '\r' : e == 'b' ? '\b' : e == 'f' ? '\f' : e;
            continue;
        }
        auto c = static_cast<uint32_t>(hex4(p));
        p += 4;
        if (c >= 0xD800 && c < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
            const auto d = static_cast<uint32_t>(hex4(p + 2));
            if (d >= 0xDC00 && d < 0xE000) {
                c = 0x10000 + ((c - 0xD800) << 10) + (d - 0xDC00);
                p += 6;
            }
        }
        if (c >= 0xD800 && c < 0xE000) {
            c = 0xFFFD;
            lone = true;
        }
        to = put(c, to);
    }
    return to;
}

// Append a value's text: a string unescaped, any other kind as it stands. Returns whether something was replaced.
inline bool append(const Span& s, Bytes& out) {
    const int64_t begin = out.size(), raw = s.end - s.begin;
    if (raw == 0) return false;
    bool replaced = false;
    uint8_t* to = out.reserve(raw + scan::kWidth);
    if (s.escaped && s.kind == kString) {
        out.set_end(unescape(s.begin, s.end, to, replaced));
    } else {
        out.append(s.begin, raw);
    }
    if (!s.high) return replaced;
    const uint8_t* const from = out.data() + begin;
    if (utf8::first_invalid(from, out.end()) == out.end()) return replaced;
    const std::vector<uint8_t> broken(from, const_cast<const uint8_t*>(out.end()));
    out.set_end(from);
    to = out.reserve(3 * static_cast<int64_t>(broken.size()));
    out.set_end(utf8::repair(broken.data(), broken.data() + broken.size(), to));
    return true;
}

}  // namespace dejalu::json
