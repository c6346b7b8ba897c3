// One JSON value: where it ends, what kind it is, and whether it is well formed (RFC 8259, and NaN, Infinity and
// -Infinity, which Python writes). Every byte is checked, so a damaged line is one that json.loads would refuse.
#pragma once
#include <cstdint>
#include <cstring>

#include "bytes.hpp"
#include "dispatch.hpp"
#include "scan.hpp"
#include "utf8_check.hpp"

namespace dejalu::json {

// The kinds of dejalu.data, in its order.
enum Kind : uint8_t { kAbsent, kNull, kString, kInteger, kReal, kBoolean, kNested };

constexpr int kMaxDepth = 512;

struct Span {
    const uint8_t* begin = nullptr;                            // a string's span excludes its quotes
    const uint8_t* end = nullptr;
    Kind kind = kAbsent;
    bool escaped = false;                                      // holds a backslash
    bool high = false;                                         // may hold a byte above 0x7F
};

// Put U+FFFD for what is ill-formed from byte `begin` of `out` on. Returns whether there was any.
inline bool repair_from(int64_t begin, Bytes& out) {
    const uint8_t* const from = out.data() + begin;
    if (utf8::first_invalid(from, out.end()) == out.end()) return false;
    const std::vector<uint8_t> broken(from, const_cast<const uint8_t*>(out.end()));
    out.set_end(from);
    uint8_t* const to = out.reserve(3 * static_cast<int64_t>(broken.size()));
    out.set_end(utf8::repair(broken.data(), broken.data() + broken.size(), to));
    return true;
}

// Reads one line, from p on: a line end inside [p, end) is damage. On damage `p` stays where it was found and every call returns false.
struct Reader {
    const uint8_t* p;
    const uint8_t* end;
    const uint8_t* safe;                                       // up to here, 64 bytes can be read, whatever they are
    const FormatsTable& leaves = kernels().formats;

    void blanks() {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    }
    bool eat(uint8_t b) {
        if (p == end || *p != b) return false;
        ++p;
        return true;
    }

    bool string(Span& s) {
        if (!eat('"')) return false;
        s = {p, p, kString, false, false};
        if (p <= safe) {                                       // most keys and many values are short
            const scan::Block x(p);
            const auto h = scan::Block::hits(scan::Block::either(scan::Block::either(x.eq('"'), x.eq('\\')), x.at_most(0x1F)));
            if (h.any() && p[h.first()] == '"') {
                s.high = x.high().any();
                p += h.first();
                s.end = p++;
                return true;
            }
        }
        uint32_t found;
        p = leaves.json_skip(p, end, safe, found);
        return closed(found, s);
    }

    // The same, its text appended to `out`. Sets `replaced` where a part of it became U+FFFD; on damage `out` holds a part.
    bool string_into(Span& s, Bytes& out, bool& replaced) {
        if (!eat('"')) return false;
        s = {p, p, kString, false, false};
        const int64_t begin = out.size();
        uint8_t* to = out.reserve(end - p + 64);
        uint32_t found;
        p = leaves.json_copy(p, end, safe, to, found);
        out.set_end(to);
        replaced = found & kLone;
        if (found & kHigh) replaced |= repair_from(begin, out);
        return closed(found, s);
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
    bool closed(uint32_t found, Span& s) {
        s.end = p;
        s.escaped = found & kEscaped;
        s.high = found & kHigh;
        p += found & kClosed;
        return found & kClosed;
    }
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

// Append the text of a checked value: a string unescaped, any other kind as it stands. Returns whether a part was replaced.
inline bool append(const Span& s, Bytes& out) {
    bool replaced = false;
    if (s.kind == kString && s.escaped) {
        Span again;
        Reader{s.begin - 1, s.end + 1, nullptr}.string_into(again, out, replaced);
        return replaced;
    }
    const int64_t begin = out.size();
    out.append(s.begin, s.end - s.begin);
    return s.high && repair_from(begin, out);
}

}  // namespace dejalu::json
