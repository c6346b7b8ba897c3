// Threads that do one job after the other together. What a thread throws reaches the caller.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace dejalu {

class Crew {
  public:
    // The caller is one of them. Where the system gives fewer threads than asked for, those it gave do the work.
    explicit Crew(int64_t threads) {
        try {
            for (int64_t t = 1; t < threads; ++t) threads_.emplace_back([this, t] { serve(static_cast<size_t>(t)); });
        } catch (const std::system_error&) {
        } catch (...) {
            dismiss();
            throw;
        }
    }
    ~Crew() { dismiss(); }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    size_t size() const { return threads_.size() + 1; }

    // Calls job(worker) once for every worker 0 … size() - 1 at the same time.
    void run(const std::function<void(size_t)>& job) {
        if (!threads_.empty()) {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            busy_ = threads_.size();
            ++round_;
            begin_.notify_all();
        }
        attempt(job, 0);
        std::unique_lock lock(mutex_);
        end_.wait(lock, [this] { return busy_ == 0; });
        if (const std::exception_ptr e = std::exchange(error_, nullptr)) std::rethrow_exception(e);
    }

    // Calls job(worker, first, last) for stretches of 0 … n - 1, each once; whoever is free takes the next.
    template <class Job>
    void share(size_t n, size_t stretch, Job job) {
        if (threads_.empty() || n <= stretch) {
            if (n != 0) job(size_t{0}, size_t{0}, n);
            return;
        }
        std::atomic<size_t> next{0};
        run([&](size_t worker) {
            for (;;) {
                const size_t first = next.fetch_add(stretch);
                if (first >= n) return;
                try {
                    job(worker, first, std::min(first + stretch, n));
                } catch (...) {
                    next = n;                                    // the others need not go on
                    throw;
                }
            }
        });
    }

  private:
    void attempt(const std::function<void(size_t)>& job, size_t worker) {
        try {
            job(worker);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
        }
    }

    void serve(size_t worker) {
        for (size_t seen = 0;;) {
            const std::function<void(size_t)>* job;
            {
                std::unique_lock lock(mutex_);
                begin_.wait(lock, [&] { return round_ != seen || done_; });
                if (done_) return;
                seen = round_;
                job = job_;
            }
            attempt(*job, worker);
            const std::lock_guard lock(mutex_);
            if (--busy_ == 0) end_.notify_one();
        }
    }

    void dismiss() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
            begin_.notify_all();
        }
        for (std::thread& t : threads_) t.join();
    }

    std::mutex mutex_;
    std::condition_variable begin_, end_;
    const std::function<void(size_t)>* job_ = nullptr;
    std::exception_ptr error_;
    size_t round_ = 0, busy_ = 0;
    bool done_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace dejalu
