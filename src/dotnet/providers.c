/* Provider sets: the syntax of dotnet-trace for providers, CLR keywords and levels, and its
 * profiles.
 *
 * Left out: GUIDs as provider names, which runtimes do not accept, and profiles of Windows kernel
 * events. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/status.h"
#include "dotnet/providers.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define LEVEL_INFORMATIONAL 4u
#define LEVEL_VERBOSE 5u
#define KEYWORD_GC 0x1u
#define KEYWORDS_COMMON 0x100003801du
#define PROVIDER_LIST_MAX 65536u /* bytes; a longer list would not fit into a command */

struct provider_entry {
    ttr_dotnet_provider is;
    bool is_from_profile;
};

struct ttr_dotnet_providers {
    struct arena texts;
    struct provider_entry *list;
    size_t n, capacity;
    uint64_t rundown;  /* rundown keywords of all added profiles */
    bool has_explicit; /* a provider outside of any profile was added */
};

/* Keywords of the runtime provider, from ClrEtwAll.man in dotnet/runtime. */
static const struct {
    const char *name;
    uint64_t bit;
} clr_keywords[] = {
    {"gc", 0x1},
    {"gchandle", 0x2},
    {"fusion", 0x4},
    {"assemblyloader", 0x4},
    {"loader", 0x8},
    {"jit", 0x10},
    {"ngen", 0x20},
    {"startenumeration", 0x40},
    {"endenumeration", 0x80},
    {"security", 0x400},
    {"appdomainresourcemanagement", 0x800},
    {"jittracing", 0x1000},
    {"interop", 0x2000},
    {"contention", 0x4000},
    {"exception", 0x8000},
    {"threading", 0x10000},
    {"jittedmethodiltonativemap", 0x20000},
    {"overrideandsuppressngenevents", 0x40000},
    {"type", 0x80000},
    {"gcheapdump", 0x100000},
    {"gcsampledobjectallocationhigh", 0x200000},
    {"gcheapsurvivalandmovement", 0x400000},
    {"gcheapcollect", 0x800000},
    {"managedheadcollect", 0x800000},
    {"gcheapandtypenames", 0x1000000},
    {"gcsampledobjectallocationlow", 0x2000000},
    {"perftrack", 0x20000000},
    {"stack", 0x40000000},
    {"threadtransfer", 0x80000000},
    {"debugger", 0x100000000},
    {"monitoring", 0x200000000},
    {"codesymbols", 0x400000000},
    {"eventsource", 0x800000000},
    {"compilation", 0x1000000000},
    {"compilationdiagnostic", 0x2000000000},
    {"methoddiagnostic", 0x4000000000},
    {"typediagnostic", 0x8000000000},
    {"jitinstrumentationdata", 0x10000000000},
    {"profiler", 0x20000000000},
    {"waithandle", 0x40000000000},
    {"allocationsampling", 0x80000000000},
};

/* DiagnosticSource filter of the database profile: the command fields of SqlClient and Entity
 * Framework. */
#define CONNECTION(inner) "Command.Connection." inner
#define CONNECTION_FIELDS                                                                         \
    CONNECTION("ServerVersion")                                                                   \
    ";Command.CommandTimeout;Command.CommandType;" CONNECTION("ConnectionString") ";" CONNECTION( \
        "Database") ";" CONNECTION("DataSource") ";" CONNECTION("PacketSize")
#define SQL "SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommand"
#define ENTITY \
    "Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.Command"
#define DATABASE_FILTER                                                                            \
    "FilterAndPayloadSpecs=\"" SQL                                                                 \
    "Before@Activity1Start:-Command;Command.CommandText;ConnectionId;Operation;" CONNECTION_FIELDS \
    "\r\n" SQL "After@Activity1Stop:\r\n" ENTITY                                                   \
    "Executing@Activity2Start:-Command.CommandText;Command;ConnectionId;IsAsync;" CONNECTION(      \
        "ClientConnectionId") ";" CONNECTION_FIELDS "\r\n" ENTITY "Executed@Activity2Stop:\""

