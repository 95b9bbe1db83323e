#!/usr/bin/python3
"""Carries connections to a port of the loopback and cuts the first ones.

usage: live_proxy.py PORT BYTES...

Prints its own port.  The first connection is cut when the first number of bytes have come back from PORT, the second one at the second
number, and so on; later ones live as long as both ends do.
"""
import socket
import sys
import threading


def carry(source, target, limit):
    """Copies bytes until either end closes or the limit is reached; then both are closed."""
    try:
        while limit is None or limit > 0:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data if limit is None else data[:limit])
            limit = None if limit is None else limit - len(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    port, limits = int(sys.argv[1]), [int(word) for word in sys.argv[2:]]
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=carry, args=(client, server, None), daemon=True).start()
        threading.Thread(target=carry, args=(server, client, limits.pop(0) if limits else None), daemon=True).start()


main()
