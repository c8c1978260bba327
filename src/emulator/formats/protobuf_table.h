#pragma once
/* protobuf_table: what hack/protobuf-table.py has written of the built-in kinds. */
#include <stddef.h>
#include <stdint.h>

/** The type of a field, where JSON and protobuf differ by it. */
enum sw_protobuf_type {
    SW_PB_BOOL,
    SW_PB_INT,
    SW_PB_DOUBLE,
    SW_PB_STRING,
    SW_PB_BYTES,
    SW_PB_MESSAGE,
    SW_PB_QUANTITY,
    SW_PB_INT_OR_STRING,
    SW_PB_TIME,
    SW_PB_MICRO_TIME,
    SW_PB_RAW, /* JSON as bytes */
};

/** More about a field. */
enum sw_protobuf_flags {
    SW_PB_REPEATED = 1,
    SW_PB_MAP = 2,
    SW_PB_POINTER = 4, /* on the wire only where it was set: then a zero means something */
    SW_PB_OMIT = 8,    /* not in JSON where it is zero ("omitempty") */
    SW_PB_INLINE = 16, /* its fields are the message's own in JSON */
};

/** A field of a message. */
struct sw_protobuf_field {
    uint16_t number;
    uint8_t type, flags;
    uint16_t message; /* of SW_PB_MESSAGE */
    const char *name; /* in JSON */
};

/** Fields by their numbers. */
struct sw_protobuf_message {
    const struct sw_protobuf_field *fields;
    size_t n_fields;
};

/** The message of a kind. */
struct sw_protobuf_kind {
    const char *api_version, *kind;
    const struct sw_protobuf_message *message;
};

/** The message of this number, as sw_protobuf_field.message has it; static. */
const struct sw_protobuf_message *sw_protobuf_message(unsigned number);
/** All kinds, *@n of them; static. */
const struct sw_protobuf_kind *sw_protobuf_kinds(size_t *n);
