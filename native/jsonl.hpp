// JSON lines: from a block of bytes to records, their damage, and the text of the fields asked for.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "formats.hpp"
#include "json_value.hpp"

namespace dejalu::jsonl {

// A field: a key of the record, or, when its name has dots and the record has no such key, a path through objects.
struct Field {
    std::string name;
    std::vector<std::string> path;
    explicit Field(std::string n) : name(std::move(n)) {
        size_t from = 0;
        for (size_t dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1)
            path.push_back(name.substr(from, dot - from));
        path.push_back(name.substr(from));
    }
};

inline bool key_is(const json::Span& key, const std::string& name) {
    if (!key.escaped)
        return key.end - key.begin == static_cast<int64_t>(name.size()) &&
               std::memcmp(key.begin, name.data(), name.size()) == 0;
    Bytes plain;
    json::append(key, plain);
    return plain.size() == static_cast<int64_t>(name.size()) &&
           std::memcmp(plain.data(), name.data(), name.size()) == 0;
}

// The last value of `name` in a checked object; kAbsent if there is none, or if it is no object.
inline json::Span member(const json::Span& object, const std::string& name) {
    json::Span found, key, value;
    if (object.kind != json::kNested || *object.begin != '{') return found;
    json::Reader r{object.begin + 1, object.end};
    for (r.blanks(); r.p < r.end && *r.p != '}'; r.blanks()) {
        r.eat(',');
        r.blanks();
        if (!r.key(key) || !r.value(value)) break;
        if (key_is(key, name)) found = value;
    }
    return found;
}

class Extractor {
public:
    explicit Extractor(const std::vector<std::string>& names) {
        for (const auto& n : names) fields_.emplace_back(n);
        direct_.resize(fields_.size());
        outer_.resize(fields_.size());
    }

    Records part(const Part& part) {
        Records out;
        out.open(part, fields_.size());
        out.kind.resize(fields_.size());
        out.replaced.resize(fields_.size());
        const uint8_t *const data = part.data, *const stop = data + part.size;
        int64_t next = 0;
        for (const uint8_t* p = data; p < stop;) {
            const uint8_t* const newline = scan::find(p, stop, '\n');
            if (newline == stop && !part.final) break;
            const uint8_t* const after = newline == stop ? stop : newline + 1;
            json::Reader r{p, newline};
            r.blanks();
            if (r.p < newline) {
                if (!part.wanted || (next < part.n_wanted && part.wanted[next] == out.rows)) {
                    ++next;
                    out.row.push_back(out.rows);
                    out.start.push_back(p - data);
                    out.end.push_back(after - data);
                    out.line.push_back(out.lines);
                    out.status.push_back(record(r));
                    out.where.push_back(out.status.back() == kGood ? 0 : r.p - p);
                    emit(out);
                }
                ++out.rows;
            }
            ++out.lines;
            out.consumed = after - data;
            p = after;
        }
        return out;
    }

private:
    // Parses one record; on damage r.p is where.
    Status record(json::Reader& r) {
        for (auto& s : direct_) s.kind = json::kAbsent;
        for (auto& s : outer_) s.kind = json::kAbsent;
        if (*r.p != '{') return kNotObject;
        ++r.p;
        r.blanks();
        json::Span key, value;
        if (!r.eat('}')) {
            for (;;) {
                if (!r.key(key) || !r.value(value)) return kBroken;
                for (size_t f = 0; f < fields_.size(); ++f) {
                    if (key_is(key, fields_[f].name)) direct_[f] = value;
                    else if (fields_[f].path.size() > 1 && key_is(key, fields_[f].path[0])) outer_[f] = value;
                }
                r.blanks();
                if (r.eat('}')) break;
                if (!r.eat(',')) return kBroken;
                r.blanks();
            }
        }
        r.blanks();
        return r.p == r.end ? kGood : kTrailing;
    }

    void emit(Records& out) {
        const bool good = out.status.back() == kGood;
        for (size_t f = 0; f < fields_.size(); ++f) {
            json::Span s = direct_[f];
            if (s.kind == json::kAbsent && fields_[f].path.size() > 1) {
                s = outer_[f];
                for (size_t i = 1; i < fields_[f].path.size() && s.kind != json::kAbsent; ++i)
                    s = member(s, fields_[f].path[i]);
            }
            if (!good) s.kind = json::kAbsent;
            bool replaced = false;
            if (s.kind > json::kNull) replaced = json::append(s, out.text[f].data);
            out.text[f].close();
            out.kind[f].push_back(s.kind);
            out.replaced[f].push_back(replaced);
        }
    }

    std::vector<Field> fields_;
    std::vector<json::Span> direct_, outer_;
};

}  // namespace dejalu::jsonl
