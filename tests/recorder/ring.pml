/* The ring of a thread and its reader (src/trace/trace_shared.h), with chunks of two records.
 *
 * Spin tries every interleaving, and the death of the writer after every step.  Options:
 *   CIRCULAR            the newest records replace the oldest; else records are dropped
 *   FAULT_COMMIT_FIRST  the commit position is stored before the record
 *   FAULT_NO_TAIL       streaming: the writer does not wait for the reader
 *   FAULT_LATE          circular: the new chunk is announced after it is overwritten
 *   FAULT_NO_RELOAD     circular: the reader does not load `writing` again
 * A model with a fault must fail.  Memory is sequentially consistent here; the order that the
 * hardware needs is in trace_shared.h. */
#define RECORDS 2 /* per chunk */
#define CHUNKS 2
#define EVENTS 7
#define PARTLY 255 /* a record that is being written */

byte ring[4];  /* RECORDS * CHUNKS; number of the event, from 1 on; 0 = never written */
byte commit;   /* records that are complete */
byte writing;  /* index of the newest chunk */
byte tail;     /* chunks below it were read */
byte newest;   /* number of the newest committed event */
byte dropped, attempts;
bool is_killed, has_ended;

active proctype killer()
{
    if
    :: is_killed = true
    :: skip
    fi
}

active proctype writer()
{
    byte at = 0;
    bool has_room;
    {
        do
        :: attempts < EVENTS ->
            has_room = true;
            if
            :: at > 0 && at % RECORDS == 0 ->
#ifdef CIRCULAR
#ifndef FAULT_LATE
                writing = at / RECORDS
#endif
#else
#ifndef FAULT_NO_TAIL
                has_room = (at / RECORDS - tail < CHUNKS)
#endif
#endif
            :: else
            fi;
            if
            :: has_room ->
#ifdef FAULT_COMMIT_FIRST
                commit = at + 1;
#endif
                ring[at % (RECORDS * CHUNKS)] = PARTLY;
                ring[at % (RECORDS * CHUNKS)] = attempts + 1;
#ifdef FAULT_LATE
                writing = at / RECORDS;
#endif
                d_step {
                    commit = at + 1;
                    newest = attempts + 1
                };
                at++
            :: else -> dropped++
            fi;
            attempts++
        :: else -> break
        od
    } unless { is_killed };
    has_ended = true
}

active proctype reader()
{
    byte done = 0, to, limit, k, received = 0, last = 0;
    byte copy[RECORDS];
    bool is_valid, is_final;
    do
    :: is_final = has_ended;
        limit = commit;
#ifdef CIRCULAR
        if
        :: limit > 0 && (limit - 1) / RECORDS >= done / RECORDS + CHUNKS ->
            done = ((limit - 1) / RECORDS + 1 - CHUNKS) * RECORDS
        :: else
        fi;
#endif
        if
        :: done < limit ->
            to = (done / RECORDS + 1) * RECORDS;
            if
            :: to > limit -> to = limit
            :: else
            fi;
            k = done;
            do
            :: k < to ->
                copy[k % RECORDS] = ring[k % (RECORDS * CHUNKS)];
                k++
            :: else -> break
            od;
            is_valid = true;
#ifdef CIRCULAR
#ifndef FAULT_NO_RELOAD
            is_valid = (writing < done / RECORDS + CHUNKS);
#endif
#endif
            d_step {
                k = done;
                do
                :: is_valid && k < to ->
                    assert(copy[k % RECORDS] != PARTLY && copy[k % RECORDS] > last);
                    last = copy[k % RECORDS];
                    received++;
                    k++
                :: else -> break
                od;
                done = to
            };
            tail = done / RECORDS
        :: else ->
            if
            :: is_final -> break
            :: else
            fi
        fi
    od;
    assert(last == newest);
#ifndef CIRCULAR
    assert(received == commit);
    assert(received + dropped == attempts || (is_killed && received + dropped == attempts + 1));
#endif
}
