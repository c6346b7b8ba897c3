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
inline json::Span inner(const json::Span& object, const std::string& name) {
    json::Span found, key, value;
    if (object.kind != json::kNested || *object.begin != '{') return found;
    json::Reader r{object.begin + 1, object.end, nullptr};
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
        for (const auto& n : names) {
            for (const auto& other : fields_) plain_ &= other.name != n;
            plain_ &= n.find('.') == std::string::npos;
            fields_.emplace_back(n);
        }
        direct_.resize(fields_.size());
        outer_.resize(fields_.size());
        copied_.resize(fields_.size());
        replaced_.resize(fields_.size());
    }

    Records part(const Part& part) {
        Records out;
        out.open(part, fields_.size());
        out.kind.resize(fields_.size());
        out.replaced.resize(fields_.size());
        const uint8_t *const data = part.data, *const stop = data + part.size;
        const uint8_t* const safe = part.size < 64 ? nullptr : stop - 64;
        int64_t next = 0;
        for (const uint8_t* p = data; p < stop;) {
            json::Reader r{p, stop, safe};
            r.blanks();
            const uint8_t *const begin = r.p, *newline = begin;
            const bool some = begin < stop && *begin != '\n';
            const bool given = some && (!part.wanted || (next < part.n_wanted && part.wanted[next] == out.rows));
            Status status = kGood;
            if (given) {
                status = record(r, out);
                newline = r.p;
            }
            if (status != kGood || (some && !given)) newline = scan::find(begin, stop, '\n');
            if (newline == stop && !part.final) break;
            const uint8_t* const after = newline == stop ? stop : newline + 1;
            if (given) {
                if (status != kGood) {                         // once more, inside the line: the damage may be its end
                    r.p = begin;
                    r.end = newline;
                    status = record(r, out);
                }
                ++next;
                out.row.push_back(out.rows);
                out.start.push_back(p - data);
                out.end.push_back(after - data);
                out.line.push_back(out.lines);
                out.status.push_back(status);
                out.where.push_back(status == kGood ? 0 : r.p - p);
                emit(out, status == kGood);
            }
            out.rows += some;
            ++out.lines;
            out.consumed = after - data;
            p = after;
        }
        for (auto& column : out.text) column.reopen();         // a record that had no end
        return out;
    }

private:
    // Parses one record; strings that are asked for go to their columns at once. On damage r.p is where, else the line end.
    Status record(json::Reader& r, Records& out) {
        for (size_t f = 0; f < fields_.size(); ++f) {
            direct_[f].kind = outer_[f].kind = json::kAbsent;
            copied_[f] = false;
        }
        if (*r.p != '{') return kNotObject;
        ++r.p;
        r.blanks();
        json::Span key;
        if (!r.eat('}')) {
            for (;;) {
                if (!r.key(key) || !member(r, key, out)) return kBroken;
                r.blanks();
                if (r.eat('}')) break;
                if (!r.eat(',')) return kBroken;
                r.blanks();
            }
        }
        r.blanks();
        return r.p == r.end || *r.p == '\n' ? kGood : kTrailing;
    }

    // The value of `key`, for every field that it belongs to; of equal keys the last counts.
    bool member(json::Reader& r, const json::Span& key, Records& out) {
        const size_t n = fields_.size();
        size_t f = 0;
        while (f < n && !key_is(key, fields_[f].name)) ++f;
        const bool string = r.p < r.end && *r.p == '"';
        json::Span other;
        json::Span& value = f < n ? direct_[f] : other;
        if (f < n && string) {
            out.text[f].reopen();
            bool replaced = false;
            if (!r.string_into(value, out.text[f].data, replaced)) return false;
            replaced_[f] = replaced;
        } else if (!(string ? r.string(value) : r.value(value))) {
            return false;
        }
        if (f < n) copied_[f] = string;
        if (plain_) return true;
        for (size_t g = 0; g < n; ++g) {
            if (g > f && key_is(key, fields_[g].name)) {
                direct_[g] = value;
                copied_[g] = false;
            } else if (fields_[g].path.size() > 1 && key_is(key, fields_[g].path[0])) {
                outer_[g] = value;
            }
        }
        return true;
    }

    void emit(Records& out, bool good) {
        for (size_t f = 0; f < fields_.size(); ++f) {
            if (good && copied_[f]) {
                out.text[f].close();
                out.kind[f].push_back(json::kString);
                out.replaced[f].push_back(replaced_[f]);
                continue;
            }
            json::Span s = direct_[f];
            if (s.kind == json::kAbsent && fields_[f].path.size() > 1) {
                s = outer_[f];
                for (size_t i = 1; i < fields_[f].path.size() && s.kind != json::kAbsent; ++i)
                    s = inner(s, fields_[f].path[i]);
            }
            if (!good) s.kind = json::kAbsent;
            bool replaced = false;
            out.text[f].reopen();                              // what was copied before the damage, or of an earlier key
            if (s.kind > json::kNull) replaced = json::append(s, out.text[f].data);
            out.text[f].close();
            out.kind[f].push_back(s.kind);
            out.replaced[f].push_back(replaced);
        }
    }

    std::vector<Field> fields_;
    bool plain_ = true;                                        // no key belongs to two fields, none has dots
    std::vector<json::Span> direct_, outer_;
    std::vector<uint8_t> copied_, replaced_;                   // per field: its text is in its column; with U+FFFD in it
};

}  // namespace dejalu::jsonl
