/* Short labels of frames: "Class.Method".
 *
 *   System.Private.CoreLib!System.Collections.List`1[System.Int32].Add(!0)   List`1.Add
 *   app!ns::Map<int, A<B> >::find(int const&) const                          Map::find
 *   app!void ns::List<A>::each<F>(F&&)                                       List::each
 *   app!<alloc::vec::Vec<T> as core::ops::Drop>::drop                        Vec::drop
 *   libc.so.6!malloc                                                         malloc
 *
 * A name is read from left to right.  Groups in brackets are dropped, the first "(" after a name
 * ends it, and the beginnings of the last two components are remembered.  "operator<" and
 * "(anonymous namespace)" have brackets that are part of a name.  Names of templates have a return
 * type, which a space ends. */
#include <string.h>

#include <tracetta/profile.h>

struct scan {
    char *to;
    size_t n, room;
    size_t part[2]; /* start of the last component, and of the one before it */
};

static void append_byte(struct scan *scan, char byte)
{
    if (scan->n < scan->room)
        scan->to[scan->n++] = byte;
}

static size_t copy_bytes(struct scan *scan, ttr_text text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        append_byte(scan, text.p[i]);
    return n;
}

/* Returns the length of the module and the "!" after it; 0 without a module. */
static size_t measure_module(ttr_text name)
{
    for (size_t i = 0; i < name.n && name.p[i] != '('; i++)
        if (name.p[i] == '!')
            return i + 1 < name.n ? i + 1 : 0;
    return 0;
}

static bool is_one_of(char byte, const char *bytes)
{
    return byte && strchr(bytes, byte);
}

/* Returns the length of the group that starts at a bracket; to the end if it is not closed. The
 * arrow of a return type closes nothing. */
static size_t measure_group(ttr_text rest)
{
    size_t depth = 0;
    for (size_t i = 0; i < rest.n; i++) {
        depth += is_one_of(rest.p[i], "<[({");
        depth -= is_one_of(rest.p[i], ">])}") && !(i && rest.p[i] == '>' && rest.p[i - 1] == '-');
        if (depth == 0)
            return i + 1;
    }
    return rest.n;
}

/* Returns true if a name with arguments follows: a "(" outside of other brackets. */
static bool has_arguments(ttr_text rest)
{
    for (size_t i = 0; i < rest.n;) {
        const ttr_text left = {rest.p + i, rest.n - i};
        if (left.p[0] == '(')
            return i > 0 && left.p[-1] != ' ';
        i += is_one_of(left.p[0], "<[{") ? measure_group(left) : 1;
    }
    return false;
}

static bool begins_with(ttr_text rest, const char *word)
{
    return rest.n >= strlen(word) && memcmp(rest.p, word, strlen(word)) == 0;
}

/* Returns the length of a part that is copied although it has brackets; 0 if there is none. */
static size_t measure_verbatim_part(ttr_text rest)
{
    static const char *const words[] = {"operator()", "operator<<", "operator>>",
                                        "operator<=", "operator>=", "operator->",
                                        "operator[]", "operator<",  "operator>"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins_with(rest, words[i]))
            return strlen(words[i]);
    /* conversions, "operator bool", and "operator new[]" */
    size_t n = begins_with(rest, "operator ") ? strlen("operator ") : 0;
    while (n && n < rest.n && rest.p[n] != '(' && rest.p[n] != '<')
        n++;
    return n;
}

/* Returns true if a dot starts a component, and not a suffix that compilers append to copies of a
 * function: "f.constprop.0". */
static bool is_separating_dot(ttr_text rest)
{
    static const char *const suffixes[] = {".constprop", ".part.", ".isra.", ".cold",
                                           ".lto_priv",  ".llvm.", ".clone."};
    bool separates = rest.n > 1 && rest.p[0] == '.' && (rest.p[1] < '0' || rest.p[1] > '9');
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        separates = separates && !begins_with(rest, suffixes[i]);
    return separates;
}

/* Starts a component after a separator of n bytes. */
static void start_component(struct scan *scan, ttr_text rest, size_t n)
{
    (void)copy_bytes(scan, rest, n);
    scan->part[1] = scan->part[0];
    scan->part[0] = scan->n;
}

