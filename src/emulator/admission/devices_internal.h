#pragma once
/* devices_internal: what the files of devices share. */
#include "emulator/admission/devices.h"

#include "data/data.h"

/** Refuse a @list of more than @most items. */
void sw_device_too_many(json_object *list, size_t most, const char *field,
                        struct sw_field_errors *e);
/** The name of the item at index @i of @list, which is at @at: a DNS label. */
void sw_device_check_name(json_object *list, size_t i, const char *at, struct sw_field_errors *e);
/** No two items of @list, which is at @path, have one value of @key. */
void sw_device_check_unique(json_object *list, const char *key, const char *path,
                            struct sw_field_errors *e);
/** Add the errors of the status of a ResourceClaim. */
void sw_device_status_check(struct sw_write *w, struct sw_field_errors *e);
