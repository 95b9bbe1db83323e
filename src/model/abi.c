/* Sizes that programs are compiled with: a change here is a change of the ABI, and wants a new
 * soversion. Structs that begin with `size` may grow; these may not.  Left out: machines with
 * 32-bit pointers. */
#include <tracetta/analyse.h>

_Static_assert(sizeof(void *) != 8 || sizeof(ttr_event) == 128, "ttr_event is frozen");
_Static_assert(sizeof(void *) != 8 || sizeof(ttr_field) == 64, "ttr_field is frozen");
_Static_assert(sizeof(void *) != 8 || sizeof(ttr_fields) == 696, "ttr_fields is frozen");
_Static_assert(sizeof(void *) != 8 || sizeof(ttr_batch) == 24, "ttr_batch is frozen");
_Static_assert(sizeof(ttr_error) == 448, "ttr_error is frozen");
_Static_assert(sizeof(ttr_tree_span) == 72, "ttr_tree_span is frozen");
