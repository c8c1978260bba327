#include "emulator/api/fork.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"

enum { BACKLOG = 128, MAX_UNREAD = 1024 * 1024 /* bytes, or less where the system's limit is */ };

static int option(int fd, int name)
{
    int value = -1;
    socklen_t len = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : -1;
}

static struct sockaddr_storage address_of(int fd)
{
    struct sockaddr_storage ss = { 0 };
    socklen_t len = sizeof ss;
    (void)getsockname(fd, (struct sockaddr *)&ss, &len);
    return ss;
}

/* The port of an IPv4 or IPv6 address: both have it at the same offset. */
static in_port_t *port_of(struct sockaddr_storage *ss)
{
    _Static_assert(offsetof(struct sockaddr_in, sin_port) ==
                       offsetof(struct sockaddr_in6, sin6_port),
                   "the port's place");
    return &((struct sockaddr_in *)ss)->sin_port;
}

static _Noreturn void give_up(const char *what)
{
    perror(what);
    abort();
}

/* Give the number @fd to the socket @fresh, which is taken. */
static void replace(int fd, int fresh)
{
    if (fresh < 0 || dup3(fresh, fd, O_CLOEXEC) < 0)
        give_up("no socket for a child");
    (void)close(fresh);
}

/* Copy the unread bytes of @from to @to. */
static void copy_unread(int from, int to)
{
    int len = 0, room = MAX_UNREAD;
    if (ioctl(from, FIONREAD, &len) < 0)
        give_up("FIONREAD");
    if (len == 0)
        return;
    char *bytes = sw_alloc((size_t)len);
    if (setsockopt(to, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) < 0 ||
        recv(from, bytes, (size_t)len, MSG_PEEK | MSG_DONTWAIT) != len ||
        write(to, bytes, (size_t)len) != len)
        give_up("a child cannot copy the unread bytes of a connection");
    free(bytes);
}

void sw_fork_sockets(int listening)
{
    struct sockaddr_storage address = address_of(listening);
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        give_up("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(dir));) {
        int fd = (int)strtol(entry->d_name, NULL, 10); /* of "." and "..": 0, which is no socket */
        int domain = option(fd, SO_DOMAIN), pair[2];
        if (fd == listening || (domain != AF_INET && domain != AF_INET6) ||
            option(fd, SO_TYPE) != SOCK_STREAM)
            continue;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
            give_up("no socket for a child");
        struct sockaddr_storage ss = address_of(fd);
        if (*port_of(&ss) == *port_of(&address)) /* the server's side */
            copy_unread(fd, pair[1]);
        (void)close(pair[1]);
        replace(fd, pair[0]);
    }
    (void)closedir(dir);
    *port_of(&address) = 0;
    socklen_t len = address.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                  : sizeof(struct sockaddr_in);
    replace(listening, socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (bind(listening, (struct sockaddr *)&address, len) < 0 || listen(listening, BACKLOG) < 0)
        give_up("cannot listen in a child");
}
