/* Records its own work: reads, hashes and sorts the files below a folder with worker threads, and
 * writes what it did as an FXT and as a Heph trace in the same run.
 *
 *   usage: record_work OUT.fxt OUT.heph [FOLDER [MOST_FILES]]
 *
 * The threads share one library context, which is not thread-safe, so events are built and written
 * under a lock; the recorded work itself runs outside it. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/write.h>

#define WORKERS 2
#define FILES_MAX 100000u
#define FILE_BYTES_MAX ((size_t)4 << 20)

struct recorder {
    pthread_mutex_t lock;
    ttr *t;
    ttr_builder *event;
    ttr_writer *out[2];
    ttr_status status;
    ttr_error error;
    uint64_t pid;
};

struct file {
    char *path;
    int64_t queued_at;
    uint64_t hash;
};

struct work {
    struct recorder *recorder;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct file file[FILES_MAX];
    size_t found, taken, most;
    bool all_found;
};

struct worker {
    struct work *work;
    unsigned char *room;
    pthread_t thread;
    uint64_t tid;
};

static int64_t now(void)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_REALTIME, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* Starts an event and holds the lock until record_end, because all threads share one builder. */
static ttr_builder *record_begin(struct recorder *recorder, ttr_kind kind, int64_t time,
                                 const char *name, uint64_t tid)
{
    (void)pthread_mutex_lock(&recorder->lock);
    ttr_event_begin(recorder->event, kind, time, "work", name);
    ttr_event_set_provider(recorder->event, "record_work");
    ttr_event_set_thread(recorder->event, recorder->pid, tid);
    return recorder->event;
}

static void record_end(struct recorder *recorder)
{
    ttr_batch batch;
    if (recorder->status == TTR_OK)
        recorder->status = ttr_event_build(recorder->event, &batch, &recorder->error);
    for (int i = 0; i < 2 && recorder->status == TTR_OK; i++)
        recorder->status = ttr_write(recorder->out[i], &batch, &recorder->error);
    (void)pthread_mutex_unlock(&recorder->lock);
}

static ttr_builder *record_span(struct recorder *recorder, int64_t from, const char *name,
                                uint64_t tid)
{
    int64_t to = now();
    ttr_builder *event = record_begin(recorder, TTR_KIND_SPAN, from, name, tid);
    ttr_event_attributes(event)->duration = (uint64_t)(to - from);
    return event;
}

static void record_flow(struct recorder *recorder, ttr_kind kind, uint64_t id, uint64_t tid)
{
    ttr_event_attributes(record_begin(recorder, kind, now(), "file", tid))->link = id;
    record_end(recorder);
}

static ssize_t read_file(struct worker *worker, const struct file *file)
{
    int64_t from = now();
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, worker->room, FILE_BYTES_MAX) : -1;
    if (fd >= 0)
        (void)close(fd);
    ttr_add_int(record_span(worker->work->recorder, from, "read", worker->tid), "bytes", n);
    record_end(worker->work->recorder);
    return n;
}

static void hash_file(struct worker *worker, struct file *file, size_t n)
{
    int64_t from = now();
    uint64_t hash = 14695981039346656037u; /* FNV-1a offset basis */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ worker->room[i]) * 1099511628211u;
    file->hash = hash;
    ttr_add_uint(record_span(worker->work->recorder, from, "hash", worker->tid), "digest", hash);
    record_end(worker->work->recorder);
}

static void handle_file(struct worker *worker, size_t index)
{
    struct recorder *recorder = worker->work->recorder;
    struct file *file = &worker->work->file[index];
    int64_t from = now();
    record_flow(recorder, TTR_KIND_FLOW_END, index + 1, worker->tid);
    ssize_t n = read_file(worker, file);
    if (n >= 0) {
        hash_file(worker, file, (size_t)n);
    } else {
        ttr_builder *event = record_begin(recorder, TTR_KIND_LOG, now(), "", worker->tid);
        ttr_add_text(event, "message", "cannot read a file");
        record_end(recorder);
    }
    ttr_builder *event = record_span(recorder, from, "file", worker->tid);
    ttr_add_text(event, "path", file->path);
    ttr_add_int(event, "waited_ns", from - file->queued_at);
    record_end(recorder);
}

/* Returns the index of the next file, or SIZE_MAX when all are done. */
static size_t take_file(struct work *work, size_t *waiting)
{
    (void)pthread_mutex_lock(&work->lock);
    while (work->taken == work->found && !work->all_found)
        (void)pthread_cond_wait(&work->more, &work->lock);
    *waiting = work->found - work->taken;
    size_t index = *waiting ? work->taken++ : SIZE_MAX;
    (void)pthread_mutex_unlock(&work->lock);
    return index;
}

static void *work_until_done(void *ctx)
{
    struct worker *worker = ctx;
    size_t waiting;
    for (size_t index; (index = take_file(worker->work, &waiting)) != SIZE_MAX;) {
        ttr_builder *event =
            record_begin(worker->work->recorder, TTR_KIND_COUNTER, now(), "queue", worker->tid);
        ttr_add_uint(event, "files", waiting);
        record_end(worker->work->recorder);
        handle_file(worker, index);
    }
    return NULL;
}

static void queue_file(struct work *work, const char *path)
{
    record_flow(work->recorder, TTR_KIND_FLOW_BEGIN, work->found + 1, work->recorder->pid);
    (void)pthread_mutex_lock(&work->lock);
    struct file *file = &work->file[work->found];
    file->path = strdup(path);
    file->queued_at = now();
    work->found += file->path != NULL;
    (void)pthread_cond_signal(&work->more);
    (void)pthread_mutex_unlock(&work->lock);
}

