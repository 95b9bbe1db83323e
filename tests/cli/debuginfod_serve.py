#!/usr/bin/env python3
"""Serves debug information by build id: usage: debuginfod_serve.py FOLDER [silent]

FOLDER/buildid/ID/debuginfo and FOLDER/buildid/ID/executable are what it has.  FOLDER/port gets the port when it listens, FOLDER/log a line for each request.
A silent one takes connections and says nothing.
"""
import http.server
import os
import socket
import sys
import time

FOLDER = sys.argv[1]


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=FOLDER)

    def log_message(self, *_):
        with open(os.path.join(FOLDER, "log"), "a", encoding="utf-8") as log:
            log.write(self.path + "\n")


def tell(port):
    with open(os.path.join(FOLDER, "port.new"), "w", encoding="ascii") as file:
        file.write(str(port))
    os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))


if len(sys.argv) > 2:
    listener = socket.create_server(("127.0.0.1", 0))
    tell(listener.getsockname()[1])
    time.sleep(120)
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tell(server.server_address[1])
    server.serve_forever()