static const struct {
    const char *name, *text;
    uint64_t rundown;
    ttr_dotnet_provider providers[2];
} profiles[] = {
    {"dotnet-common",
     "garbage collections, loading, compilation, exceptions and threads of the runtime, at little "
     "cost",
     TTR_DOTNET_RUNDOWN,
     {{RUNTIME, KEYWORDS_COMMON, LEVEL_INFORMATIONAL, ""}}},
    {"dotnet-sampled-thread-time",
     "stacks of all threads, about 100 times a second",
     TTR_DOTNET_RUNDOWN,
     {{"Microsoft-DotNETCore-SampleProfiler", 0, LEVEL_INFORMATIONAL, ""}}},
    {"gc-verbose",
     "garbage collections, and samples of what is allocated",
     TTR_DOTNET_RUNDOWN,
     {{RUNTIME, 0x8003, LEVEL_VERBOSE, ""}}},
    {"gc-collect",
     "garbage collections alone, at very little cost",
     KEYWORD_GC,
     {{RUNTIME, KEYWORD_GC, LEVEL_INFORMATIONAL, ""},
      {"Microsoft-Windows-DotNETRuntimePrivate", KEYWORD_GC, LEVEL_INFORMATIONAL, ""}}},
    {"database",
     "commands of ADO.NET and Entity Framework",
     TTR_DOTNET_RUNDOWN,
     {{"System.Threading.Tasks.TplEventSource", 0x80, LEVEL_INFORMATIONAL, ""},
      {"Microsoft-Diagnostics-DiagnosticSource", 0x3, LEVEL_VERBOSE, DATABASE_FILTER}}},
    {"cpu-sampling",
     "stacks of all threads, and events of the runtime",
     TTR_DOTNET_RUNDOWN,
     {{"Microsoft-DotNETCore-SampleProfiler", 0, LEVEL_INFORMATIONAL, ""},
      {RUNTIME, 0x14c14fccbd, LEVEL_INFORMATIONAL, ""}}},
};

bool ttr_dotnet_profile(size_t i, const char **name, const char **text)
{
    if (i >= sizeof profiles / sizeof *profiles)
        return false;
    *name = profiles[i].name;
    *text = profiles[i].text;
    return true;
}

ttr_dotnet_providers *providers_new(const struct alloc *alloc)
{
    ttr_dotnet_providers *set = alloc_zero(alloc, 1, sizeof *set);
    if (set)
        arena_init(&set->texts, alloc);
    return set;
}

ttr_dotnet_providers *ttr_dotnet_providers_new(void)
{
    return providers_new(alloc_default());
}

void ttr_dotnet_providers_free(ttr_dotnet_providers *set)
{
    if (!set)
        return;
    const struct alloc *alloc = set->texts.alloc;
    alloc_free(alloc, set->list, set->capacity, sizeof *set->list);
    arena_free(&set->texts);
    alloc_free(alloc, set, 1, sizeof *set);
}

bool ttr_dotnet_providers_at(const ttr_dotnet_providers *set, size_t i,
                             ttr_dotnet_provider *provider)
{
    if (!set || i >= set->n)
        return false;
    *provider = set->list[i].is;
    return true;
}

uint64_t ttr_dotnet_providers_rundown(const ttr_dotnet_providers *set)
{
    return set->has_explicit || !set->rundown ? TTR_DOTNET_RUNDOWN : set->rundown;
}

static struct provider_entry *find_provider(const ttr_dotnet_providers *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcasecmp(set->list[i].is.name, name) == 0)
            return &set->list[i];
    return NULL;
}

/* Merges two requests for one provider: all keywords of both, and the more verbose level (level 0
 * enables all events). Fails if both have different arguments. */
