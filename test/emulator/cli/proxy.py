"""proxy.py STATUS PORT-FILE: a proxy on loopback that answers each of at most 20 requests with STATUS and closes;
STATUS "close": without an answer; "hang": there is none, and the connection stays."""
import os, socket, sys

status, port_file = sys.argv[1:]
server = socket.create_server(("127.0.0.1", 0))
server.settimeout(60)
with open(port_file + ".new", "w") as f:
    f.write(str(server.getsockname()[1]))
os.rename(port_file + ".new", port_file)
open_ones = []
for _ in range(20):
    client, _ = server.accept()
    client.settimeout(5)
    client.recv(65536)
    if status == "hang":
        open_ones.append(client)
        continue
    if status != "close":
        client.sendall(f"HTTP/1.1 {status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    client.close()
