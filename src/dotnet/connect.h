/* Sockets of the file system, whose paths may be longer than an address can hold. */
#ifndef TRACETTA_DOTNET_CONNECT_H
#define TRACETTA_DOTNET_CONNECT_H

/* Connects to the socket at `path` without waiting: a descriptor, or -1 with errno (EAGAIN: too
 * many wait already). */
int connect_to(const char *path);

/* Makes a socket at `path`, for its user alone, that others connect to: a descriptor, or -1 with
 * errno (EADDRINUSE: there is a file, and it is no socket that nobody serves any more). */
int connect_serve(const char *path);

#endif
