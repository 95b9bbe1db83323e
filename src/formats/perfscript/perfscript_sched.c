/* Texts of switches and wake-ups as trace-cmd prints them: its sched plugin replaces their print
 * formats.
 *
 *   sched_switch                      COMM:PID [PRIO] STATE ==> COMM:PID [PRIO]
 *   sched_wakeup, sched_wakeup_new    COMM:PID [PRIO] success=1 CPU:002
 *
 * Texts for which the event has no field are omitted. The letters of thread states are those of old
 * kernels for every kernel, as in the plugin. */
#include <tracetta/advanced.h>

#include "encodings/json/emit.h"
#include "formats/perfscript/perfscript.h"

struct words {
    const ttr *t;
    const ttr_event *event;
    struct buffer *to;
};

static bool find_sched_number(const struct words *words, const char *name, uint64_t *x)
{
    ttr_field field;
    if (!ttr_field_find(words->t, words->event, name, &field) ||
        (field.value.type != TTR_TYPE_UINT && field.value.type != TTR_TYPE_INT))
        return false;
    *x = field.value.bits ? field.value.v.u & ((UINT64_C(1) << field.value.bits) - 1)
                          : field.value.v.u;
    return true;
}

static void add_number(const struct words *words, int64_t x)
{
    char text[NUMBER_MAX];
    buffer_add(words->to, text, number_format_i64(text, x));
}

/* Appends "COMM:PID" and the priority in brackets. Returns false if the event has no field with
 * the pid. */
static bool add_sched_thread(const struct words *words, const char *comm, const char *pid,
                             const char *priority)
{
    ttr_field field;
    uint64_t x;
    if (!find_sched_number(words, pid, &x)) {
        buffer_add_byte(words->to, '!');
        return false;
    }
    if (ttr_field_find(words->t, words->event, comm, &field)) {
        buffer_add(words->to, field.value.text.p, field.value.text.n);
        buffer_add_byte(words->to, ':');
    }
    add_number(words, (int64_t)x);
    if (!find_sched_number(words, priority, &x))
        return true;
    buffer_add(words->to, " [", 2);
    add_number(words, (int32_t)(uint32_t)x);
    buffer_add_byte(words->to, ']');
    return true;
}

static void add_thread_state(const struct words *words)
{
    static const char states[] = "SDTtZXxW";
    uint64_t state;
    bool is_first = true;
    if (!find_sched_number(words, "prev_state", &state))
        return;
    buffer_add_byte(words->to, ' ');
    for (unsigned i = 0; i < sizeof states - 1; i++) {
        if (!(state >> i & 1))
            continue;
        if (!is_first)
            buffer_add_byte(words->to, '|');
        buffer_add_byte(words->to, (uint8_t)states[i]);
        is_first = false;
    }
    if (is_first)
        buffer_add_byte(words->to, 'R');
}

static void add_wakeup(const struct words *words)
{
    uint64_t x;
    if (!add_sched_thread(words, "comm", "pid", "prio"))
        return;
    if (find_sched_number(words, "success", &x)) {
        buffer_add_text(words->to, " success=");
        add_number(words, (int64_t)x);
    }
    if (!find_sched_number(words, "target_cpu", &x))
        return;
    buffer_add_text(words->to, " CPU:");
    if (x < 100)
        buffer_add_text(words->to, x < 10 ? "00" : "0");
    add_number(words, (int64_t)x);
}

static bool is_event_name(ttr_text text, const char *name)
{
    return text.n == strlen(name) && memcmp(text.p, name, text.n) == 0;
}

bool perfscript_add_sched(struct ttr_writer *out, const ttr_event *event, ttr_text name)
{
    const struct words words = {out->t, event, &out->buffer};
    bool is_switch = is_event_name(name, "sched_switch");
    if (!is_switch && !is_event_name(name, "sched_wakeup") &&
        !is_event_name(name, "sched_wakeup_new"))
        return false;
    if (!is_switch) {
        add_wakeup(&words);
        return true;
    }
    if (!add_sched_thread(&words, "prev_comm", "prev_pid", "prev_prio"))
        return true;
    add_thread_state(&words);
    buffer_add_text(words.to, " ==> ");
    (void)add_sched_thread(&words, "next_comm", "next_pid", "next_prio");
    return true;
}

/* Events that contain the name of a thread, and their fields with the thread's id and name. */
static const struct {
    const char *event, *pid, *comm;
} namers[] = {
    {"sched_switch", "next_pid", "next_comm"}, {"sched_wakeup", "pid", "comm"},
    {"sched_wakeup_new", "pid", "comm"},       {"sched_process_fork", "child_pid", "child_comm"},
    {"task_newtask", "pid", "comm"},           {"task_rename", "pid", "newcomm"},
};

bool perfscript_record_thread_name(struct pair_map *names, ttr *t, const ttr_event *event,
                                   ttr_text name)
{
    const struct words words = {t, event, NULL};
    ttr_field comm;
    uint64_t pid;
    for (size_t i = 0; i < sizeof namers / sizeof *namers; i++) {
        if (!is_event_name(name, namers[i].event) ||
            !find_sched_number(&words, namers[i].pid, &pid) || pid == 0 ||
            !ttr_field_find(t, event, namers[i].comm, &comm) ||
            pair_map_get(names, pid, event->source))
            continue;
        const ttr_id text = ttr_text_add(t, comm.value.text.p, comm.value.text.n);
        return !text || pair_map_put(names, pid, event->source, text);
    }
    return true;
}
