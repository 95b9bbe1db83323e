/* Files that users pass by mistake, recognised by their magic numbers; JSON and text are tried
 * last. The magic numbers are from the specifications of the file formats. If several formats share
 * a magic number ("PK\3\4"), the name covers all of them. */
#include "formats/file_kind.h"

#include <string.h>

#define TEXT_BYTES ((size_t)512) /* number of bytes at the start that must be text */

static const struct magic {
    size_t at, n;
    const char *bytes;
    struct file_kind kind;
} magics[] = {
    {257, 5, "ustar", {"a tar archive", "unpack it, and name the trace that is in it"}},
    {0, 4, "PK\3\4", {"a zip archive", "unpack it, and name the trace that is in it"}},
    {0, 6, "7z\xbc\xaf\x27\x1c", {"a 7z archive", "unpack it, and name the trace that is in it"}},
    {0, 7, "Rar!\x1a\x07\x01", {"a rar archive", "unpack it, and name the trace that is in it"}},
    {0, 8, "!<arch>\n", {"a static library or Debian package", NULL}},
    {0, 4, "\xd4\xc3\xb2\xa1", {"a packet capture (pcap)", "use wireshark or tcpdump"}},
    {0, 4, "\xa1\xb2\xc3\xd4", {"a packet capture (pcap)", "use wireshark or tcpdump"}},
    {0, 4, "\x4d\x3c\xb2\xa1", {"a packet capture (pcap)", "use wireshark or tcpdump"}},
    {0, 4, "\xa1\xb2\x3c\x4d", {"a packet capture (pcap)", "use wireshark or tcpdump"}},
    {0, 4, "\x0a\x0d\x0d\x0a", {"a packet capture (pcapng)", "use wireshark"}},
    /* SQLite's length includes the zero byte that ends the text */
    {0, 16, "SQLite format 3", {"an SQLite database", "use sqlite3"}},
    {0, 8, "\x89PNG\r\n\x1a\n", {"a PNG image", NULL}},
    {0, 3, "\xff\xd8\xff", {"a JPEG image", NULL}},
    {0, 5, "%PDF-", {"a PDF document", NULL}},
    {0, 4, "\xca\xfe\xba\xbe", {"a Java class or Mach-O library", NULL}},
    {0, 4, "\xcf\xfa\xed\xfe", {"a Mach-O program", NULL}},
    {0, 2, "MZ", {"a Windows program or .NET assembly", NULL}},
    {0, 4, "FLR\0", {"a Java Flight Recorder file", "use jfr"}},
    {0, 3, "ID3", {"an MP3 file", NULL}},
    {0, 4, "OggS", {"an Ogg file", NULL}},
    {0, 4, "RIFF", {"a RIFF file (WAV, AVI)", NULL}},
    {0, 4, "wOFF", {"a font", NULL}},
};

static bool is_magic(const struct magic *magic, const uint8_t *bytes, size_t n)
{
    return n >= magic->at + magic->n && memcmp(bytes + magic->at, magic->bytes, magic->n) == 0;
}

/* Recognises ELF files. Byte [5] is the byte order of the type at bytes [16..17]; type 4 is a core
 * dump. */
static bool recognize_elf(const uint8_t *bytes, size_t n, struct file_kind *kind)
{
    if (n < 18 || memcmp(bytes, "\x7f\x45\x4c\x46", 4) != 0)
        return false;
    const bool is_core = bytes[5] == 2 ? bytes[17] == 4 : bytes[16] == 4;
    *kind = is_core ? (struct file_kind){"a core dump", "use gdb"}
                    : (struct file_kind){"an ELF program or library",
                                         "\"tracetta record\" records a program that it starts"};
    return true;
}

static bool is_text_byte(uint8_t byte)
{
    return byte >= 0x20 ? byte != 0x7f : byte == '\n' || byte == '\r' || byte == '\t';
}

/* Returns true if the bytes contain no control characters except line breaks and tabs. */
static bool is_text(const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && i < TEXT_BYTES && is_text_byte(bytes[i]))
        i++;
    return n > 0 && (i == n || i == TEXT_BYTES);
}

static bool recognize_text(const uint8_t *bytes, size_t n, struct file_kind *kind)
{
    static const char events[] = "\"traceEvents\"";
    size_t at = 0;
    if (!is_text(bytes, n))
        return false;
    while (at < n && memchr(" \t\r\n", bytes[at], 4))
        at++;
    const char first = at < n ? (char)bytes[at] : '\0';
    if (first == '{' && memmem(bytes, n, events, sizeof events - 1))
        *kind =
            (struct file_kind){"a Chrome JSON trace", "chrome is a format that is only written"};
    else if (first == '{' || first == '[')
        *kind = (struct file_kind){"JSON", NULL};
    else if (n > 5 && memcmp(bytes, "<?xml", 5) == 0)
        *kind = (struct file_kind){"XML", NULL};
    else if (n > 2 && memcmp(bytes, "#!", 2) == 0)
        *kind = (struct file_kind){"a script", NULL};
    else
        *kind = (struct file_kind){"text", NULL};
    return true;
}

bool file_kind_find(const uint8_t *bytes, size_t n, struct file_kind *kind)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (is_magic(&magics[i], bytes, n)) {
            *kind = magics[i].kind;
            return true;
        }
    return recognize_elf(bytes, n, kind) || recognize_text(bytes, n, kind);
}
