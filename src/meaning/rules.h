/* Rules: tables that state what well-known events mean. A file per world defines its table.
 *
 * A rule applies to a class of events if the world, the name and all required fields match. Fields
 * are then resolved once for the class (rule_compile.h). */
#ifndef TRACETTA_MEANING_RULES_H
#define TRACETTA_MEANING_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Worlds: which tracer made the events. A bit set. */
#define RULE_LTTNG 1u      /* LTTng's kernel tracer, CTF */
#define RULE_TRACEPOINT 2u /* ftrace and perf; names may have a prefix "system:" */
#define RULE_UST 4u        /* LTTng-UST; names have a prefix "provider:" */
#define RULE_DOTNET 8u     /* .NET event sources, nettrace */
#define RULE_USER 128u     /* any tracer: a rule of the caller */
#define RULE_KERNEL (RULE_LTTNG | RULE_TRACEPOINT)

#define RULE_FIELDS_MAX 5u
#define RULE_NAME_MAX 128u /* bytes of a name or pattern, with the final zero */

enum rule_action {
    RULE_NOTHING = 0,
    /* A comment lists the fields that the action reads. Scheduling: outgoing tid, incoming tid,
     * state, name of the incoming and outgoing thread. */
    RULE_SWITCH,
    RULE_WAKE,      /* tid, target CPU, name */
    RULE_WAKE_LATE, /* as RULE_WAKE, unless the trace has earlier records of the same wake-ups */
    RULE_WAKE_NEW,  /* as RULE_WAKE, of a new thread */
    /* threads: each record names or ends one */
    RULE_FORK,     /* tid of the child, its name, tid of the parent, its process */
    RULE_EXEC,     /* tid, its tid before, path of the program */
    RULE_RENAME,   /* tid, name */
    RULE_EXIT,     /* tid of the thread that ends */
    RULE_FREE,     /* tid that may be reused from now on */
    RULE_SNAPSHOT, /* a thread that exists: tid, process, name, namespace level, parent */
    RULE_NAME,     /* an address of the event's process, its name */
    /* system calls of the running thread */
    RULE_CALL_BEGIN, /* number, if the name of the event does not name the call */
    RULE_CALL_END,   /* number, as above */
    /* spans: the fields identify the span among those of its lane */
    RULE_BEGIN,
    RULE_END,
    RULE_ASYNC_BEGIN,
    RULE_ASYNC_END,
    /* a counter: the series first, then the field that distinguishes counters of one name */
    RULE_COUNTER,
    /* a counter with its name in the event. Fields, at any nesting depth: name, value, and the
     * field that distinguishes counters of one name */
    RULE_NAMED_COUNTER,
    /* mutexes: the mutex, and a status that is 0 for success */
    RULE_LOCK,   /* the thread waited for the mutex, and holds it from now on */
    RULE_UNLOCK, /* the thread holds it no longer */
    /* flows: a number that begin and end share, and 0 if the end did not happen */
    RULE_FLOW_BEGIN,
    RULE_FLOW_END,
    RULE_BEGIN_OF_FLOW /* as RULE_BEGIN, and the end of a flow of the group and process */
};

enum rule_lane {
    RULE_LANE_THREAD, /* spans of the thread nest */
    RULE_LANE_CPU,    /* spans nest on a track of the CPU */
    RULE_LANE_KEYED,  /* async spans: the thread is part of the key */
    RULE_LANE_PROCESS /* async spans, flows: the process is part of the key */
};

struct rule {
    const char *events; /* names or globs with one `*`, separated by `|` */
    const char *system; /* system of the kernel that the name must have, if it has any; or NULL */
    uint8_t worlds;
    uint8_t action; /* enum rule_action */
    uint8_t lane;   /* enum rule_lane */
    uint16_t group; /* spans: number that the rules for begin and end share */
    /* alternatives are separated by `|`; a name after `?` is optional */
    const char *fields[RULE_FIELDS_MAX];
    /* name of the span or counter: a text; "*": the part of the event's name that `*` matches;
     * "=FIELD": the text of a field, or its number; "#softirq": name of the softirq number in the
     * first field; NULL: the event's name */
    const char *name;
    const char *category; /* NULL = the event's category */
};

/* A rule of the caller. */
struct user_rule {
    struct rule rule;
    bool is_used; /* an event matched */
};

struct rule_table {
    const char *title; /* heading of the table in the documentation */
    const struct rule *rule;
    size_t n;
};

/* Returns the i-th table; NULL after the last. */
const struct rule_table *rule_get_table(size_t i);

extern const struct rule_table linux_kernel_rules;
extern const struct rule_table lttng_ust_rules;
extern const struct rule_table dotnet_rules;

#endif
