#include "emulator/formats/protobuf.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "data/data.h"
#include "data/text/base64.h"
#include "data/text/utf8.h"
#include "emulator/formats/protobuf_table.h"

enum { MAX_DEPTH = 64 };
enum wire { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* The bytes that are left to read. */
struct input {
    const uint8_t *at, *end;
    int depth;
    struct sw_err *err;
};

/* One encoded field. */
struct raw {
    unsigned number; /* 0: the field is missing */
    enum wire wire;
    uint64_t n;         /* of the numeric types */
    struct input bytes; /* of WIRE_BYTES */
};

static int broken(struct input *in, const char *what)
{
    return sw_err_set(in->err, SW_INVALID, "not protobuf: %s", what);
}

/* ---- the encoding ------------------------------------------------------------------------------
 */

static int read_varint(struct input *in, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end)
            return broken(in, "a number is cut off");
        uint8_t byte = *in->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return 0;
    }
    return broken(in, "a number is too long");
}

static int read_fixed(struct input *in, size_t n, uint64_t *out)
{
    if ((size_t)(in->end - in->at) < n)
        return broken(in, "a number is cut off");
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out |= (uint64_t)in->at[i] << (8 * i);
    in->at += n;
    return 0;
}

static int read_raw(struct input *in, struct raw *f)
{
    uint64_t tag;
    int rc = read_varint(in, &tag);
    if (rc < 0)
        return rc;
    *f = (struct raw){ .number = (unsigned)(tag >> 3), .wire = (enum wire)(tag & 7) };
    switch (f->wire) {
    case WIRE_VARINT:
        return read_varint(in, &f->n);
    case WIRE_64:
        return read_fixed(in, 8, &f->n);
    case WIRE_32:
        return read_fixed(in, 4, &f->n);
    case WIRE_BYTES:
        rc = read_varint(in, &f->n);
        if (rc == 0 && f->n > (uint64_t)(in->end - in->at))
            rc = broken(in, "a field is cut off");
        if (rc < 0)
            return rc;
        f->bytes = (struct input){ in->at, in->at + f->n, in->depth + 1, in->err };
        in->at += f->n;
        return f->bytes.depth > MAX_DEPTH ? broken(in, "it is nested too deep") : 0;
    default:
        return broken(in, "a field of no known form");
    }
}

/* The last field @number of a small message, zeroed where it has none. */
static int find_raw(struct input in, unsigned number, struct raw *out)
{
    *out = (struct raw){ 0 };
    while (in.at < in.end) {
        struct raw f;
        int rc = read_raw(&in, &f);
        if (rc < 0)
            return rc;
        if (f.number == number)
            *out = f;
    }
    return 0;
}

static int text_of(const struct raw *f, json_object **out, struct input *in)
{
    const char *text = (const char *)f->bytes.at;
    size_t len = f->number ? (size_t)(f->bytes.end - f->bytes.at) : 0;
    if (len && !sw_utf8_valid(text, len))
        return broken(in, "a text is not UTF-8");
    *out = json_object_new_string_len(len ? text : "", (int)len);
    return 0;
}

/* ---- values ------------------------------------------------------------------------------------
 */

static int read_message(struct input in, const struct sw_protobuf_message *message,
                        json_object *doc);

static int read_quantity(const struct raw *f, json_object **out)
{
    struct raw text;
    struct input in = f->bytes;
    int rc = find_raw(in, 1, &text);
    if (rc < 0)
        return rc;
    if (text.bytes.at != text.bytes.end)
        return text_of(&text, out, &in);
    *out = json_object_new_string("0");
    return 0;
}

static int read_int_or_string(const struct raw *f, json_object **out)
{
    struct raw type, number, text;
    struct input in = f->bytes;
    int rc = find_raw(in, 1, &type);
    rc = rc < 0 ? rc : find_raw(in, 2, &number);
    rc = rc < 0 ? rc : find_raw(in, 3, &text);
    if (rc < 0)
        return rc;
    if (type.n)
        return text_of(&text, out, &in);
    *out = json_object_new_int64((int64_t)number.n);
    return 0;
}

/* Seconds and nanoseconds; without both, @out is not set. */
static int read_time(const struct raw *f, bool micro, json_object **out)
{
    struct raw seconds, nanos;
    char text[21];
    int rc = find_raw(f->bytes, 1, &seconds);
    rc = rc < 0 ? rc : find_raw(f->bytes, 2, &nanos);
    if (rc < 0 || (!seconds.number && !nanos.number))
        return rc;
    struct input in = f->bytes;
    if ((int64_t)seconds.n < 0 || seconds.n > 253402300799 || nanos.n >= 1000000000)
        return broken(&in, "a time before 1970 or after 9999");
    sw_time_rfc3339((int64_t)seconds.n * 1000, text);
    SW_AUTO_CHARS *with = micro ? sw_printf("%.19s.%06" PRIu64 "Z", text, nanos.n / 1000) : NULL;
    *out = json_object_new_string(with ? with : text);
    return 0;
}