static ttr_status merge_provider(ttr_dotnet_provider *existing, const ttr_dotnet_provider *added,
                                 ttr_error *error)
{
    if (existing->arguments[0] && added->arguments[0] &&
        strcmp(existing->arguments, added->arguments) != 0)
        return fail(
            error, TTR_E_MISUSE, NO_OFFSET,
            "provider %s is named twice with different arguments; put them into one: \"A=1;B=2\"",
            existing->name);
    existing->keywords |= added->keywords;
    existing->level = existing->level == 0 || added->level == 0 ? 0
                      : existing->level > added->level          ? existing->level
                                                                : added->level;
    if (added->arguments[0])
        existing->arguments = added->arguments;
    return TTR_OK;
}

/* Adds a provider; its strings are constant or in the set's arena. An explicit request replaces
 * that of a profile for the same provider. Two explicit requests, or two of profiles, are
 * merged. */
static ttr_status add_provider(ttr_dotnet_providers *set, const ttr_dotnet_provider *provider,
                               bool is_from_profile, ttr_error *error)
{
    struct provider_entry *existing = find_provider(set, provider->name);
    set->has_explicit |= !is_from_profile;
    if (existing && is_from_profile && !existing->is_from_profile)
        return TTR_OK;
    if (existing) {
        existing->is_from_profile = is_from_profile;
        return merge_provider(&existing->is, provider, error);
    }
    if (!alloc_reserve(set->texts.alloc, (void **)&set->list, &set->capacity, set->n + 1,
                       sizeof *set->list))
        return fail_memory(error);
    set->list[set->n++] = (struct provider_entry){*provider, is_from_profile};
    return TTR_OK;
}

static bool parse_level(const char *text, uint32_t *level)
{
    static const char *const names[] = {"logalways", "critical",      "error",
                                        "warning",   "informational", "verbose"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(text, names[i]) == 0 || (text[0] == (char)('0' + i) && !text[1]))
            *level = i;
    if (*level == UINT32_MAX && text[0] >= '6' && text[0] <= '9' && !text[1])
        *level = LEVEL_VERBOSE;
    return *level != UINT32_MAX;
}

static bool parse_hexadecimal(const char *text, uint64_t *value)
{
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        text += 2;
    size_t n = strspn(text, "0123456789abcdefABCDEF");
    if (n == 0 || n > 16 || text[n])
        return false;
    for (*value = 0; *text; text++)
        *value = *value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : (*text | 32) - 'a' + 10);
    return true;
}

/* Ends `part` at its first colon. Returns the text after the colon, or NULL if it has no colon. */
static char *split_at_colon(char *part)
{
    char *colon = part ? strchr(part, ':') : NULL;
    if (!colon)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* Parses "NAME:KEYWORDS:LEVEL:ARGUMENTS" and adds the provider. Replaces the colons in `text` by
 * zero bytes. */
static ttr_status parse_provider(ttr_dotnet_providers *set, char *text, ttr_error *error)
{
    ttr_dotnet_provider provider = {.name = text, .level = LEVEL_INFORMATIONAL, .arguments = ""};
    char *keywords = split_at_colon(text), *level = split_at_colon(keywords),
         *arguments = split_at_colon(level);
    if (!text[0])
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "a provider has no name; expected NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]]");
    /* The default is all keyword bits, since each EventSource defines its bits. For the runtime
     * provider all bits would force garbage collections, so its default is smaller. */
    provider.keywords = strcasecmp(text, RUNTIME) == 0 ? KEYWORDS_COMMON : UINT64_MAX;
    if (keywords && keywords[0] && !parse_hexadecimal(keywords, &provider.keywords))
        return fail(
            error, TTR_E_MISUSE, NO_OFFSET,
            "keywords \"%.60s\" of provider %.100s are not a hexadecimal number such as 0x1C",
            keywords, text);
    uint32_t number = UINT32_MAX;
    if (level && level[0] && !parse_level(level, &number))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "level \"%.60s\" of provider %.100s is unknown: expected 0 to 5, logalways, "
                    "critical, error, warning, informational or verbose",
                    level, text);
    if (number != UINT32_MAX)
        provider.level = number;
    if (arguments)
        provider.arguments = arguments;
    return add_provider(set, &provider, false, error);
}

