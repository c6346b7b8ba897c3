// Fuzz target of the text kernels: any bytes, all parameters; every instruction set must agree, and laws must hold.
//
// LLVMFuzzerTestOneInput is what libFuzzer calls. Without libFuzzer, -DDEJALU_FUZZ_MAIN gives a driver that makes inputs itself:
//     fuzz_text SECONDS [SEED]
// scripts/sanitize builds it with AddressSanitizer and UBSan and runs it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "isa_table.hpp"
#include "unicode_table.hpp"

namespace dejalu::unicode {
#include "unicode_table.inc"
}
namespace dejalu::baseline { const Table& table(); }
#ifdef DEJALU_HAVE_avx2
namespace dejalu::avx2 { const Table& table(); }
#endif
#ifdef DEJALU_HAVE_avx512
namespace dejalu::avx512 { const Table& table(); }
#endif

using namespace dejalu;

static std::vector<const TextTable*> tables() {
    std::vector<const TextTable*> t = {&baseline::table().text};
#ifdef DEJALU_HAVE_avx2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) t.push_back(&avx2::table().text);
#endif
#ifdef DEJALU_HAVE_avx512
    if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw")) t.push_back(&avx512::table().text);
#endif
    return t;
}

static void law(bool ok, const char* what) {
    if (ok) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

template <class T>
struct Free { void operator()(T* p) const { std::free(p); } };
template <class T>
using Malloced = std::unique_ptr<T, Free<T>>;

struct Result {
    std::vector<uint32_t> signatures, long_tokens;
    std::vector<uint64_t> token_hash, values, bytes_hash;
    std::vector<int64_t> tokens, value_offsets, doc_tokens, token_borders, fold_offsets;
    std::vector<uint8_t> flags, token_bytes, folded;
    bool operator==(const Result&) const = default;
};

static Result run(const TextTable& t, const TextIn& in, size_t slots) {
    const size_t n = static_cast<size_t>(in.n);
    Result r;
    r.signatures.resize(n * slots); r.long_tokens.resize(n); r.token_hash.resize(2 * n); r.tokens.resize(n);
    r.flags.resize(n); r.value_offsets.resize(n + 1); r.doc_tokens.resize(n + 1); r.fold_offsets.resize(n + 1); r.bytes_hash.resize(2 * n);
    law(t.sketch(in, {slots, r.signatures.data(), r.token_hash.data(), r.tokens.data(), r.flags.data(), r.long_tokens.data()}), "memory");
    uint64_t* values = nullptr;
    law(t.shingle_sets(in, r.value_offsets.data(), &values, nullptr), "memory");
    const Malloced<uint64_t> own_values(values);
    r.values.assign(values, values + r.value_offsets[n]);
    SetScratch scratch;
    for (int again = 0; again < 2; ++again) {
        uint64_t* lent = nullptr;
        law(t.shingle_sets(in, r.value_offsets.data(), &lent, &scratch), "memory");
        law(std::equal(r.values.begin(), r.values.end(), lent, lent + r.value_offsets[n]), "sets in used memory");
    }
    uint8_t* data = nullptr;
    int64_t* borders = nullptr;
    law(t.folded(in, r.doc_tokens.data(), &data, &borders), "memory");
    const Malloced<uint8_t> own_data(data);
    const Malloced<int64_t> own_borders(borders);
    r.token_borders.assign(borders, borders + r.doc_tokens[n] + 1);
    r.token_bytes.assign(data, data + r.token_borders.back());
    uint8_t* folded = nullptr;
    law(t.folded(in, r.fold_offsets.data(), &folded, nullptr), "memory");
    const Malloced<uint8_t> own_folded(folded);
    r.folded.assign(folded, folded + r.fold_offsets[n]);
    t.bytes_hash(in, r.bytes_hash.data());
    return r;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
    if (size < 4) return 0;
    static const std::vector<const TextTable*> all = tables();
    const size_t widths[] = {1, 2, 3, 5, 5, 8, 9, 70}, slot_counts[] = {0, 1, 16, 64, 128, 128, 200, 300};
    // Three texts of exactly allocated bytes, so that a read past the end is seen.
    const size_t length = size - 4, first = length * input[2] / 255, second = first + (length - first) * input[3] / 255;
    const std::unique_ptr<uint8_t[]> data(new uint8_t[length]);
    std::memcpy(data.get(), input + 4, length);
    const int64_t offsets[] = {0, static_cast<int64_t>(first), static_cast<int64_t>(second), static_cast<int64_t>(length)};
    const size_t slots = slot_counts[input[1] & 7];
    const TextIn in = {data.get(), offsets, 3, widths[input[0] & 7], (input[0] & 8) != 0, (input[0] & 16) != 0};
    const Result r = run(*all[0], in, slots);
    for (size_t i = 1; i < all.size(); ++i) law(run(*all[i], in, slots) == r, "instruction sets agree");

    for (size_t i = 0; i < 3; ++i) {
        law(r.doc_tokens[i + 1] - r.doc_tokens[i] == r.tokens[i], "number of tokens");
        for (int64_t j = r.value_offsets[i] + 1; j < r.value_offsets[i + 1]; ++j)
            law(r.values[static_cast<size_t>(j - 1)] < r.values[static_cast<size_t>(j)], "sets ascend");
        law((r.value_offsets[i + 1] > r.value_offsets[i]) == (r.tokens[i] > 0), "a text with tokens has shingles");
    }
    for (size_t j = 1; j < r.token_borders.size(); ++j) law(r.token_borders[j - 1] < r.token_borders[j], "tokens are not empty");
    // Folding twice is folding once, and the folded text has the same tokens and hashes.
    const std::unique_ptr<uint8_t[]> again(new uint8_t[r.folded.size()]);
    if (!r.folded.empty()) std::memcpy(again.get(), r.folded.data(), r.folded.size());
    const Result s = run(*all.back(), {again.get(), r.fold_offsets.data(), 3, in.shingle, in.by_char, in.unspaced}, slots);
    law(s.folded == r.folded && s.fold_offsets == r.fold_offsets, "folding twice");
    law(s.token_bytes == r.token_bytes && s.token_hash == r.token_hash && s.values == r.values && s.signatures == r.signatures,
        "folded text has the same tokens, hashes, shingles and signature");
    law(s.flags == std::vector<uint8_t>(3), "folded text is valid UTF-8");
    return 0;
}

#ifdef DEJALU_FUZZ_MAIN
// Random bytes, code points of all kinds, words, fragments that were hard once, and cuts in the middle of sequences.
static std::string make(std::mt19937_64& rng) {
    static const uint32_t kinds[][2] = {{0x20, 0x7F}, {0x80, 0x250}, {0x300, 0x370}, {0x370, 0x600}, {0x600, 0x1200}, {0x1100, 0x1200},
                                        {0x1E00, 0x2100}, {0x2000, 0x2070}, {0x3000, 0x3100}, {0x3400, 0xA000}, {0xAC00, 0xAD00},
                                        {0xF900, 0xFE10}, {0xFE00, 0x10000}, {0x10000, 0x11FFF}, {0x1D100, 0x1D200}, {0x1F000, 0x1FB00},
                                        {0xE0000, 0xE0200}, {0, 0x110000}};
    const auto below = [&](uint64_t n) { return rng() % n; };
    std::string s(4, '\0');
    for (char& c : s) c = static_cast<char>(rng());
    const uint64_t filler = below(12);
    if (filler == 0) s.append(8192 - 80 + below(90), below(2) ? 'w' : ' ');
    if (filler < 3) s.append(below(140), 'x');
    for (uint64_t pieces = 1 + below(1 + below(60)); pieces; --pieces) {
        const uint64_t what = below(10);
        if (what == 0) {
            for (uint64_t i = below(8); i; --i) s += static_cast<char>(rng());
        } else if (what < 4) {
            for (uint64_t i = 1 + below(25); i; --i) s += "abcdefgXYZ_ 0189.,-="[below(20)];
            s += ' ';
        } else {
            const auto& kind = kinds[below(sizeof kinds / sizeof kinds[0])];
            for (uint64_t i = 1 + below(1 + below(12)); i; --i) {
                const uint32_t c = kind[0] + static_cast<uint32_t>(below(kind[1] - kind[0]));
                if (c < 0x80) s += static_cast<char>(c);
                else if (c < 0x800) { s += static_cast<char>(0xC0 | c >> 6); s += static_cast<char>(0x80 | (c & 63)); }
                else if (c < 0x10000) { s += static_cast<char>(0xE0 | c >> 12); s += static_cast<char>(0x80 | (c >> 6 & 63)); s += static_cast<char>(0x80 | (c & 63)); }
                else { s += static_cast<char>(0xF0 | c >> 18); s += static_cast<char>(0x80 | (c >> 12 & 63)); s += static_cast<char>(0x80 | (c >> 6 & 63)); s += static_cast<char>(0x80 | (c & 63)); }
            }
        }
    }
    for (uint64_t cuts = below(3); cuts && s.size() > 5; --cuts) s.erase(4 + below(s.size() - 4), 1);
    return s;
}

int main(int count, char** arguments) {
    const double seconds = count > 1 ? std::atof(arguments[1]) : 60;
    const uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : std::random_device{}();
    std::mt19937_64 rng(seed);
    std::printf("seed %llu, %zu instruction sets\n", static_cast<unsigned long long>(seed), tables().size());
    const auto start = std::chrono::steady_clock::now();
    unsigned long long runs = 0, size = 0;
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
        const std::string s = make(rng);
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(s.data()), s.size());
        ++runs;
        size += s.size();
    }
    std::printf("%llu inputs, %llu bytes, no fault\n", runs, size);
}
#endif