static int read_json(const struct raw *f, json_object **out)
{
    struct raw bytes;
    int rc = find_raw(f->bytes, 1, &bytes);
    if (rc < 0 || bytes.bytes.at == bytes.bytes.end)
        return rc;
    const struct sw_json_opts opts = { .max_depth = 256 };
    return sw_json_parse((const char *)bytes.bytes.at, (size_t)(bytes.bytes.end - bytes.bytes.at),
                         &opts, out, f->bytes.err);
}

static enum wire wire_of(const struct sw_protobuf_field *field)
{
    switch ((enum sw_protobuf_type)field->type) {
    case SW_PB_BOOL:
    case SW_PB_INT:
        return WIRE_VARINT;
    case SW_PB_DOUBLE:
        return WIRE_64;
    default:
        return WIRE_BYTES;
    }
}

/* Read one value. *@out is NULL where the value is left out. */
static int read_value(const struct raw *f, const struct sw_protobuf_field *field, struct input *in,
                      json_object **out)
{
    size_t len;
    double number;
    SW_AUTO_CHARS *base64 = NULL;
    *out = NULL;
    if (f->wire != wire_of(field))
        return sw_err_set(in->err, SW_INVALID, "not protobuf: field '%s' is of another form",
                          field->name);
    switch ((enum sw_protobuf_type)field->type) {
    case SW_PB_BOOL:
        *out = json_object_new_boolean(f->n != 0);
        return 0;
    case SW_PB_INT:
        *out = json_object_new_int64((int64_t)f->n);
        return 0;
    case SW_PB_DOUBLE:
        memcpy(&number, &f->n, sizeof number);
        *out = json_object_new_double(number);
        return 0;
    case SW_PB_STRING:
        return text_of(f, out, in);
    case SW_PB_BYTES:
        base64 = sw_base64_encode((const char *)f->bytes.at, (size_t)(f->bytes.end - f->bytes.at),
                                  &len);
        *out = json_object_new_string_len(base64, (int)len);
        return 0;
    case SW_PB_QUANTITY:
        return read_quantity(f, out);
    case SW_PB_INT_OR_STRING:
        return read_int_or_string(f, out);
    case SW_PB_TIME:
        return read_time(f, false, out);
    case SW_PB_MICRO_TIME:
        return read_time(f, true, out);
    case SW_PB_RAW:
        return read_json(f, out);
    case SW_PB_MESSAGE:
        *out = json_object_new_object();
        return read_message(f->bytes, sw_protobuf_message(field->message), *out);
    }
    return 0;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static bool is_zero(json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_boolean:
        return !json_object_get_boolean(value);
    case json_type_int:
        return json_object_get_int64(value) == 0;
    case json_type_string:
        return json_object_get_string_len(value) == 0;
    default:
        return false;
    }
}

/* A list of strings that is the value of a map is a message with one field. */
static int read_texts(const struct raw *f, json_object **out)
{
    static const struct sw_protobuf_field items[] = { { 1, SW_PB_STRING, SW_PB_REPEATED, 0,
                                                        "items" } };
    static const struct sw_protobuf_message texts = { items, 1 };
    SW_AUTO_JSON *doc = json_object_new_object();
    int rc = read_message(f->bytes, &texts, doc);
    *out = rc < 0 ? NULL : json_object_get(sw_json_need_list(doc, "items", NULL));
    return rc;
}

/* Read an entry of a map. */
static int read_entry(const struct raw *f, const struct sw_protobuf_field *field, json_object *map)
{
    struct raw key, value;
    struct input in = f->bytes;
    SW_AUTO_JSON *name = NULL;
    json_object *out = NULL;
    int rc = find_raw(in, 1, &key);
    rc = rc < 0 ? rc : find_raw(in, 2, &value);
    rc = rc < 0 ? rc : text_of(&key, &name, &in);
    if (rc < 0)
        return rc;
    if (!value.number)
        value.wire = wire_of(field);
    rc = field->flags & SW_PB_REPEATED ? read_texts(&value, &out)
                                       : read_value(&value, field, &in, &out);
    if (rc < 0)
        json_object_put(out);
    else
        (void)json_object_object_add(map, json_object_get_string(name), out);
    return rc;
}

