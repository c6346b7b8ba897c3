// What a text says in numbers, negations and addresses, as one hash of each text. Twin: kernels/reference/guards.py, which
// reads more easily; the rules stand in docs/guards.md.
//
// One pass from left to right over folded text. An address is passed over as a whole, so that its digits are no numbers;
// digits part words; the table's strings are looked for at every character of three bytes, the words where a run ends.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "ascii_words.hpp"
#include "guards_facts.hpp"
#include "mix.hpp"

namespace dejalu::guarding {

class Scanner {
  public:
    Scanner(bool numbers, bool negation, bool urls) : numbers_(numbers), negation_(negation), urls_(urls) {}

    // The hash of a folded text; 0 if it says nothing in the guards that were chosen. `limit`: where readable memory ends.
    u64 operator()(const u8* begin, const u8* end, const u8* limit) {
        begin_ = begin;
        end_ = end;
        limit_ = limit;
        numbers_found_.clear();
        urls_found_.clear();
        negations_found_ = 0;
        for (const u8* p = begin; p < end;) p = step(p);
        u64 value = of_set(numbers_found_, 1);
        if (negations_found_) value ^= mix64(mix64(2) ^ negations_found_);
        return value ^ of_set(urls_found_, 3);
    }

  private:
    const bool numbers_, negation_, urls_;
    const u8 *begin_ = nullptr, *end_ = nullptr, *limit_ = nullptr;
    std::vector<u64> numbers_found_, urls_found_;
    std::vector<u8> number_;                                        // the digits and separators of one number
    std::vector<size_t> borders_;                                   // where its groups end in it
    u64 negations_found_ = 0;
    const Facts& facts_ = Facts::table();

    static u64 of_set(std::vector<u64>& hashes, u64 salt) {
        if (hashes.empty()) return 0;
        std::sort(hashes.begin(), hashes.end());
        hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
        u64 value = mix64(salt);
        for (const u64 h : hashes) value = mix64(value ^ h);
        return value;
    }

    const u8* step(const u8* p) {
        if (*p < 0x80) {
            const u8 kind = ASCII.at[*p];
            if (kind == LETTER) return end_ - p >= 64 ? words(p) : word(p);
            return kind == DIGIT ? number(p) : p + 1;
        }
        const Decoded d = decode_fast(p, end_);
        const u8 kind = facts_.kind(d.point);
        if (kind & NUMBER) return number(p);
        if (kind & IN_WORD) return word(p);
        return p + length(p, d, kind);
    }

    // Length of the string of the table that begins at p, counted if it negates; else that of the character. Also where
    // negations are not asked for: what stands behind a string must not depend on that.
    size_t length(const u8* p, const Decoded& d, u8 kind) {
        if (!(kind & BEGINS)) return d.length;
        const NegationString* s = facts_.string(p, end_, d.point);
        if (!s) return d.length;
        negations_found_ += negation_ && s->counts;
        return std::strlen(s->text);
    }

    // Number of letters at p, at most 8, where 8 bytes can be read.
    static size_t letters(u64 x) {
        constexpr u64 ONES = 0x0101010101010101ull, TOPS = ONES << 7;
        const u64 y = x & ~TOPS;
        const u64 letter = (y + ONES * (0x80 - 'a')) & ~(y + ONES * (0x80 - 'z' - 1));
        const u64 other = (~letter & ((y ^ ONES * '_') + ~TOPS)) | x;
        return other & TOPS ? static_cast<size_t>(lowest_bit(other & TOPS)) >> 3 : 8;
    }

    // The ASCII words at p that end before a digit, a character that is not ASCII, and 64 bytes; `word` if there is none.
    const u8* words(const u8* p) {
        const Letters found = letters64(p);
        const u64 before = found.other ? (1ull << lowest_bit(found.other)) - 1 : ~0ull;   // what comes first
        u64 whole = ~found.letter & before;                         // the last word may go on behind: up to it only
        if (!whole) return word(p);
        whole = ~0ull >> std::countl_zero(whole);
        const u64 letter = found.letter & whole;
        u64 starts = letter & ~(letter << 1), ends = ~letter & letter << 1;
        for (; starts; starts &= starts - 1, ends &= ends - 1) {
            const u8* const start = p + lowest_bit(starts);
            const size_t n = static_cast<size_t>(lowest_bit(ends) - lowest_bit(starts));
            const u64 first = limit_ - start >= 8 ? load64(start) & MASKS.low[n < 8 ? n : 8] : first_bytes(start, n, limit_);
            if (DEJALU_UNLIKELY((first == HTTP) | (first == HTTPS) | (first == FTP) | (first == WWW)))
                if (const u8* host = url_host(start, start + n)) return url(host);
            if (negation_) negations_found_ += negates(start, n, first);
        }
        return p + (64 - std::countl_zero(whole));
    }

