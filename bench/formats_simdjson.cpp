// simdjson as a yardstick for bench/formats.py: two fields of JSON lines into Arrow-shaped columns, three ways.
//
// Built against the amalgamation (simdjson.h, simdjson.cpp), for this machine alone, which is the best case for it.
#include <cstring>
#include <string_view>

#include "simdjson.h"
#include "simdjson.cpp"

namespace {

using namespace simdjson;

struct Column {
    uint8_t* data;
    int64_t* ends;
    uint8_t* to = nullptr;
};

constexpr size_t kBatch = 16 << 20;                            // bytes that simdjson indexes at once

// The two fields and nothing else: escapes and values of the others are not looked at.
int64_t two_fields(const uint8_t* data, size_t size, Column* c) {
    static ondemand::parser parser;
    ondemand::document_stream lines;
    int64_t n = 0, bad = 0;
    if (parser.iterate_many(data, size, kBatch).get(lines)) return -1;
    for (auto line : lines) {
        ondemand::object object;
        ondemand::raw_json_string id, text;
        if (line.get_object().get(object) || object.find_field("id").get_raw_json_string().get(id) ||
            parser.unescape(id, c[0].to, true).error() || object.find_field("text").get_raw_json_string().get(text) ||
            parser.unescape(text, c[1].to, true).error())
            ++bad;
        c[0].ends[n] = c[0].to - c[0].data;
        c[1].ends[n++] = c[1].to - c[1].data;
    }
    return bad ? -1 : n;
}

// The two fields; every other string is unescaped too, and the object is walked to its end: flat records are then checked.
int64_t every_field(const uint8_t* data, size_t size, Column* c) {
    static ondemand::parser parser;
    static uint8_t spare[kBatch];
    ondemand::document_stream lines;
    int64_t n = 0, bad = 0;
    if (parser.iterate_many(data, size, kBatch).get(lines)) return -1;
    for (auto line : lines) {
        ondemand::object object;
        if (line.get_object().get(object)) ++bad;
        for (auto field : object) {
            std::string_view key;
            ondemand::raw_json_string value;
            if (field.unescaped_key().get(key) || field.value().get_raw_json_string().get(value)) {
                ++bad;
                continue;
            }
            uint8_t* rest = spare;
            uint8_t*& to = key == "id" ? c[0].to : key == "text" ? c[1].to : rest;
            if (parser.unescape(value, to, true).error()) ++bad;
        }
        c[0].ends[n] = c[0].to - c[0].data;
        c[1].ends[n++] = c[1].to - c[1].data;
    }
    return bad ? -1 : n;
}

// The DOM: everything is checked and put on a tape, then the two fields are copied.
int64_t dom_fields(const uint8_t* data, size_t size, Column* c) {
    static dom::parser parser;
    dom::document_stream lines;
    int64_t n = 0, bad = 0;
    if (parser.parse_many(data, size, kBatch).get(lines)) return -1;
    for (auto line : lines) {
        std::string_view found[2];
        if (line["id"].get_string().get(found[0]) || line["text"].get_string().get(found[1])) ++bad;
        for (int f = 0; f < 2; ++f) {
            std::memcpy(c[f].to, found[f].data(), found[f].size());
            c[f].to += found[f].size();
            c[f].ends[n] = c[f].to - c[f].data;
        }
        ++n;
    }
    return bad ? -1 : n;
}

}  // namespace

// data has SIMDJSON_PADDING bytes after size; id and text have room for size + 64 bytes each. Gives records, or -1.
extern "C" int64_t run(int way, const uint8_t* data, int64_t size, uint8_t* id, int64_t* id_ends, uint8_t* text,
                       int64_t* text_ends) {
    Column c[2] = {{id, id_ends, id}, {text, text_ends, text}};
    const auto n = static_cast<size_t>(size);
    return way == 0 ? two_fields(data, n, c) : way == 1 ? every_field(data, n, c) : dom_fields(data, n, c);
}

extern "C" const char* version() {
    static const std::string name = std::string(SIMDJSON_VERSION) + " " + builtin_implementation()->name();
    return name.c_str();
}
