"""Hostile clients of "query --serve".  usage: serve_attack.py SOCKET KIND

Exits with 0 if the server closed the connection, or still waits, as it should.
"""
import array
import os
import socket
import struct
import sys

path, kind = sys.argv[1:]
SQL = b"SELECT 1 x"


def head(magic=b"TTRQ", version=1, flags=0, format_n=0, sql_n=len(SQL)):
    return struct.pack("=4sIIIII", magic, version, flags, format_n, sql_n, 0)


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.settimeout(30)
    return client


def send(client, data, fds=(1, 2)):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    client.sendmsg([data], rights)


def is_closed(client):
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


client = connect()
if kind == "silent":  # keeps its connection open while others ask
    send(client, head()[:7])
    print("waiting", flush=True)
    sys.stdin.read()
    sys.exit(0)
elif kind == "magic":
    send(client, head(magic=b"GET "))
elif kind == "version":
    send(client, head(version=7))
elif kind == "large":
    send(client, head(sql_n=0xffffffff))
elif kind == "empty":
    send(client, head(sql_n=0))
elif kind == "format":
    send(client, head(format_n=4000))
elif kind == "no_descriptors":
    send(client, head() + SQL, fds=())
elif kind == "many_descriptors":
    send(client, head(), fds=(1, 2, 1, 2, 1, 2))
elif kind == "too_many_descriptors":
    send(client, head(), fds=(1, 2) * 30)
elif kind == "second_descriptors":
    send(client, head())
    send(client, SQL, fds=(1, 2))
elif kind == "many":  # more connections than the server keeps
    clients = [connect() for _ in range(40)]
    sys.exit(0 if sum(is_closed(other) for other in clients[20:]) >= 20 else 1)
elif kind == "stuck":  # reads nothing of a large answer
    reader, writer = os.pipe()
    sql = b"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT i FROM n"
    send(client, head(format_n=3, sql_n=len(sql)) + b"csv" + sql, fds=(writer, writer))
    print("waiting", flush=True)
    sys.stdin.read()
    sys.exit(0)
sys.exit(0 if is_closed(client) else 1)