    // A run of letters and marks without digits, or an address.
    const u8* word(const u8* start) {
        const u8* p = start;
        while (p < end_) {
            if (*p < 0x80) {
                if (limit_ - p >= 8) {
                    const size_t n = std::min(letters(load64(p)), static_cast<size_t>(end_ - p));
                    p += n;
                    if (n == 8) continue;
                    if (p == end_ || *p < 0x80) break;
                } else if (ASCII.at[*p] == LETTER) {
                    ++p;
                    continue;
                } else {
                    break;
                }
            }
            const Decoded d = decode_fast(p, end_);
            const u8 kind = facts_.kind(d.point);
            if (!(kind & IN_WORD) || kind & NUMBER) break;
            p += length(p, d, kind);
        }
        const size_t n = static_cast<size_t>(p - start);
        const u64 first = first_bytes(start, n, limit_);
        if ((n - 3 <= 2) && (first == HTTP || first == HTTPS || first == FTP || first == WWW))
            if (const u8* host = url_host(start, p)) return url(host);
        if (negation_) negations_found_ += negates(start, n, first);
        return p;
    }

    static constexpr u64 HTTP = 0x70747468, HTTPS = 0x7370747468, FTP = 0x707466, WWW = 0x777777;

    bool negates(const u8* p, size_t n, u64 first) const {
        if (first == 't') {                                         // n't
            const size_t a = apostrophe_before(p);
            if (a && p - begin_ > static_cast<ptrdiff_t>(a) && p[-1 - static_cast<ptrdiff_t>(a)] == 'n') return true;
        } else if (first == 'n') {                                  // n', but not 'n'
            const u8* const q = p + 1;
            const bool behind = q < end_ && (*q == '\'' || (end_ - q > 2 && !std::memcmp(q, "\xE2\x80\x99", 3)));
            if (behind && !apostrophe_before(p)) return true;
        }
        return facts_.word(p, n, first);
    }

    size_t apostrophe_before(const u8* p) const {
        if (p > begin_ && p[-1] == '\'') return 1;
        return p - begin_ > 2 && !std::memcmp(p - 3, "\xE2\x80\x99", 3) ? 3 : 0;
    }

    // Value as of number_value and length of the character at p.
    struct Numeral { u32 value, length; };
    Numeral numeral(const u8* p) const {
        if (p >= end_) return {0, 0};
        if (*p < 0x80) return {ASCII.at[*p] == DIGIT ? *p - '0' + 1u : 0u, 1};
        const Decoded d = decode_fast(p, end_);
        return {facts_.kind(d.point) & static_cast<u32>(NUMBER), d.length};
    }

    const u8* number(const u8* p) {
        const bool negative = minus_before(p);
        if (!negative && limit_ - p >= 32) {                        // most are a few ASCII digits alone
            size_t n = 0;
            while (n < 17 && static_cast<u8>(p[n] - '0') < 10) ++n;
            if (n - 1 < 16 && p + n <= end_ && (p + n == end_ || (p[n] < 0x80 && p[n] != '.' && p[n] != ','))) {
                if (numbers_) numbers_found_.push_back(short_token_hash(p, n));
                return p + n;
            }
        }
        number_.clear();
        borders_.clear();
        if (negative) number_.push_back('-');
        size_t symbols = 0;                                         // of the group
        Groups g;
        while (true) {
            for (Numeral m; (m = numeral(p)).value; p += m.length, ++symbols) {
                if (m.value <= 10) number_.push_back(static_cast<u8>('0' + m.value - 1));
                else number_.insert(number_.end(), p, p + m.length);
            }
            g.end_of_group(symbols);
            u8 separator = 0;
            size_t length = 1;
            if (p < end_ && (*p == '.' || *p == ',')) separator = *p;
            else if (end_ - p > 2 && p[0] == 0xD9 && (p[1] == 0xAB || p[1] == 0xAC)) {
                separator = p[1] == 0xAB ? '.' : ',';
                length = 2;
            }
            if (!separator || !numeral(p + length).value) break;
            g.separator(separator);
            borders_.push_back(number_.size());
            number_.push_back('.');
            p += length;
            symbols = 0;
        }
        if (numbers_) {
            if (const size_t marks = g.thousands()) drop(marks);
            numbers_found_.push_back(bytes_hash(number_.data(), number_.size()));
        }
        return p;
    }

