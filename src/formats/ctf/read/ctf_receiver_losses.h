/* Losses of "tracetta listen", which stores packets that arrive by UDP: a hidden text file next to
 * the metadata, since neither metadata language has a place for facts that are known at the end.
 * Other readers ignore it. Each line is a name, a blank and a number. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_RECEIVER_LOSSES_H
#define TRACETTA_FORMATS_CTF_READ_CTF_RECEIVER_LOSSES_H

#include "formats/ctf/read/ctf_read.h"

#define CTF_RECEIVER_LOSSES ".losses"

/* Appends the content of the file. */
void ctf_write_receiver_losses(struct buffer *to, const struct packet_losses *losses);

/* Reads the file of a trace, if there is one, into trace->losses and trace->loss_names. Sets
 * *is_valid to false if its content is not that of such a file. */
TTR_MUST ttr_status ctf_load_receiver_losses(struct ctf_trace *trace, bool *is_valid,
                                             ttr_error *error);

#endif
