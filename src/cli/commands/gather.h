#pragma once
/* gather: what slipway gather collects, for a command that leaves it in a folder. */
#include "base/base.h"

struct sw_connection;

/** Write into the folder @dir, which is made: why the SpecialResource @name is not Ready
 * (explanation.txt), its document and objects, nodes, and of its namespaces Events, pods and all
 * logs; without what is secret, as in an archive. What could not be read is in notes.txt.
 * @return 0 | as sw_file_write(), with the path */
int sw_gather_resource(struct sw_connection *conn, const char *name, const char *dir,
                       struct sw_err *err) SW_CHECKED;
