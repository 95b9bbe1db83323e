/* UNIX stream sockets with paths of any length. */
#ifndef TRACETTA_DOTNET_UNIX_SOCKET_H
#define TRACETTA_DOTNET_UNIX_SOCKET_H

/* Opens a non-blocking connection to the socket at `path`. Returns a descriptor, or -1 with errno
 * set (EAGAIN if the backlog of the socket is full). */
int unix_socket_connect(const char *path);

/* Creates a listening socket at `path` with mode 0600. A socket without a server is replaced.
 * Returns a descriptor, or -1 with errno set (EADDRINUSE if the path is a served socket or another
 * kind of file). */
int unix_socket_listen(const char *path);

#endif
