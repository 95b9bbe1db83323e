/* The tracetta command. */
#include <stdio.h>

#include <tracetta/tracetta.h>

int main(void)
{
    (void)printf("tracetta %s\n", ttr_version());
    return 0;
}
