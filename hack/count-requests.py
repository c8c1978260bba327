#!/usr/bin/env python3
"""count-requests.py TARGET-PORT PORT-FILE COUNT-FILE: hands plain HTTP/1.1 on to 127.0.0.1:TARGET-PORT, and keeps in COUNT-FILE
how many requests went through: "all writes". Its own port, of 127.0.0.1, is in PORT-FILE. Until it is ended. A client sends a
request when it has the answer to the one before, so each begins where a read does."""
import os, re, socket, sys, threading

target, port_file, count_file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
request = re.compile(rb"(GET|HEAD|POST|PUT|PATCH|DELETE) \S+ HTTP/1\.1\r\n")
lock, counts = threading.Lock(), [0, 0]


def count(method):
    with lock:
        counts[0] += 1
        counts[1] += method not in (b"GET", b"HEAD")
        with open(count_file + ".new", "w") as f:
            f.write(f"{counts[0]} {counts[1]}\n")
        os.replace(count_file + ".new", count_file)


def hand_on(source, to, counted):
    try:
        while data := source.recv(65536):
            if counted and (m := request.match(data)):
                count(m.group(1))
            to.sendall(data)
    except OSError:
        pass
    for s in (source, to):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    try:
        server = socket.create_connection(("127.0.0.1", target))
    except OSError:
        client.close()
        return
    for s in (client, server):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=hand_on, args=(client, server, True), daemon=True).start()
    hand_on(server, client, False)
    client.close(), server.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
with open(port_file + ".new", "w") as f:
    f.write(f"{listener.getsockname()[1]}\n")
os.replace(port_file + ".new", port_file)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
