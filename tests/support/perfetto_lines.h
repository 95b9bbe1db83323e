/* The output of the Perfetto writer as text, for its tests.
 *
 * Each packet is one line of field numbers and values, as tests/support/protobuf_dump.h prints
 * them. Omitted are the sequence ids (10:1, and 10:2 of track descriptors) and the flags (13:2) of
 * packets that use interned data. */
#ifndef TRACETTA_TESTS_SUPPORT_PERFETTO_LINES_H
#define TRACETTA_TESTS_SUPPORT_PERFETTO_LINES_H

#include <stdio.h>
#include <stdlib.h>

#include "support/protobuf_dump.h"
#include "support/support.h"
#include "support/writing.h"

static const char perfetto_messages[] =
    "6 6/1 11 11/4 11/6 11/4/11 11/4/12 11/4/12/11 11/4/11/12 11/21 12 12/1 "
    "12/2 12/3 12/5 12/6 12/7 12/16 12/17 12/19 12/20 12/29 "
    "60 60/3 60/4 60/8 117 122 122/2 135 135/1 135/3 135/9";

/* Removes the flags from the end of a line. */
static inline void cut_packet_flags(char *line)
{
    size_t n = strlen(line);
    if (n > 5 && strcmp(line + n - 5, " 13:2") == 0)
        line[n - 5] = '\0';
}

/* Returns a line for each packet of the finished trace except the first one. */
static inline char *perfetto_packet_lines(const char *bytes, size_t n)
{
    struct protobuf_item packet;
    char *lines = NULL;
    size_t size;
    FILE *to = open_memstream(&lines, &size);
    const uint8_t *at = (const uint8_t *)bytes, *end = at + n;
    for (unsigned i = 0; protobuf_next(&at, end, &packet); i++) {
        assert_int_equal(packet.field, 1);
        char *line = protobuf_text(packet.bytes, packet.n, perfetto_messages);
        const char *sequence = strncmp(line + 5, "60{", 3) == 0 ? "10:2 " : "10:1 ";
        if (i == 0)
            assert_string_equal(line, "10:1 87:1 13:3");
        cut_packet_flags(line);
        if (i > 0)
            (void)fprintf(to, "%s\n", line + (strncmp(line, sequence, 5) == 0 ? 5 : 0));
        free(line);
    }
    (void)fclose(to);
    return lines;
}

#endif
