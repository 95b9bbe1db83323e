/* Addresses of senders and receivers: "udp:HOST:PORT", "tcp:HOST:PORT", "unix:PATH". */
#ifndef TRACETTA_NETWORK_ADDRESS_H
#define TRACETTA_NETWORK_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include <tracetta/error.h>

#define ADDRESS_TEXT_MAX 192u /* bytes of an address as text */

enum transport { TRANSPORT_UDP, TRANSPORT_TCP, TRANSPORT_UNIX };

struct address {
    enum transport transport;
    struct sockaddr_storage name;
    socklen_t name_n;
};

/* Parses an address and looks its host up. Fails with TTR_E_MISUSE if the text is not an address,
 * TTR_E_IO if the host is unknown. */
TTR_MUST ttr_status address_parse(const char *text, struct address *address, ttr_error *error);

/* Writes an address as text. `to` has ADDRESS_TEXT_MAX bytes. */
void address_print(const struct address *address, char *to);

/* Returns the port of an internet address; 0 for Unix sockets. */
uint16_t address_port(const struct address *address);

/* Returns true if both addresses have the same host. Unix sockets are all on one host. */
bool address_has_same_host(const struct address *a, const struct address *b);

#endif
