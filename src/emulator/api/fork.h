#pragma once
/* fork: the sockets of a process that holds both ends of its connections, after fork(). Parent and
 * child share them: bytes that one reads are lost for the other. */

/** Replace every TCP socket by one of the child's own, in the child and while the parent waits.
 * @listening then listens at another port of its address. Connections that it has accepted contain
 * the bytes that were not read, and then end; all others have ended. The parent's sockets do not
 * change. Ends the process where the system gives it no sockets: it must not use the shared ones.
 */
void sw_fork_sockets(int listening);