    // Finds out whether the first separators of a number, all alike, are thousands marks.
    struct Groups {
        u8 first = 0;                                               // separator
        size_t marks = 0, separators = 0, groups = 0;
        bool fits = true;                                           // the groups before the last one behind a mark
        size_t last = 0;
        void end_of_group(size_t symbols) {
            ++groups;
            if (separators == marks) {                              // no other separator yet
                if (groups == 1) fits = symbols <= 3;
                else if (groups > 2) fits &= last == 2 || last == 3;
                last = symbols;
            }
        }
        void separator(u8 c) {
            if (!first) first = c;
            if (c == first && separators == marks) ++marks;
            ++separators;
        }
        size_t thousands() const {
            return marks && (first == ',' || marks > 1 || marks < separators) && fits && last == 3 ? marks : 0;
        }
    };

    // Takes the first separators out.
    void drop(size_t marks) {
        size_t to = borders_[0];
        for (size_t i = 0; i < marks; ++i) {
            const size_t from = borders_[i] + 1, next = i + 1 < borders_.size() ? borders_[i + 1] : number_.size();
            const size_t until = i + 1 < marks ? next : number_.size();
            std::memmove(number_.data() + to, number_.data() + from, until - from);
            to += until - from;
        }
        number_.resize(to);
    }

    bool minus_before(const u8* p) const {
        size_t n = 0;
        if (p > begin_ && p[-1] == '-') n = 1;
        else if (p - begin_ > 2 && !std::memcmp(p - 3, "\xE2\x88\x92", 3)) n = 3;
        if (!n) return false;
        p -= n;
        return p == begin_ || p[-1] == ' ' || (p[-1] >= '\t' && p[-1] <= '\r') || p[-1] == '(' || p[-1] == '[';
    }

    // Where the host begins of an address whose scheme, or www, is [p, end); null if it is none.
    const u8* url_host(const u8* p, const u8* end) const {
        if (p > begin_ && p[-1] < 0x80 && ASCII.at[p[-1]] != OTHER) return nullptr;
        const bool www = *p == 'w';
        const size_t n = www ? 1 : 3;
        if (static_cast<size_t>(end_ - end) <= n || std::memcmp(end, www ? "." : "://", n)) return nullptr;
        const Decoded d = decode_fast(end + n, end_);
        const bool letter = d.point < 0x80 ? ASCII.at[d.point] != OTHER && d.point != '_' : class_of(d.point) == unicode::WORD;
        return !letter ? nullptr : www ? p : end + n;
    }

    const u8* url(const u8* host) {
        const u8* p = host;
        int64_t round = 0, square = 0;                              // closing brackets without an opening one
        while (p < end_) {
            if (*p < 0x80) {
                if (*p <= ' ' || *p == 0x7F || std::strchr("<>\"`{}|\\^", *p)) break;
                round += (*p == ')') - (*p == '(');
                square += (*p == ']') - (*p == '[');
                ++p;
                continue;
            }
            const Decoded d = decode_fast(p, end_);
            if (!(facts_.kind(d.point) & IN_WORD)) break;
            p += d.length;
        }
        for (;; --p) {
            if (p[-1] == ')' && round > 0) --round;
            else if (p[-1] == ']' && square > 0) --square;
            else if (p[-1] >= 0x80 || !std::strchr(".,;:!?'*/", p[-1])) break;
        }
        if (urls_) urls_found_.push_back(bytes_hash(host, static_cast<size_t>(p - host)));
        return p;
    }
};

}  // namespace dejalu::guarding
