/* Inside of the view: rows ordered by time with their index, names, and the answers to the page.
 *
 * Rows are read-only, so that each connection reads them from a thread of its own; a lock protects
 * the pointer to them.  A mutex protects the database, the store and the context. */
#ifndef TRACETTA_VIEW_VIEW_H
#define TRACETTA_VIEW_VIEW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tracetta/query.h>
#include <tracetta/view.h>

#define VIEW_BLOCK 32u           /* number of slices per block, and of blocks per node */
#define VIEW_DEPTH_MAX 512u      /* rows of one track; deeper slices are only counted */
#define VIEW_NAME_MAX 256u       /* bytes of a name on the page */
#define VIEW_NAMES_MAX 0xffffffu /* maximum name id: a box has 24 bits for the name */
#define VIEW_CONNECTIONS 16u     /* open connections */
#define VIEW_NO_ID UINT32_MAX    /* id of a track that shows several counters */
#define VIEW_OVERVIEW 1024u      /* columns of the overview */

/* --- Text of an answer (reply.c) --- */

/* A growing byte array.  If an allocation fails, `failed` is set and later appends do nothing. */
struct reply {
    char *p;
    size_t n, capacity;
    bool failed;
};

void reply_append(struct reply *reply, const void *bytes, size_t n);
void reply_print(struct reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a JSON string.  Control, bidirectional and invalid characters become U+FFFD. */
void reply_json_text(struct reply *reply, const char *text, size_t n);
/* Appends an integer: as a number up to 2^53, else as a string. */
void reply_json_int(struct reply *reply, int64_t value);
void reply_free(struct reply *reply);

/* --- Rows (rows.c) --- */

/* Slices that do not overlap, or the values of a counter.  Times are relative to the trace. */
struct view_row {
    uint64_t first; /* first item in the arrays of the view */
    uint64_t n;
    uint64_t first_block, blocks;
    uint64_t first_node, nodes; /* a node summarises VIEW_BLOCK blocks */
    uint32_t track;
    uint32_t depth;
};

enum view_kind { VIEW_THREAD, VIEW_ASYNC, VIEW_CPU, VIEW_STATE, VIEW_COUNTER };

/* A track: one or more rows with a common label. */
struct view_track {
    uint32_t first_row, rows;
    uint32_t label; /* name id */
    uint32_t group; /* name id of the group: a process, "CPUs" or "Counters" */
    uint64_t id;    /* track_id, utid or cpu of the store's tables, by `kind` */
    uint64_t items;
    uint64_t deeper;  /* slices below VIEW_DEPTH_MAX, which have no row */
    int64_t pid, tid; /* -1 = unknown */
    uint32_t utid;    /* 0 = no thread */
    uint8_t kind;     /* enum view_kind */
};

/* Longest slice of a block or node and its name; of a counter the range of its values. */
union view_summary {
    struct {
        float length;
        uint32_t name;
    };
    struct {
        float low, high;
    };
};

/* Rows and names of a store.  They never change: new ones replace them when the trace grows. */
struct view_data {
    ttr *t;
    const ttr_store *store;
    int64_t start; /* time of the first event; all other times are relative to it */
    int64_t end;   /* time of the last event, relative to `start` */
    /* items of all rows, row after row */
    /* starts of the items, relative to the start of their block; see view_block */
    uint32_t *offsets;
    uint32_t *lengths; /* lengths of the items; of a counter, the bits of its values as float */
    uint32_t *names;
    uint64_t items_n;
    /* blocks of all rows, and one more start after the last block of each row: the row's end */
    int64_t *block_starts;
    union view_summary *block_summaries;
    uint32_t *block_wides; /* index + 1 of exact times, for blocks of more than 4 s */
    uint64_t blocks_n;
    union view_summary *nodes;
    uint64_t nodes_n;
    struct view_wide {
        int64_t starts[VIEW_BLOCK], lengths[VIEW_BLOCK];
    } * wides;
    size_t wides_n, wides_capacity;
    struct view_row *rows;
    size_t rows_n, rows_capacity;
    struct view_track *tracks;
    size_t tracks_n, tracks_capacity;
    /* names, cut to VIEW_NAME_MAX bytes */
    struct view_name {
        uint32_t offset, n;
    } * texts;
    size_t texts_n, texts_capacity;
    struct reply text_bytes;
    uint32_t *name_of_text; /* name id + 1 of each text, indexed by text id of the context */
    size_t name_of_text_n;
    uint32_t overview[VIEW_OVERVIEW];
    uint32_t serial;         /* value of view->version when these rows are shown */
    uint32_t epoch;          /* name ids stay valid until the epoch changes */
    struct reply saved_head; /* part "view" of a saved store, while it is saved */
    bool is_partial;         /* more events are read */
    bool is_live;            /* the page follows the end of the trace */
};

struct ttr_view {
    struct view_data *data;
    pthread_rwlock_t data_lock; /* protects the pointer `data` */
    /* The trace that ttr_view_read reads; it makes stores of its own. */
    ttr_store *store;
    ttr_view *second;        /* view that is shown below; NULL = none */
    ttr_view *first;         /* view that serves this one; NULL = itself */
    struct reading *reading; /* the running ttr_view_read, of the thread `reader`; NULL = none */
    pthread_t reader;
    atomic_uint version; /* number of times that `data` was replaced */
    /* database of the store */
    ttr_query *query;
    /* Loads the tables of saved rows before the first statement; NULL if they are loaded already,
     * or if the rows were not saved. */
    ttr_view_load_tables load_tables;
    void *load_user_data;
    atomic_int query_waiting; /* threads that wait for query_lock */
    pthread_mutex_t query_lock;
    /* the server */
    int listener;
    uint16_t port;
    bool is_once;
    char secret[33];
    char url[96];
    pthread_mutex_t slots_lock;
    struct view_slot {
        bool is_used;
        int fd;
        int64_t idle_since; /* ms of CLOCK_MONOTONIC; 0 = it answers a request */
    } slots[VIEW_CONNECTIONS];
    atomic_int pages; /* open pages: each has a stream of events */
    atomic_bool is_stopping, had_page;
};

/* Makes the rows of a store. `names` are names of earlier rows, which keep their ids, or NULL.
 * Returns NULL if memory is exhausted. */
struct view_data *view_make_data(ttr *t, const ttr_store *store, const struct view_data *names);
void view_free_data(struct view_data *data);

/* Fills a row of n items, which follow those of the rows before it, and counts its items, blocks
 * and nodes. */
void view_place_row(struct view_data *view, struct view_row *row, uint64_t n, uint32_t track,
                    uint32_t depth);

/* --- Saved rows (saved_rows.c) --- */

/* Lists the arrays of a view as TTR_VIEW_PARTS parts, valid as long as `data`. Returns 0 if memory
 * is exhausted. */
size_t view_list_parts(struct view_data *data, ttr_store_part *parts);

/* Loads rows from the parts of a saved store. Returns NULL with TTR_E_MALFORMED if they are missing
 * or damaged, or with TTR_E_NOMEM. */
struct view_data *view_load_data(const ttr_store *store, ttr_error *error);

/* --- Tables of the store (cells.c) --- */

#define CELLS_COLUMNS 6u
#define CELLS_ROWS 1024u

/* Reads columns of a table in blocks of rows. */
struct cells {
    const ttr_store *store;
    size_t table;
    uint64_t rows; /* 0 if the table or a column is missing */
    size_t columns_n, columns[CELLS_COLUMNS];
    int64_t values[CELLS_COLUMNS][CELLS_ROWS];
};
void cells_open(struct cells *cells, const ttr_store *store, const char *table,
                const char *const *columns);

/* Reads the block of rows from `row` on; returns the number of its rows. */
size_t cells_read(struct cells *cells, uint64_t row);

/* Returns the times of an item of a row. */
void view_item(const struct view_data *view, const struct view_row *row, uint64_t i, int64_t *start,
               int64_t *length);

/* Returns the greatest block that starts at or before a time, or 0. */
uint64_t view_find_block(const struct view_data *view, const struct view_row *row, int64_t time);

/* --- Names (names.c) --- */

/* Copies names of other rows. Returns false if memory is exhausted. */
TTR_MUST bool view_copy_names(struct view_data *view, const struct view_data *from);
/* Adds a name. Returns its id; 0 if there are too many, UINT32_MAX if memory is exhausted. */
uint32_t view_add_name(struct view_data *view, const char *text, size_t n);
/* Returns the name of a text of the context, which is added at the first call; as view_add_name. */
uint32_t view_name_of(struct view_data *view, int64_t text);
ttr_text view_name(const struct view_data *view, uint32_t name);

/* --- Windows (window.c) --- */

struct view_window {
    int64_t from, to; /* ns since the start of the trace */
    uint32_t width;   /* width in pixels */
    uint64_t opened;  /* blocks of which the items were read */
};

/* Adjacent slices that are drawn as one box: x and width in 1/65535 of the window. */
struct view_box {
    uint16_t x, width;
    uint32_t name_and_folded; /* bits 0 to 23: name id; 24 to 28: log2 of the number of slices,
                                 rounded down */
};

struct view_counter_box {
    uint16_t x, width;
    float low, high;
};

/* Append the boxes of a row to a reply; return their number. */
uint32_t view_window_slices(const struct view_data *view, const struct view_row *row,
                            struct view_window *window, struct reply *out);
uint32_t view_window_counter(const struct view_data *view, const struct view_row *row,
                             struct view_window *window, struct reply *out);

/* --- Answers (answers.c, search.c, flame.c, sql.c) --- */

/* A request: path and query of its URL. */
struct request {
    const char *path, *query;        /* query: "" if there is none */
    bool (*is_cancelled)(void *ctx); /* the client closed the connection */
    void *ctx;
};

struct answer {
    int status; /* HTTP status code */
    const char *type;
    struct reply body;
};

/* Finds a parameter "key=" of a query and decodes its value. Returns false if it is missing or too
 * long. */
bool request_text(const struct request *request, const char *key, char *text, size_t size);
/* Finds a decimal parameter. Returns false if it is missing or not a number. */
bool request_int(const struct request *request, const char *key, int64_t *value);

/* Answers a request: a file of the page, or data. */
void view_answer(ttr_view *view, const struct request *request, struct answer *answer);

void view_answer_search(const struct view_data *view, const struct request *request,
                        struct answer *answer);
void view_answer_item(const struct view_data *view, const struct request *request,
                      struct answer *answer);
void view_answer_flame(const struct view_data *view, const struct request *request,
                       struct answer *answer);
void view_answer_query(ttr_view *view, const struct request *request, struct answer *answer);

/* Append the parts of answers, which a report has too. */
void view_append_info(const struct view_data *view, struct reply *out);
void view_append_track(const struct view_track *track, struct reply *out);

/* Appends rows as the page reads them: little-endian, 4 numbers (rows, boxes, microseconds, blocks
 * that were read), row ids, numbers of boxes, boxes. */
void view_append_window(const struct view_data *view, const uint32_t *rows, size_t n,
                        struct view_window *window, struct reply *out);

/* Runs one statement and appends its rows as JSON; at most `limit` rows. */
void view_append_query(ttr_view *view, const char *sql, int64_t limit,
                       const struct request *request, struct reply *out);

/* --- Reports (report_data.c) --- */

/* Appends "globalThis.tracettaReport = {...};". Returns false if memory is exhausted. */
TTR_MUST bool view_append_report(ttr_view *view, struct reply *out);

/* --- Files of the page (page.c is generated) --- */

struct page_file {
    const char *path, *type;
    const unsigned char *bytes;
    size_t n;
};
extern const struct page_file page_files[];
extern const size_t page_files_n;

/* --- The server (http.c, connection.c) --- */

/* The head of a request. */
struct http_head {
    char method[8];
    char target[16384];
    char host[256], cookie[8192], site[32]; /* "" if the line is missing */
    bool is_kept; /* keep-alive: the connection stays open after the answer */
};

/* Parses a head of n bytes that ends with an empty line. Returns false if it is invalid. */
bool http_parse_head(const char *bytes, size_t n, struct http_head *head);

/* Returns the HTTP status by method, host, origin and secret: 200, 303 (the address had the
 * secret: set the cookie), or a refusal. */
int http_check(const ttr_view *view, const struct http_head *head);

/* Accepts connections until `progress` returns false, or until the last page is closed (`once`). */
ttr_status view_accept_connections(ttr_view *view, ttr_progress progress, void *user_data,
                                   ttr_error *error);

/* Serves the connection of a slot until it ends; closes it and frees the slot. */
void http_serve_connection(ttr_view *view, struct view_slot *slot);

/* Returns the time of CLOCK_MONOTONIC in ms. */
int64_t http_now_ms(void);

void view_error(ttr_error *error, ttr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
