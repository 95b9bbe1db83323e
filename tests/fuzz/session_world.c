/* See the header. */
#include "fuzz/session_world.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dotnet/ipc.h"

enum {
    FD_LISTENER = 1 << 20, /* a number above all descriptors of the system */
    FD_WAKE,
    FD_LINK,
    LINKS_MAX = 256,
    PIECES_MAX = 8192,
    SAID_MAX = 1 << 20,
    CALLS_MAX = 400000,
    CALLS_PER_BYTE = 8,  /* a peer may say one byte at a time */
    PATIENCE_MS = 120000 /* exceeds every time limit of the command */
};

/* The bytes up to `end` arrive this long after the connection was made. */
struct piece {
    uint64_t after_ms;
    size_t end;
};

struct link {
    size_t first, n; /* pieces of this connection */
    size_t at;       /* bytes read so far */
    uint64_t begun_ms, end_ms;
    enum say end;
    bool is_open;
    uint8_t head[IPC_HEADER_SIZE]; /* header of the command that was received */
    size_t sent;
};

static struct {
    struct buffer said;
    struct piece piece[PIECES_MAX];
    struct link link[LINKS_MAX];
    size_t pieces_n, links_n, next;         /* next: index of the next connection */
    uint64_t now_us, interrupt_ms, last_ms; /* last: time after which nothing can arrive */
    size_t most, calls;
    bool is_listening, is_here;
    struct alloc heap;
    atomic_size_t held, peak;
} world;

const struct alloc *__real_alloc_default(void);
int __real_close(int fd);
int __real_poll(struct pollfd *fds, nfds_t n, int limit_ms);
ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __real_send(int fd, const void *bytes, size_t n, int flags);

const struct alloc *__wrap_alloc_default(void);
int __wrap_close(int fd);
int __wrap_poll(struct pollfd *fds, nfds_t n, int limit_ms);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *n, int flags);
int __wrap_unix_socket_connect(const char *path);
int __wrap_unix_socket_listen(const char *path);
uint64_t __wrap_socket_now_ms(void);
uint64_t __wrap_progress_now(void);
int __wrap_interrupt_was_received(void);
int __wrap_interrupt_get_wake_fd(void);

/* --- Scripts --- */

static void end_piece(struct link *link, uint64_t after_ms)
{
    bool is_empty = link->n && world.piece[link->first + link->n - 1].end == world.said.n;
    if (world.pieces_n == PIECES_MAX || is_empty || (!link->n && link->at == world.said.n))
        return;
    world.piece[world.pieces_n++] = (struct piece){after_ms, world.said.n};
    link->n++;
}

static void say_answer(unsigned size, uint8_t command)
{
    static const uint8_t magic[14] = "DOTNET_IPC_V1";
    const uint8_t rest[] = {(uint8_t)size, (uint8_t)(size >> 8), IPC_SERVER, command, 0, 0};
    buffer_add(&world.said, magic, sizeof magic);
    buffer_add(&world.said, rest, sizeof rest);
}

static void say_who(uint8_t cookie)
{
    uint8_t who[IPC_ADVERTISE_SIZE] = "ADVR_V1";
    memset(who + 8, cookie, 16);
    who[24] = cookie;
    buffer_add(&world.said, who, sizeof who);
}

static void say_error(uint8_t which)
{
    static const uint32_t results[] = {IPC_UNKNOWN_COMMAND,
                                       IPC_NOT_SUPPORTED,
                                       IPC_BAD_ENCODING,
                                       IPC_UNKNOWN_MAGIC,
                                       IPC_FAIL,
                                       IPC_INVALID_ARGUMENT,
                                       7};
    uint8_t result[4];
    store_u32le(result, results[which % (sizeof results / sizeof *results)]);
    say_answer(IPC_HEADER_SIZE + 4, 0xff);
    buffer_add(&world.said, result, 4);
}

/* Runs a word of a script that has a value. */
static void say(enum say word, uint8_t value, uint8_t value2)
{
    uint8_t session[8] = {value};
    const size_t back = world.said.n < 64 ? world.said.n : 64;
    switch (word) {
    case SAY_FINE:
        say_answer(IPC_HEADER_SIZE + 8, 0);
        buffer_add(&world.said, session, 8);
        break;
    case SAY_ERROR:
        say_error(value);
        break;
    case SAY_HEAD:
        say_answer((unsigned)value | (unsigned)value2 << 8, 0);
        break;
    case SAY_WHO:
        say_who(value);
        break;
    case SAY_ZEROS:
        buffer_add_zeros(&world.said, (size_t)value * 16);
        break;
    case SAY_AGAIN:
        for (unsigned i = 0; i < value && back && world.said.n < SAID_MAX; i++) {
            uint8_t last[64];
            memcpy(last, world.said.bytes + world.said.n - back, back);
            buffer_add(&world.said, last, back);
        }
        break;
    default:
        break;
    }
}

