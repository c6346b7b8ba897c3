// Bytes that grow without being cleared, and columns of strings in Arrow's layout (bytes and n + 1 offsets).
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace dejalu {

class Bytes {
public:
    Bytes() = default;
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;
    Bytes(Bytes&& o) noexcept : p_(o.p_), size_(o.size_), room_(o.room_) { o.p_ = nullptr; o.size_ = o.room_ = 0; }
    ~Bytes() { std::free(p_); }

    int64_t size() const { return size_; }
    uint8_t* data() { return p_; }
    uint8_t* end() { return p_ + size_; }
    void set_end(const uint8_t* end) { size_ = end - p_; }

    // Room for `more` bytes after the end; pages that are never written cost nothing.
    uint8_t* reserve(int64_t more) {
        if (room_ - size_ < more) {
            const int64_t room = std::max(size_ + more, size_ + size_ / 2);
            void* p = std::realloc(p_, static_cast<size_t>(room));
            if (!p) throw std::bad_alloc();
            p_ = static_cast<uint8_t*>(p);
            room_ = room;
            if (room >= (4 << 20)) large_pages();
        }
        return p_ + size_;
    }

    void append(const uint8_t* p, int64_t n) {
        if (n == 0) return;
        std::memcpy(reserve(n), p, static_cast<size_t>(n));
        size_ += n;
    }

    // Hands the memory over, without what was reserved in vain; free it with std::free.
    uint8_t* release() {
        void* less = std::realloc(p_, static_cast<size_t>(size_ ? size_ : 1));
        uint8_t* p = less ? static_cast<uint8_t*>(less) : p_;
        if (!p) throw std::bad_alloc();
        p_ = nullptr;
        size_ = room_ = 0;
        return p;
    }

private:
    // Asks for large pages, as numpy does: a fresh one costs a tenth of the 512 small ones that it stands for.
    void large_pages() {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        constexpr uintptr_t kPage = 4096;
        const uintptr_t from = (reinterpret_cast<uintptr_t>(p_) + kPage - 1) & ~(kPage - 1);
        const uintptr_t to = (reinterpret_cast<uintptr_t>(p_) + static_cast<uintptr_t>(room_)) & ~(kPage - 1);
        madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
    }

    uint8_t* p_ = nullptr;
    int64_t size_ = 0, room_ = 0;
};

struct StringColumn {
    Bytes data;
    std::vector<int64_t> offsets{0};
    void reopen() { data.set_end(data.data() + offsets.back()); }   // forgets what the current string holds so far
    void close() { offsets.push_back(data.size()); }           // ends the current string
};

}  // namespace dejalu
