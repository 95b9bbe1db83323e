/* Fuzzes what a manager receives from a hostile program: messages over its socket, and the words of
 * the memory that both share.
 *
 * The input is a list of steps; the first byte of each selects:
 *
 *   0..2   a message: kind, a, b, then a text up to a zero byte
 *   3      a message of 128 raw bytes
 *   4      a message of another size
 *   5      a word of the memory: region, offset, value
 *   6, 7   the manager reads the rings
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "recorder/recorder.h"

#define CHUNKS 2u
#define RINGS 4u
#define STEPS_MAX 256u

struct input {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

static uint64_t next_word(struct input *input)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)next_byte(input) << 8 * i;
    return word;
}

static void send_structured(struct input *input, int fd)
{
    struct trace_message message = {.magic = TRACE_MESSAGE_MAGIC, .version = TRACE_VERSION};
    message.kind = next_byte(input) % 9;
    message.a = next_byte(input);
    message.b = next_byte(input) | (uint32_t)next_byte(input) << 8;
    for (size_t i = 0; i < sizeof message.text; i++)
        if ((message.text[i] = (char)next_byte(input)) == '\0')
            break;
    (void)!send(fd, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void send_raw(struct input *input, int fd, size_t n)
{
    uint8_t bytes[sizeof(struct trace_message) + 8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = next_byte(input);
    (void)!send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Writes a word to the header, the strings, a ring header or a chunk. */
static void change_memory(struct input *input, const struct program *program)
{
    const uint8_t region = next_byte(input);
    const uint64_t ring =
        TRACE_PAGE + TRACE_STRINGS_SIZE + region / 4 % RINGS * trace_ring_stride(CHUNKS);
    const uint64_t starts[] = {0, TRACE_PAGE, ring, ring + TRACE_PAGE};
    const uint64_t sizes[] = {sizeof(struct trace_header), 4096, sizeof(struct trace_ring_header),
                              CHUNKS * TRACE_CHUNK};
    const uint64_t offset = (next_byte(input) | (uint64_t)next_byte(input) << 8) * 8;
    const uint64_t word = next_word(input);
    if (program->memory && offset < sizes[region % 4] / 8 * 8)
        memcpy(program->memory + starts[region % 4] + offset, &word, sizeof word);
}

/* Receives one message as the loop of the manager does. Returns false at the end. */
static bool receive(ttr_manager *manager, struct program *program)
{
    bool goes_on = program_receive(manager, program);
    if (goes_on && program->request.kind == TRACE_CONTROL) {
        goes_on = control_answer(manager, program, &program->request);
        program->request.kind = 0;
    }
    return goes_on;
}

static void check_program(const struct program *program)
{
    if (program->categories_n > PROGRAM_CATEGORIES_MAX)
        fuzz_stop("more categories than allowed");
    for (size_t i = 0; i < program->categories_n; i++) {
        const struct program_category *category = &program->categories[i];
        if (category->page >= TRACE_MODULES_MAX || category->index >= TRACE_PAGE)
            fuzz_stop("a category is outside of the enable bytes");
        if (program->flags[category->page * TRACE_PAGE + category->index] > 5)
            fuzz_stop("a level is above 5");
    }
}

static void run_steps(ttr_manager *manager, struct input *input, int fd)
{
    struct program *program = &manager->programs[0];
    for (unsigned i = 0; i < STEPS_MAX && input->at < input->end; i++) {
        const uint8_t step = next_byte(input) % 8;
        bool goes_on = true;
        if (step <= 2)
            send_structured(input, fd);
        else if (step <= 4)
            send_raw(input, fd, step == 3 ? sizeof(struct trace_message) : next_byte(input) % 130);
        else if (step == 5)
            change_memory(input, program);
        else
            (void)program_drain(manager, program, step == 7);
        if (step <= 4)
            goes_on = receive(manager, program);
        check_program(program);
        if (!goes_on || program->violations >= RECORDER_VIOLATIONS_MAX)
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct input input = {bytes, bytes + n};
    int ends[2];
    static uint8_t copy[TRACE_CHUNK], strings[TRACE_STRINGS_SIZE];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return 0;
    struct program program = {.socket_fd = ends[0],
                              .wake_fd = -1,
                              .pid = (uint64_t)getpid(),
                              .uid = geteuid(),
                              .next_string = 1};
    ttr_manager manager = {.alloc = alloc_default(),
                           .archive = {.fd = open("/dev/null", O_WRONLY | O_CLOEXEC)},
                           .listen_fd = -1,
                           .mode = n ? bytes[0] % 3 : 0,
                           .chunks = CHUNKS,
                           .rings = RINGS,
                           .ticks_per_second = 1000000000,
                           .programs = &program,
                           .programs_n = 1,
                           .programs_max = 1,
                           .copy = copy,
                           .strings = strings};
    run_steps(&manager, &input, ends[1]);
    program_end(&manager, &program);
    alloc_free(manager.alloc, manager.frequencies, manager.frequencies_capacity,
               sizeof *manager.frequencies);
    (void)close(manager.archive.fd);
    (void)close(ends[1]);
    return 0;
}
