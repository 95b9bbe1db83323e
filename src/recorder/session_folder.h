/* Folders of sessions: where a manager creates its socket, and controllers find it.
 *
 *   $XDG_RUNTIME_DIR/tracetta-PID-XXXXXX/socket      (or /tmp)
 *
 * A folder belongs to its user, who alone may enter it. */
#ifndef TRACETTA_RECORDER_SESSION_FOLDER_H
#define TRACETTA_RECORDER_SESSION_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tracetta/error.h>

#define SESSION_SOCKET_MAX 108u

/* Makes a folder for this process. Stores the path of the socket in it. */
ttr_status session_folder_make(char socket[SESSION_SOCKET_MAX], ttr_error *error);

/* Removes the folder of a socket. */
void session_folder_remove(const char *socket);

/* Connects to a socket of this user or of root. Returns the descriptor, or -1 with errno. */
int session_connect(const char *socket);

/* Calls `visit` with each socket of this user and the process that made it, until `visit` returns
 * false. Folders that other users could enter are skipped. */
void session_folders_visit(bool (*visit)(void *ctx, uint64_t pid, const char *socket), void *ctx);

#endif
