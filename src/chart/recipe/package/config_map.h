#pragma once
/* config_map: a ConfigMap's keys as a recipe's paths. Internal to recipe. */

/** The path in the chart of the file that @key carries; the caller's. */
char *sw_config_map_path(const char *key);
