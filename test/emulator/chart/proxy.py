"""An HTTP proxy on loopback: proxy.py PORT-FILE LOG. Whatever name is asked for, it leads to that port
of 127.0.0.1; each request's first line goes to LOG."""
import re, socket, sys, threading

def pump(a, b):
    try:
        while True:
            data = a.recv(65536)
            if not data:
                break
            b.sendall(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

def serve(client, log):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data:
            return
        head += data
    line, rest = head.split(b"\r\n", 1)
    with open(log, "ab") as f:
        f.write(line + b"\n")
    method, target, version = line.split(b" ")
    if method == b"CONNECT":
        place, first = target, None
    else:
        place, path = target.split(b"://", 1)[1].split(b"/", 1)
        rest = re.sub(rb"(?im)^(proxy-)?connection:.*\r\n", b"", rest)
        first = b" ".join((method, b"/" + path, version)) + b"\r\nConnection: close\r\n" + rest
    port = int(place.rsplit(b":", 1)[1]) if b":" in place else 80
    server = socket.create_connection(("127.0.0.1", port))
    if first is None:
        client.sendall(b"HTTP/1.1 200 connected\r\n\r\n")
    else:
        server.sendall(first)
    threading.Thread(target=pump, args=(client, server), daemon=True).start()
    pump(server, client)

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(50)
with open(sys.argv[1], "w") as f:
    f.write(str(listener.getsockname()[1]))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0], sys.argv[2]), daemon=True).start()