/* Parses one connection of a script. Returns the offset of the next one. */
static size_t read_link(struct link *link, const uint8_t *script, size_t n, size_t at)
{
    uint64_t after_ms = 0;
    *link = (struct link){.first = world.pieces_n, .at = world.said.n, .end = SAY_CLOSE};
    while (at < n && world.said.n < SAID_MAX) {
        const uint8_t word = script[at++], value = at < n ? script[at] : 0,
                      value2 = at + 1 < n ? script[at + 1] : 0;
        const size_t literal = word < n - at ? word : n - at;
        if (word < SAY_CLOSE) {
            buffer_add(&world.said, script + at, literal);
            at += literal;
        } else if (word <= SAY_BUSY) {
            link->end = (enum say)word;
            break;
        } else if (word == SAY_WAIT || word > SAY_AGAIN) {
            end_piece(link, after_ms);
            after_ms += word == SAY_WAIT ? value * 50u : 1;
            at += word == SAY_WAIT;
        } else {
            say((enum say)word, value, value2);
            at += word == SAY_HEAD ? 2 : 1;
        }
    }
    end_piece(link, after_ms);
    link->end_ms = after_ms;
    return at;
}

static void *resize(void *ctx, void *old, size_t old_size, size_t new_size)
{
    const struct alloc *real = __real_alloc_default();
    void *block = real->resize(real->ctx, old, old_size, new_size);
    (void)ctx;
    if (new_size > 0 && !block)
        return NULL;
    size_t held = atomic_fetch_add(&world.held, new_size - (old ? old_size : 0)) + new_size -
                  (old ? old_size : 0);
    if (held > atomic_load(&world.peak))
        atomic_store(&world.peak, held);
    return block;
}

void world_begin(const uint8_t *script, size_t n, uint64_t interrupt_ms, size_t piece)
{
    memset(&world, 0, sizeof world);
    buffer_init(&world.said, __real_alloc_default());
    world.heap = (struct alloc){.resize = resize};
    world.interrupt_ms = interrupt_ms;
    world.most = piece ? piece : SIZE_MAX;
    for (size_t at = 0; at < n && world.links_n < LINKS_MAX;)
        at = read_link(&world.link[world.links_n++], script, n, at);
    world.is_here = true;
}

void world_begin_stream(const uint8_t *stream, size_t n, uint64_t interrupt_ms)
{
    static const uint8_t begin[] = {SAY_FINE, 1, SAY_WAIT, 1},
                         end[] = {SAY_CLOSE, SAY_FINE, 1, SAY_CLOSE};
    struct buffer script;
    buffer_init(&script, __real_alloc_default());
    buffer_add(&script, begin, sizeof begin);
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = n - at < 100 ? n - at : 100;
        const uint8_t word = (uint8_t)piece, wait = 0xff;
        buffer_add(&script, &word, 1);
        buffer_add(&script, stream + at, piece);
        buffer_add(&script, &wait, 1);
    }
    buffer_add(&script, end, sizeof end);
    world_begin(script.bytes, script.n, interrupt_ms, 0);
    buffer_free(&script);
}

void world_end(size_t n)
{
    const uint64_t now = world.now_us / 1000;
    world.is_here = false;
    if (world.is_listening)
        fuzz_stop("a socket is still served");
    for (size_t i = 0; i < world.links_n; i++)
        if (world.link[i].is_open)
            fuzz_stop("a connection was left open");
    if (world.held)
        fuzz_stop("memory was not given back");
    if (world.peak > FUZZ_MEMORY_BASE + FUZZ_MEMORY_PER_BYTE * (n + world.said.n))
        fuzz_stop("memory runs out of proportion");
    if (now >
        PATIENCE_MS + (world.last_ms > world.interrupt_ms ? world.last_ms : world.interrupt_ms))
        fuzz_stop("it went on for long after the last that could come");
    buffer_free(&world.said);
}

/* --- Replaced system calls --- */

const struct alloc *__wrap_alloc_default(void)
{
    return world.is_here ? &world.heap : __real_alloc_default();
}

/* Returns the time. Aborts if the code reads the clock again and again without waiting. */
static uint64_t now_ms(void)
{
    if (++world.calls > CALLS_MAX + CALLS_PER_BYTE * world.said.n)
        fuzz_stop("it asks again and again, and does not end");
    return world.now_us / 1000;
}

uint64_t __wrap_socket_now_ms(void)
{
    return now_ms();
}

uint64_t __wrap_progress_now(void)
{
    return now_ms() * 1000000;
}

int __wrap_interrupt_was_received(void)
{
    return now_ms() >= world.interrupt_ms;
}

int __wrap_interrupt_get_wake_fd(void)
{
    return FD_WAKE;
}

static struct link *link_of(int fd)
{
    return fd >= FD_LINK && fd < FD_LINK + (int)world.links_n ? &world.link[fd - FD_LINK] : NULL;
}

/* Returns how many bytes have arrived and are unread. */
static size_t ready(const struct link *link)
{
    size_t end = link->at;
    for (size_t i = link->first; i < link->first + link->n &&
                                 link->begun_ms + world.piece[i].after_ms <= world.now_us / 1000;
         i++)
        end = world.piece[i].end;
    return end > link->at ? end - link->at : 0;
}

