#include "data/json/table.h"

#include <stdlib.h>

void *sw_table_find(struct lh_table *table, const char *key)
{
    void *value;
    return lh_table_lookup_ex(table, key, &value) ? value : NULL;
}

void sw_table_free_key(struct lh_entry *entry)
{
    free(lh_entry_k(entry));
}

void sw_table_free_key_and_value(struct lh_entry *entry)
{
    free(lh_entry_k(entry));
    free(lh_entry_v(entry));
}