/* Returns the length of the first provider in a list, which ends at a comma outside of quotes. */
static size_t first_provider_length(const char *text)
{
    bool is_quoted = false;
    size_t n = 0;
    for (; text[n] && (is_quoted || text[n] != ','); n++)
        is_quoted ^= text[n] == '"';
    return n;
}

ttr_status ttr_dotnet_providers_add(ttr_dotnet_providers *set, const char *text, ttr_error *error)
{
    if (strlen(text) > PROVIDER_LIST_MAX)
        return fail(error, TTR_E_LIMIT, NO_OFFSET, "more than %u bytes of providers",
                    PROVIDER_LIST_MAX);
    for (;;) {
        size_t n = first_provider_length(text);
        char *one = arena_copy(&set->texts, text, n);
        if (!one)
            return fail_memory(error);
        ttr_status status = parse_provider(set, one, error);
        if (status != TTR_OK || !text[n])
            return status;
        text += n + 1;
    }
}

ttr_status ttr_dotnet_providers_add_provider(ttr_dotnet_providers *set,
                                             const ttr_dotnet_provider *provider, ttr_error *error)
{
    ttr_dotnet_provider copy = *provider;
    const char *arguments = provider->arguments ? provider->arguments : "";
    if (!provider->name || !provider->name[0])
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "a provider has no name");
    copy.name = arena_copy(&set->texts, provider->name, strlen(provider->name));
    copy.arguments = arena_copy(&set->texts, arguments, strlen(arguments));
    return copy.name && copy.arguments ? add_provider(set, &copy, false, error)
                                       : fail_memory(error);
}

static uint64_t clr_keyword_bit(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof clr_keywords / sizeof *clr_keywords; i++)
        if (strlen(clr_keywords[i].name) == n && strncasecmp(clr_keywords[i].name, name, n) == 0)
            return clr_keywords[i].bit;
    return 0;
}

ttr_status ttr_dotnet_providers_add_clr(ttr_dotnet_providers *set, const char *keywords,
                                        const char *level, ttr_error *error)
{
    ttr_dotnet_provider provider = {.name = RUNTIME, .level = LEVEL_INFORMATIONAL, .arguments = ""};
    uint32_t number = UINT32_MAX;
    for (const char *at = keywords;; at++) {
        size_t n = strcspn(at, "+");
        uint64_t bit = clr_keyword_bit(at, n);
        if (!bit)
            return fail(error, TTR_E_MISUSE, NO_OFFSET,
                        "the runtime has no keyword \"%.*s\": expected gc, jit, loader, exception, "
                        "threading, contention or another CLR keyword",
                        (int)(n < 60 ? n : 60), at);
        provider.keywords |= bit;
        at += n;
        if (!*at)
            break;
    }
    if (level && level[0] && !parse_level(level, &number))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "level \"%.60s\" is unknown: expected 0 to 5, logalways, critical, error, "
                    "warning, informational or verbose",
                    level);
    if (number != UINT32_MAX)
        provider.level = number;
    return add_provider(set, &provider, false, error);
}

static ttr_status fail_unknown_profile(const char *profile, ttr_error *error)
{
    char names[160];
    size_t n = 0;
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", profiles[i].name);
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "unknown profile \"%.60s\": expected %s", profile,
                names);
}

ttr_status ttr_dotnet_providers_add_profile(ttr_dotnet_providers *set, const char *profile,
                                            ttr_error *error)
{
    size_t i = 0;
    while (i < sizeof profiles / sizeof *profiles && strcasecmp(profiles[i].name, profile) != 0)
        i++;
    if (i == sizeof profiles / sizeof *profiles)
        return fail_unknown_profile(profile, error);
    set->rundown |= profiles[i].rundown;
    for (size_t k = 0; k < 2 && profiles[i].providers[k].name; k++) {
        ttr_status status = add_provider(set, &profiles[i].providers[k], true, error);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}
