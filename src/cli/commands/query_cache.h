/* The saved store of a session: a question that it answers does not read the trace. */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_CACHE_H
#define TRACETTA_CLI_COMMANDS_QUERY_CACHE_H

#include <stdbool.h>

struct query_session;

/* Loads the saved store of the session's inputs, if it has the tables and columns of `options`.
 * If it lacks some, the session will fill those that it has too. Returns false if the trace must be
 * read. */
bool query_cache_load(struct query_session *session);

/* Saves the store of the session, which was read completely, if that pays. */
void query_cache_save(struct query_session *session);

void query_cache_close(struct query_session *session);

#endif