static int read_element(const struct raw *f, const struct sw_protobuf_field *field,
                        struct input *in, json_object *list)
{
    json_object *value;
    int rc = read_value(f, field, in, &value);
    if (rc < 0)
        json_object_put(value);
    else
        (void)json_object_array_add(list, value);
    return rc;
}

/* Read the numbers of a packed list, which are all in one field. */
static int read_packed(struct input in, const struct sw_protobuf_field *field, json_object *list)
{
    while (in.at < in.end) {
        struct raw f = { .number = field->number, .wire = wire_of(field) };
        int rc = f.wire == WIRE_64 ? read_fixed(&in, 8, &f.n) : read_varint(&in, &f.n);
        rc = rc < 0 ? rc : read_element(&f, field, &in, list);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_field(const struct raw *f, const struct sw_protobuf_field *field, struct input *in,
                      json_object *doc)
{
    if (f->wire == WIRE_BYTES && field->flags & SW_PB_MAP)
        return read_entry(f, field, sw_json_need_map(doc, field->name, NULL));
    if (field->flags & SW_PB_REPEATED) {
        json_object *list = sw_json_need_list(doc, field->name, NULL);
        bool packed = f->wire == WIRE_BYTES && wire_of(field) != WIRE_BYTES;
        return packed ? read_packed(f->bytes, field, list) : read_element(f, field, in, list);
    }
    if (field->flags & SW_PB_INLINE && field->type == SW_PB_MESSAGE && f->wire == WIRE_BYTES)
        return read_message(f->bytes, sw_protobuf_message(field->message), doc);
    json_object *value;
    int rc = read_value(f, field, in, &value);
    bool omit = field->flags & SW_PB_OMIT && !(field->flags & SW_PB_POINTER) && is_zero(value);
    if (rc < 0 || omit || !value)
        json_object_put(value);
    else
        (void)json_object_object_add(doc, field->name, value);
    return rc;
}

static int read_message(struct input in, const struct sw_protobuf_message *message,
                        json_object *doc)
{
    while (in.at < in.end) {
        struct raw f;
        int rc = read_raw(&in, &f);
        for (size_t i = 0; rc == 0 && i < message->n_fields; i++)
            if (message->fields[i].number == f.number)
                rc = read_field(&f, &message->fields[i], &in, doc);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- the envelope ------------------------------------------------------------------------------
 */

static const struct sw_protobuf_message *find_kind(const char *api_version, const char *kind)
{
    size_t n;
    const struct sw_protobuf_kind *kinds = sw_protobuf_kinds(&n);
    bool any_group = sw_streq(kind, "DeleteOptions"); /* every group has this kind */
    for (size_t i = 0; i < n; i++)
        if (sw_streq(kinds[i].kind, kind) &&
            (any_group || sw_streq(kinds[i].api_version, api_version)))
            return kinds[i].message;
    return NULL;
}

int sw_protobuf_read(const char *bytes, size_t len, json_object **out, struct sw_err *err)
{
    static const char magic[4] = "k8s";
    struct input in = { (const uint8_t *)bytes, (const uint8_t *)bytes + len, 0, err };
    struct raw type, body, api_version, kind;
    SW_AUTO_JSON *doc = json_object_new_object();
    json_object *text = NULL;
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return broken(&in, "it does not begin as Kubernetes' does");
    in.at += sizeof magic;
    int rc = find_raw(in, 1, &type);
    rc = rc < 0 ? rc : find_raw(in, 2, &body);
    rc = rc < 0 ? rc : find_raw(type.bytes, 1, &api_version);
    rc = rc < 0 ? rc : find_raw(type.bytes, 2, &kind);
    rc = rc < 0 ? rc : text_of(&api_version, &text, &in);
    if (rc == 0)
        (void)json_object_object_add(doc, "apiVersion", text);
    rc = rc < 0 ? rc : text_of(&kind, &text, &in);
    if (rc < 0)
        return rc;
    (void)json_object_object_add(doc, "kind", text);
    const struct sw_protobuf_message *message = find_kind(sw_obj_api_version(doc),
                                                          sw_obj_kind(doc));
    if (!message)
        return sw_err_set(err, SW_NOTFOUND, "%s, Kind=%s has no form as protobuf here",
                          sw_obj_api_version(doc), sw_obj_kind(doc));
    rc = read_message(body.bytes, message, doc);
    if (rc == 0)
        *out = SW_TAKE(doc);
    return rc;
}
