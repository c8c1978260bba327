#pragma once
/* leader: whether an operator works on the cluster. */
#include "base/base.h"

struct sw_connection;

/** The Lease of the operator; the name is SRO's: while one image replaces the other, only one of
 * them is the leader. */
#define SW_OPERATOR_LEASE "b6ae617b.openshift.io"

/** Who holds that Lease, in any namespace, or where those cannot be listed in the operator's:
 * "NAMESPACE/IDENTITY", the caller's. NULL: nobody, as far as that can be read. A holder that has
 * not renewed it for twice its duration, by this machine's clock, is gone. An operator without
 * --leader-elect holds none. */
char *sw_leader_find(struct sw_connection *conn);