/* Copies "{lambda(int)#1}" as "{lambda#1}", and other names in braces as they are. */
static size_t copy_braces(struct scan *scan, ttr_text rest)
{
    static const char lambda[] = "{lambda(";
    const size_t n = measure_group(rest);
    size_t from = 0;
    if (begins_with(rest, lambda)) {
        (void)copy_bytes(scan, rest, strlen(lambda) - 1);
        for (from = n; from > 0 && rest.p[from - 1] != '#';)
            from--;
        from -= from > 0;
    }
    (void)copy_bytes(scan, (ttr_text){rest.p + from, n - from}, n - from);
    return n;
}

/* Skips the start of "<T as Trait>::method" up to the type, which becomes a component. Returns the
 * length of the group and sets the label of the type; 0 for other names. */
static size_t copy_implementing_type(struct scan *scan, ttr_text rest)
{
    const size_t n = measure_group(rest);
    if (n < 3 || n + 2 > rest.n || memcmp(rest.p + n, "::", 2) != 0)
        return 0;
    ttr_text type = {rest.p + 1, n - 2};
    while (type.n && is_one_of(type.p[0], "&*[("))
        type.p++, type.n--;
    if (begins_with(type, "mut ") || begins_with(type, "dyn "))
        type.p += 4, type.n -= 4;
    size_t begin = 0, end = 0;
    while (end < type.n && !is_one_of(type.p[end], "<[]() ;")) {
        if (type.p[end] == ':' && end && type.p[end - 1] == ':')
            begin = end + 1;
        end++;
    }
    (void)copy_bytes(scan, (ttr_text){type.p + begin, end - begin}, end - begin);
    return n;
}

/* Copies the next piece of a name. Returns its length; 0 at the arguments, which end the name. */
static size_t copy_piece(struct scan *scan, ttr_text rest, bool is_at_start)
{
    static const char nameless[] = "(anonymous namespace)::";
    const size_t verbatim = measure_verbatim_part(rest);
    if (verbatim)
        return copy_bytes(scan, rest, verbatim);
    if (begins_with(rest, nameless))
        return strlen(nameless);
    if (rest.p[0] == ' ' && !is_at_start && has_arguments((ttr_text){rest.p + 1, rest.n - 1})) {
        scan->n = scan->part[0] = scan->part[1] = 0; /* that was a return type */
        return 1;
    }
    if (rest.p[0] == '(' || (rest.p[0] == ' ' && !is_at_start))
        return 0;
    if (rest.p[0] == '{')
        return copy_braces(scan, rest);
    const size_t type = scan->n == 0 && rest.p[0] == '<' ? copy_implementing_type(scan, rest) : 0;
    if (type)
        return type;
    if (is_at_start && rest.p[0] == '<') /* .NET: "<.ctor>b__4_0", made by the compiler */
        return copy_bytes(scan, rest, measure_group(rest));
    if (!is_at_start && (rest.p[0] == '<' || rest.p[0] == '['))
        return measure_group(rest);
    /* ".ctor" is a name that starts with a dot */
    const size_t separator = begins_with(rest, "::") ? 2 : !is_at_start && is_separating_dot(rest);
    if (separator == 0 || rest.n == separator) {
        append_byte(scan, rest.p[0]);
        return 1;
    }
    start_component(scan, rest, separator);
    return separator;
}

size_t ttr_profile_label(ttr_text name, char *to, size_t room)
{
    struct scan scan = {.to = to, .room = room};
    for (size_t i = measure_module(name), n = 1; i < name.n && n > 0; i += n) {
        const bool is_at_start = scan.n == scan.part[0];
        n = copy_piece(&scan, (ttr_text){name.p + i, name.n - i}, is_at_start);
    }
    if (scan.n == 0) { /* the text contains nothing that looks like a name */
        scan.n = name.n < room ? name.n : room;
        memcpy(to, name.p, scan.n);
        return scan.n;
    }
    memmove(to, to + scan.part[1], scan.n - scan.part[1]);
    return scan.n - scan.part[1];
}
