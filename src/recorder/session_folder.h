/* Folders of sessions: where a manager creates its socket, and controllers find it.
 *
 *   $XDG_RUNTIME_DIR/tracetta-PID-XXXXXX/socket      (or /tmp)
 *
 * A folder belongs to its user, who alone may enter it. Its manager holds a lock of it (flock),
 * which the kernel releases when the manager dies. A process that then gets it may remove the
 * folder. */
#ifndef TRACETTA_RECORDER_SESSION_FOLDER_H
#define TRACETTA_RECORDER_SESSION_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tracetta/error.h>

#define SESSION_SOCKET_MAX 108u

/* Makes a folder for this process. Stores the path of its socket, and a descriptor that holds the
 * lock until it is closed. */
ttr_status session_folder_make(char socket[SESSION_SOCKET_MAX], int *lock_fd, ttr_error *error);

/* Removes the folder of a socket. */
void session_folder_remove(const char *socket);

/* Removes a socket and its folder, unless the manager that made them is alive. */
void session_folder_remove_dead(const char *socket);

/* Removes the folders of this user that killed managers have left. */
void session_folders_clean(void);

/* Connects to a socket of this user or of root. Returns the descriptor, or -1 with errno. */
int session_connect(const char *socket);

/* Calls `visit` with each socket of this user and the process that made it, until `visit` returns
 * false. Folders that other users could enter are skipped. */
void session_folders_visit(bool (*visit)(void *ctx, uint64_t pid, const char *socket), void *ctx);

#endif
