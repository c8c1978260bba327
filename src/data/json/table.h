#pragma once
/* table: what every user of json-c's hash tables with owned string keys needs besides linkhash.h.
 */
#include <json-c/linkhash.h>

/** The value of @key, borrowed from the table; NULL: no such key. */
void *sw_table_find(struct lh_table *table, const char *key);
/** For lh_kchar_table_new(): free an entry's key. */
void sw_table_free_key(struct lh_entry *entry);
/** For lh_kchar_table_new(): free an entry's key and its value. */
void sw_table_free_key_and_value(struct lh_entry *entry);
