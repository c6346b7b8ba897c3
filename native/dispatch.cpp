#include "dispatch.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_AMD64))
#include <intrin.h>
#include <immintrin.h>
#endif

namespace dejalu {

namespace baseline { const Table& table(); }
#ifdef DEJALU_HAVE_avx2
namespace avx2 { const Table& table(); }
#endif
#ifdef DEJALU_HAVE_avx512
namespace avx512 { const Table& table(); }
#endif

namespace {

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_AMD64))
struct Cpu {
    bool avx2 = false, avx512 = false;
    Cpu() {
        int r[4];
        __cpuid(r, 0);
        if (r[0] < 7) return;
        __cpuid(r, 1);
        if (!(r[2] & (1 << 27))) return;                       // OSXSAVE: XGETBV may be used
        const bool fma = r[2] & (1 << 12);
        const auto xcr = _xgetbv(0);
        __cpuidex(r, 7, 0);
        const bool ymm = (xcr & 6) == 6, zmm = (xcr & 0xe6) == 0xe6;
        avx2 = ymm && fma && (r[1] & (1 << 5)) && (r[1] & (1 << 3)) && (r[1] & (1 << 8));
        const int need = (1 << 16) | (1 << 17) | (1 << 28) | (1 << 30) | (1u << 31);   // F DQ CD BW VL
        avx512 = avx2 && zmm && (r[1] & need) == need && (r[2] & (1 << 1)) && (r[2] & (1 << 6));  // VBMI VBMI2
    }
};
bool has_avx2() { return Cpu().avx2; }
bool has_avx512() { return Cpu().avx512; }
#elif defined(__x86_64__)
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt");
}
bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}
#else
[[maybe_unused]] bool has_avx2() { return false; }
[[maybe_unused]] bool has_avx512() { return false; }
#endif

struct Choice {
    const Table* table;
    const char* names[4] = {};
    Choice() {
        const Table* can[4];
        int n = 0;
        can[n++] = &baseline::table();
#ifdef DEJALU_HAVE_avx2
        if (has_avx2()) can[n++] = &avx2::table();
#endif
#ifdef DEJALU_HAVE_avx512
        if (has_avx512()) can[n++] = &avx512::table();
#endif
        for (int i = 0; i < n; ++i) names[i] = can[i]->name;
        table = can[n - 1];
        const char* forced = std::getenv("DEJALU_ISA");
        if (forced && *forced) {
            table = nullptr;
            std::string all;
            for (int i = 0; i < n; ++i) {
                if (!std::strcmp(forced, can[i]->name)) table = can[i];
                all += std::string(i ? ", " : "") + can[i]->name;
            }
            if (!table)
                throw std::runtime_error("DEJALU_ISA=" + std::string(forced) + ": this machine and build have " + all);
        }
    }
};

const Choice& choice() {
    static const Choice c;
    return c;
}

}  // namespace

const Table& kernels() { return *choice().table; }
const char* isa() { return choice().table->name; }
const char* const* available_isas() { return choice().names; }

}  // namespace dejalu
