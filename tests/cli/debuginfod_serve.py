#!/usr/bin/env python3
"""Serves debug information by build id: usage: debuginfod_serve.py FOLDER [silent|deaf]

FOLDER/buildid/ID/debuginfo and FOLDER/buildid/ID/executable are what it has.  FOLDER/port gets the port when it listens, FOLDER/log a line for each request.
A silent one takes connections, with a line in the log for each, and says nothing.  A deaf one holds its port and takes none.
"""
import http.server
import os
import signal
import socket
import sys

FOLDER = sys.argv[1]


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=FOLDER)

    def log_message(self, *_):
        note(self.path)


def note(line):
    with open(os.path.join(FOLDER, "log"), "a", encoding="utf-8") as log:
        log.write(line + "\n")


def tell(port):
    with open(os.path.join(FOLDER, "port.new"), "w", encoding="ascii") as file:
        file.write(str(port))
    os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))


signal.alarm(1000)  # nobody needs it for so long
if len(sys.argv) > 2:
    taken = []
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    if sys.argv[2] == "silent":
        listener.listen()
    tell(listener.getsockname()[1])
    while sys.argv[2] == "silent":
        taken.append(listener.accept())
        note("taken")
    signal.pause()
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tell(server.server_address[1])
    server.serve_forever()
