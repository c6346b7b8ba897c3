// What the guards look up: the kind of every character, the words and strings of negation.txt (guards_table.inc, made by
// scripts/guards_table.py), and the hash of what they find.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "hash.hpp"
#include "unicode_table.hpp"
#include "utf8.hpp"

namespace dejalu::guarding {

using namespace dejalu::DEJALU_ISA;

struct NegationString {
    const char* text;
    bool counts;                // or it is exempt: passed over
};
#include "guards_table.inc"

// ASCII after folding: letters and '_', digits, all others.
enum Ascii : u8 { OTHER, LETTER, DIGIT };
struct AsciiTable { u8 at[128]; };
constexpr AsciiTable ASCII = [] {
    AsciiTable t{};
    for (int c = 'a'; c <= 'z'; ++c) t.at[c] = LETTER;
    for (int c = '0'; c <= '9'; ++c) t.at[c] = DIGIT;
    t.at[static_cast<int>('_')] = LETTER;
    return t;
}();

// What there is to know of a character.
enum Kind : u8 { NUMBER = 15, IN_WORD = 16, BEGINS = 32 };          // NUMBER: 1 to 10 a decimal digit, 11 another of category N

inline u32 class_of(u32 c) { return unicode::fast_blocks[unicode::fast_index[c >> 6] * 64u + (c & 63)] >> 21 & 7; }

inline u8 looked_up(u32 c) {
    const u32 klass = class_of(c);
    return static_cast<u8>(number_blocks[number_index[c >> 6] * 64u + (c & 63)] |
                           (klass == unicode::WORD || klass == unicode::MARK ? IN_WORD : 0));
}

// `token_hash` of bytes behind which nothing need be readable.
inline u64 bytes_hash(const u8* p, size_t n) {
    u64 a = K0, b = K1 ^ n;
    for (; n > 16; n -= 16, p += 16) {
        a ^= load64(p);
        b ^= load64(p + 8);
        multiply(a, b);
        a ^= K2;
        b ^= K3;
    }
    u8 tail[16] = {};
    std::memcpy(tail, p, n);
    return finish_token(a ^ load64(tail), b ^ load64(tail + 8));
}

// The first 8 bytes, zeros behind where there are fewer. `limit`: where readable memory ends.
inline u64 first_bytes(const u8* p, size_t n, const u8* limit) {
    if (limit - p >= 8) return load64(p) & MASKS.low[n < 8 ? n : 8];
    u64 x = 0;
    std::memcpy(&x, p, n < 8 ? n : 8);
    return x;
}

// The words and strings of negation.txt and the kind of every character, ready to be looked up.
class Facts {
  public:
    static const Facts& table() {
        static const Facts t;
        return t;
    }

    u8 kind(u32 c) const { return c < 0x10000 ? kinds_[c] : looked_up(c); }

    // Whether [p, p + n) is a word of the table; first: its first_bytes.
    bool word(const u8* p, size_t n, u64 first) const {
        const u64 h = hashed(first, n);
        if (!(sieve_[h >> 58] >> (h >> 52 & 63) & 1)) return false;
        for (size_t i = h >> 53; words_[i].text; i = (i + 1) & MASK)
            if (words_[i].first == first && words_[i].size == n && (n <= 8 || !std::memcmp(words_[i].text + 8, p + 8, n - 8))) return true;
        return false;
    }

    // The longest string that begins at p, of which a string begins with the first character; null if there is none.
    const NegationString* string(const u8* p, const u8* end, u32 c) const {
        const auto first = std::lower_bound(strings_.begin(), strings_.end(), c, [](const String& s, u32 x) { return s.point < x; });
        for (auto s = first; s != strings_.end() && s->point == c; ++s)
            if (s->size <= static_cast<size_t>(end - p) && !std::memcmp(s->string->text, p, s->size)) return s->string;
        return nullptr;
    }

  private:
    struct Word { const char* text; u64 first; size_t size; };
    struct String { u32 point; size_t size; const NegationString* string; };
    static constexpr size_t MASK = 2047;
    static_assert(sizeof(negation_words) / sizeof(*negation_words) < MASK / 3);
    std::vector<Word> words_ = std::vector<Word>(MASK + 1);
    std::vector<String> strings_;                                   // by first character, then longest first
    std::vector<u8> kinds_ = std::vector<u8>(0x10000);

    u64 sieve_[64] = {};                                            // by 12 bits of the hash: most words end here

    static u64 hashed(u64 first, size_t n) { return (first + n) * 0x9e3779b97f4a7c15ull; }

    Facts() {
        for (const char* text : negation_words) {
            const size_t n = std::strlen(text);
            const u8* p = reinterpret_cast<const u8*>(text);
            const u64 first = first_bytes(p, n, p + n);
            const u64 h = hashed(first, n);
            sieve_[h >> 58] |= 1ull << (h >> 52 & 63);
            size_t i = h >> 53;
            while (words_[i].text) i = (i + 1) & MASK;
            words_[i] = {text, first, n};
        }
        for (u32 c = 0; c < 0x10000; ++c) kinds_[c] = looked_up(c);
        for (const NegationString& s : negation_strings) {          // longest first
            const size_t n = std::strlen(s.text);
            const u8* p = reinterpret_cast<const u8*>(s.text);
            const u32 c = decode(p, p + n).point;
            kinds_[c] |= BEGINS;
            strings_.push_back({c, n, &s});
        }
        std::stable_sort(strings_.begin(), strings_.end(), [](const String& a, const String& b) { return a.point < b.point; });
    }
};

}  // namespace dejalu::guarding