static void find_files(struct work *work, const char *folder)
{
    int64_t from = now();
    uint64_t files = 0;
    char path[4096];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && work->found < work->most && (entry = readdir(dir));) {
        struct stat is;
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || n >= (int)sizeof path || lstat(path, &is) != 0)
            continue;
        if (S_ISDIR(is.st_mode)) {
            find_files(work, path);
        } else if (S_ISREG(is.st_mode)) {
            queue_file(work, path);
            files++;
        }
    }
    if (dir)
        (void)closedir(dir);
    ttr_builder *event = record_span(work->recorder, from, "find", work->recorder->pid);
    ttr_add_text(event, "folder", folder);
    ttr_add_uint(event, "files", files);
    record_end(work->recorder);
}

static int by_hash(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static void finish_work(struct work *work)
{
    (void)pthread_mutex_lock(&work->lock);
    work->all_found = true;
    (void)pthread_cond_broadcast(&work->more);
    (void)pthread_mutex_unlock(&work->lock);
}

static int run(struct work *work, const char *folder)
{
    static struct worker workers[WORKERS];
    struct recorder *recorder = work->recorder;
    int64_t whole = now();
    int started = 0;
    for (; started < WORKERS; started++) {
        struct worker *worker = &workers[started];
        char name[32];
        *worker = (struct worker){.work = work,
                                  .room = malloc(FILE_BYTES_MAX),
                                  .tid = recorder->pid + 1 + (uint64_t)started};
        (void)snprintf(name, sizeof name, "worker %d", started + 1);
        if (!worker->room ||
            !ttr_thread_name(recorder->t, recorder->pid, worker->tid, NULL, name) ||
            pthread_create(&worker->thread, NULL, work_until_done, worker) != 0)
            break;
    }
    if (started == WORKERS)
        find_files(work, folder);
    finish_work(work);
    for (int i = 0; i < started; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        free(workers[i].room);
    }
    int64_t from = now();
    qsort(work->file, work->found, sizeof *work->file, by_hash);
    ttr_add_uint(record_span(recorder, from, "sort", recorder->pid), "files", work->found);
    record_end(recorder);
    (void)record_span(recorder, whole, "everything", recorder->pid);
    record_end(recorder);
    for (size_t i = 0; i < work->found; i++)
        free(work->file[i].path);
    return started == WORKERS;
}

static bool open_outputs(struct recorder *recorder, char **paths)
{
    static const char *const formats[] = {"fxt", "heph"};
    static const char *const format_options[] = {"fxt.anchor=yes",
                                                 NULL}; /* the times written are Unix times */
    ttr_write_options options = {
        .size = sizeof options, .flags = TTR_WRITE_OVERWRITE, .format_options = format_options};
    recorder->pid = (uint64_t)getpid();
    recorder->t = ttr_new(NULL);
    recorder->event = recorder->t ? ttr_builder_new(recorder->t) : NULL;
    for (int i = 0; i < 2 && recorder->event; i++) {
        recorder->out[i] =
            ttr_create(recorder->t, paths[i], formats[i], &options, &recorder->error);
        if (!recorder->out[i])
            return false;
    }
    return recorder->event &&
           ttr_thread_name(recorder->t, recorder->pid, recorder->pid, "record_work", "main");
}

/* Prints the number of events in each file and the losses of its format, then finishes it. */
static void close_output(struct recorder *recorder, int i, const char *path)
{
    const ttr_loss *loss;
    if (!recorder->out[i])
        return;
    ttr_status status =
        ttr_writer_end(recorder->out[i], recorder->status == TTR_OK ? &recorder->error : NULL);
    size_t losses = ttr_losses(recorder->out[i], &loss);
    printf("%s: %" PRIu64 " events\n", path, ttr_writer_events(recorder->out[i]));
    for (; losses--; loss++)
        printf("  %" PRIu64 " %s %s\n", loss->count, loss->what, loss->rule);
    ttr_writer_abort(recorder->out[i]); /* keeps the output if it was finished already */
    recorder->status = recorder->status == TTR_OK ? status : recorder->status;
}

int main(int argc, char **argv)
{
    static struct work work;
    static struct recorder recorder;
    if (argc < 3) {
        (void)fprintf(stderr, "usage: record_work OUT.fxt OUT.heph [FOLDER [MOST_FILES]]\n");
        return 2;
    }
    work.recorder = &recorder;
    work.most = argc > 4 ? strtoul(argv[4], NULL, 10) : 3000;
    work.most = work.most < FILES_MAX ? work.most : FILES_MAX - 1;
    (void)pthread_mutex_init(&recorder.lock, NULL);
    (void)pthread_mutex_init(&work.lock, NULL);
    (void)pthread_cond_init(&work.more, NULL);
    bool good = open_outputs(&recorder, argv + 1) && run(&work, argc > 3 ? argv[3] : "/usr/share");
    for (int i = 0; i < 2; i++)
        close_output(&recorder, i, argv[1 + i]);
    ttr_builder_free(recorder.event);
    ttr_free(recorder.t);
    if (!good || recorder.status != TTR_OK)
        (void)fprintf(stderr, "record_work: %s\n",
                      recorder.error.text[0] ? recorder.error.text : "out of memory or threads");
    return !good || recorder.status != TTR_OK;
}
