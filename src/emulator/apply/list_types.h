#pragma once
/* list_types: how the fields of a document are owned and merged: one by one, as a whole, or by the
 * keys of a list's elements. For custom resources the schema defines it (x-kubernetes-list-type
 * and the like), for the built-in kinds a table of names. Source: the listType, mapType and
 * structType notes of Kubernetes' API reference. */
#include "emulator/store/store.h"

/** How a value is merged. */
enum sw_list_type {
    SW_LIST_TYPE_GRANULAR, /* a map, field by field */
    SW_LIST_TYPE_ATOMIC,   /* a scalar, or anything that is replaced as a whole */
    SW_LIST_TYPE_MAP_LIST, /* a list of maps that are identified by keys */
    SW_LIST_TYPE_SET_LIST, /* a list of distinct scalars */
};

/** The most keys that elements of a map list have, and a NULL. */
enum { SW_LIST_TYPE_KEYS = 4 };

/** A place in a document's type. Copied freely; borrows names and schema. */
struct sw_cursor {
    const struct sw_emu_kind *kind;
    json_object *schema; /* custom resources; NULL: not declared */
    const char *parent, *name;
    bool in_meta;
};

/** How the value at a place is merged. */
struct sw_list_type_info {
    enum sw_list_type type;
    const char *keys[SW_LIST_TYPE_KEYS]; /* of a map list, ended by NULL, sorted */
};

/** The place of a whole document. */
struct sw_cursor sw_cursor_root(const struct sw_emu_kind *kind, const char *version);
/** The place of a field of the map at @at. */
struct sw_cursor sw_cursor_field(const struct sw_cursor *at, const char *name);
/** The place of each element of the list at @list. */
struct sw_cursor sw_cursor_item(const struct sw_cursor *list);
/** The type of @value there. */
struct sw_list_type_info sw_cursor_list_type(const struct sw_cursor *at, json_object *value);
/** The value of a list element's key, with its default; borrowed, NULL: missing. */
json_object *sw_list_type_key(json_object *item, const char *key);
