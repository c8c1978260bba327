#pragma once
/* gate: an object of the cluster that must be ready before anything is offered to kubelet: any
 * object, any condition. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** Watch the gate's object and set @p's open and shut_again. Without a gate in the options @p is
 * open and @out stays NULL. @return 0 | SW_INVALID (the options) */
int dp_gate_new(struct sw_device_plugin *p, struct dp_gate **out, struct sw_err *err);
/** NULL is accepted. */
void dp_gate_free(struct dp_gate *g);
/** What is waited for, for people; borrowed until the next event. NULL is accepted. */
const char *dp_gate_text(const struct dp_gate *g);
