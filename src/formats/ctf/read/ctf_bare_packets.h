/* Packets of CTF 1.8 and CTF 2 that arrive one by one, as in datagrams. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_BARE_PACKETS_H
#define TRACETTA_FORMATS_CTF_READ_CTF_BARE_PACKETS_H

#include "model/format.h"

extern const struct format_bare ctf_bare_packets;

#endif
