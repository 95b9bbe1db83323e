/* Rotation of the archive: a new file before the current one is too large or too old. */
#include "recorder/recorder.h"

/* Resets the state of a program, so that its next piece repeats the provider, strings and names. */
static void reset_written_state(const ttr_manager *manager, struct program *program)
{
    program->has_head = false;
    program->strings_done = 0;
    program->next_string = 1;
    for (uint32_t i = 0; program->rings && i < manager->rings; i++)
        program->rings[i].name = 0;
}

void rotation_complete_file(ttr_manager *manager)
{
    const uint64_t frequency = trace_clock_frequency(&manager->clock);
    for (size_t i = 0; i < manager->frequencies_n; i++)
        archive_rewrite(&manager->archive, manager->frequencies[i], frequency);
    archive_end_file(&manager->archive);
}

/* Each file is complete in itself: providers, strings and names are written again. */
void rotation_advance_if_due(ttr_manager *manager, uint64_t bytes)
{
    struct archive *archive = &manager->archive;
    const uint64_t now = manager->rotate_ms ? recorder_now_ms() : 0;
    /* size at which opening the next file failed; 0 = it did not fail */
    const uint64_t begin = manager->rotation_failed_at;
    const bool is_full = manager->rotate_bytes &&
                         archive->whole - begin + bytes + archive_index_size(&archive->index) >
                             manager->rotate_bytes &&
                         archive->whole > 8;
    const bool is_old = manager->rotate_ms && now - archive->started_ms >= manager->rotate_ms;
    if ((!is_full && !is_old) || archive->reason != 0)
        return;
    rotation_complete_file(manager); /* complete the file first: next_output may close it */
    const int fd = manager->next_output(manager->user_data);
    archive->started_ms = now;
    manager->rotation_failed_at = fd < 0 ? archive->whole : 0;
    if (fd < 0) /* continue the current file, and try to open the next one at the next limit */
        return;
    manager->frequencies_n = 0;
    (void)archive_start(archive, fd);
    for (size_t i = 0; i < manager->programs_n; i++)
        reset_written_state(manager, &manager->programs[i]);
}
