// CSV (RFC 4180, read kindly): from a block of bytes to records, their damage, and the text of the columns asked for.
//
// A record ends at LF or CRLF outside quotes. A field that begins with a quote runs to its closing quote, "" being a
// quote; what follows the closing quote is kept as it stands. A quote elsewhere is a character. An empty line is no record.
#pragma once
#include <cstdint>
#include <vector>

#include "formats.hpp"
#include "scan.hpp"

namespace dejalu::csv {

class Extractor {
public:
    // columns: places of the fields wanted; expected: number of fields of a good record, or -1 for any.
    Extractor(uint8_t delimiter, const int64_t* columns, int64_t n, int64_t expected)
        : delimiter_(delimiter), expected_(expected), spans_(static_cast<size_t>(n)) {
        for (int64_t i = 0; i < n; ++i) {
            const auto c = static_cast<size_t>(columns[i]);
            if (slot_.size() <= c) slot_.resize(c + 1, -1);
            slot_[c] = static_cast<int>(i);
        }
    }

    Records part(const Part& part) {
        Records out;
        out.open(part, spans_.size());
        const uint8_t* const data = part.data;
        stop_ = data + part.size;
        int64_t next = 0;
        for (const uint8_t* begin = data; begin < stop_;) {
            p_ = begin;
            if (*p_ == '\n' || (*p_ == '\r' && stop_ - p_ > 1 && p_[1] == '\n')) {
                p_ += *p_ == '\n' ? 1 : 2;                     // an empty line
                ++out.lines;
            } else {
                for (auto& s : spans_) s = {};
                newlines_ = 0;
                const int64_t count = record();
                if (count < 0 && !part.final) break;
                if (!part.wanted || (next < part.n_wanted && part.wanted[next] == out.rows)) {
                    ++next;
                    out.row.push_back(out.rows);
                    out.start.push_back(begin - data);
                    out.end.push_back(p_ - data);
                    out.line.push_back(out.lines);
                    const int64_t fields = count < 0 ? ~count : count;
                    out.fields.push_back(fields);
                    out.status.push_back(unclosed_ ? kUnclosed
                                         : expected_ >= 0 && fields != expected_ ? kWrongCount : kGood);
                    emit(out);
                }
                ++out.rows;
                out.lines += newlines_ + 1;
            }
            out.consumed = p_ - data;
            begin = p_;
        }
        return out;
    }

private:
    // A field: what lay between quotes, and what followed (an unquoted field has only the latter).
    struct Span {
        const uint8_t *quoted = nullptr, *quoted_end = nullptr, *plain = nullptr, *plain_end = nullptr;
        bool doubled = false;
    };

    // Reads one record from p_ and leaves p_ behind its line end. Returns its number of fields, or the complement of
    // that number where the bytes ended before a line end did.
    int64_t record() {
        unclosed_ = false;
        for (int64_t field = 0;; ++field) {
            Span s;
            if (p_ < stop_ && *p_ == '"') {
                s.quoted = ++p_;
                for (;;) {
                    const uint8_t* const quote = scan::find(p_, stop_, '"');
                    if (quote == stop_) {
                        s.quoted_end = p_ = stop_;
                        unclosed_ = true;
                        newlines_ += scan::count(s.quoted, stop_, '\n');
                        return ~(field + 1);
                    }
                    p_ = quote + 1;
                    if (p_ == stop_ || *p_ != '"') {
                        s.quoted_end = quote;
                        break;
                    }
                    s.doubled = true;
                    ++p_;
                }
                newlines_ += scan::count(s.quoted, s.quoted_end, '\n');
            }
            s.plain = p_;
            p_ = scan::find_either(p_, stop_, delimiter_, '\n');
            s.plain_end = p_;
            const bool at_end = p_ == stop_, at_line = !at_end && *p_ == '\n';
            if (at_line && s.plain_end > s.plain && s.plain_end[-1] == '\r') --s.plain_end;
            if (static_cast<size_t>(field) < slot_.size() && slot_[static_cast<size_t>(field)] >= 0)
                spans_[static_cast<size_t>(slot_[static_cast<size_t>(field)])] = s;
            if (at_end) return ~(field + 1);
            ++p_;
            if (at_line) return field + 1;
        }
    }

    void emit(Records& out) {
        const bool good = out.status.back() == kGood;
        for (size_t f = 0; f < spans_.size(); ++f) {
            const Span& s = spans_[f];
            Bytes& to = out.text[f].data;
            if (good && s.quoted) {
                if (!s.doubled) to.append(s.quoted, s.quoted_end - s.quoted);
                else undouble(s.quoted, s.quoted_end, to);
            }
            if (good && s.plain) to.append(s.plain, s.plain_end - s.plain);
            out.text[f].close();
        }
    }

    static void undouble(const uint8_t* p, const uint8_t* end, Bytes& to) {
        while (p < end) {
            const uint8_t* const quote = scan::find(p, end, '"');
            to.append(p, quote - p);
            if (quote == end) break;
            to.append(quote, 1);
            p = quote + 2;
        }
    }

    uint8_t delimiter_;
    int64_t expected_;
    std::vector<int> slot_;                                    // field number → place in spans_, or -1
    std::vector<Span> spans_;
    const uint8_t *p_ = nullptr, *stop_ = nullptr;
    int64_t newlines_ = 0;                                     // inside quotes, in the current record
    bool unclosed_ = false;
};

}  // namespace dejalu::csv