static bool has_ended(const struct link *link, enum say how)
{
    return link->end == how && world.now_us / 1000 >= link->begun_ms + link->end_ms;
}

static int open_next(void)
{
    struct link *link = &world.link[world.next];
    link->is_open = true;
    link->begun_ms = now_ms();
    if (link->begun_ms + link->end_ms > world.last_ms)
        world.last_ms = link->begun_ms + link->end_ms;
    return FD_LINK + (int)world.next++;
}

int __wrap_unix_socket_connect(const char *path)
{
    (void)path;
    const enum say end = world.next < world.links_n ? world.link[world.next].end : SAY_REFUSED;
    if (end != SAY_REFUSED && end != SAY_BUSY)
        return open_next();
    world.next += world.next < world.links_n;
    errno = end == SAY_BUSY ? EAGAIN : ECONNREFUSED;
    return -1;
}

int __wrap_unix_socket_listen(const char *path)
{
    (void)path;
    world.is_listening = true;
    return FD_LISTENER;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *n, int flags)
{
    (void)fd;
    (void)address;
    (void)n;
    (void)flags;
    if (world.next < world.links_n)
        return open_next();
    errno = EAGAIN;
    return -1;
}

ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
    struct link *link = link_of(fd);
    if (!link)
        return __real_recv(fd, to, n, flags);
    if (!link->is_open)
        fuzz_stop("a connection is read that is none");
    size_t there = ready(link);
    (void)now_ms();
    if (has_ended(link, SAY_RESET)) {
        errno = ECONNRESET;
        return -1;
    }
    if (there == 0 && has_ended(link, SAY_CLOSE))
        return 0;
    if (there == 0) {
        errno = EAGAIN;
        return -1;
    }
    there = there < n ? there : n;
    there = there < world.most ? there : world.most;
    memcpy(to, world.said.bytes + link->at, there);
    link->at += there;
    return (ssize_t)there;
}

/* Checks the bytes sent: one complete command per connection, and no further bytes. */
static void look_at(struct link *link, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n && link->sent + i < sizeof link->head; i++)
        link->head[link->sent + i] = bytes[i];
    link->sent += n;
    const size_t whole = link->sent < 16 ? SIZE_MAX : load_u16le(link->head + 14);
    if (whole < IPC_HEADER_SIZE || link->sent > whole)
        fuzz_stop("what is sent is no command, or more than one");
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
    struct link *link = link_of(fd);
    if (!link)
        return __real_send(fd, bytes, n, flags);
    (void)now_ms();
    if (has_ended(link, SAY_RESET) || has_ended(link, SAY_CLOSE)) {
        errno = EPIPE;
        return -1;
    }
    n = n < world.most ? n : world.most;
    look_at(link, bytes, n);
    return (ssize_t)n;
}

int __wrap_close(int fd)
{
    struct link *link = link_of(fd);
    if (fd == FD_LISTENER)
        world.is_listening = false;
    if (link && !link->is_open)
        fuzz_stop("a connection is closed twice");
    if (link)
        link->is_open = false;
    return link || fd == FD_LISTENER ? 0 : __real_close(fd);
}

/* Returns the poll events of a descriptor at the current time. Lowers *next to the time of its next
 * event. */
static short events_of(const struct pollfd *wait, uint64_t *next_ms)
{
    const struct link *link = link_of(wait->fd);
    const uint64_t now = world.now_us / 1000;
    if (wait->fd == FD_WAKE) {
        *next_ms = world.interrupt_ms < *next_ms ? world.interrupt_ms : *next_ms;
        return now >= world.interrupt_ms ? POLLIN : 0;
    }
    if (wait->fd == FD_LISTENER)
        return world.next < world.links_n ? POLLIN : 0;
    if (!link)
        return 0;
    for (size_t i = link->first; i < link->first + link->n; i++)
        if (link->begun_ms + world.piece[i].after_ms > now &&
            link->begun_ms + world.piece[i].after_ms < *next_ms)
            *next_ms = link->begun_ms + world.piece[i].after_ms;
    if (link->begun_ms + link->end_ms > now && link->begun_ms + link->end_ms < *next_ms)
        *next_ms = link->begun_ms + link->end_ms;
    const bool is_over = has_ended(link, SAY_RESET) || has_ended(link, SAY_CLOSE);
    return (short)(wait->events & ((ready(link) || is_over ? POLLIN : 0) | POLLOUT));
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int limit_ms)
{
    const uint64_t until = limit_ms < 0 ? UINT64_MAX : now_ms() + (uint64_t)limit_ms;
    uint64_t next = until;
    int count = 0;
    for (nfds_t i = 0; i < n; i++)
        if (fds[i].fd >= 0 && fds[i].fd < FD_LISTENER)
            return __real_poll(fds, n, 0);
    for (;;) {
        for (nfds_t i = 0; i < n; i++) {
            fds[i].revents = events_of(&fds[i], &next);
            count += fds[i].revents != 0;
        }
        if (count || next == UINT64_MAX || world.now_us / 1000 >= until)
            return count;
        world.now_us = next * 1000;
        next = until;
    }
}
