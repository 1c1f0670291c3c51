#include "trace/trace.h"

#include "base/buf.h"

#include <stdatomic.h>

#define LIMIT_NS 1000000000
#define LAST_FIELDS_BYTES 64 /* room kept for left_out */

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static void to_standard_error(void *arg, struct slice line)
{
    (void)!os_write_fd(arg, 2, line, NULL); /* who could be told? */
}

void trace_init(struct trace *trace, struct os *os, enum trace_level level)
{
    *trace = (struct trace){.os = os, .level = level, .sink = to_standard_error, .sink_arg = os};
}

void trace_to(struct trace *trace, trace_sink *sink, void *arg)
{
    trace->sink = sink;
    trace->sink_arg = arg;
}

void trace_set_level(struct trace *trace, enum trace_level level)
{
    if (trace)
        __atomic_store_n(&trace->level, level, __ATOMIC_RELAXED);
}

const char *trace_level_name(enum trace_level level)
{
    return level_names[level];
}

bool trace_level_parse(struct slice name, enum trace_level *level)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
        if (slice_equal_nocase(name, slice_str(level_names[i]))) {
            *level = (enum trace_level)i;
            return true;
        }
    return false;
}

/* ---- at most one line a second ---- */

/* The slot of an event, by the address of its literal; the first slot for all that find no room. */
static struct trace_site *site_of(struct trace *trace, const char *event)
{
    size_t hash = (size_t)((uintptr_t)event * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    for (size_t i = 0; i < TRACE_SITES_MAX; i++) {
        struct trace_site *site = &trace->sites[(hash + i) % TRACE_SITES_MAX];
        const char *owner = NULL;
        if (atomic_compare_exchange_strong(&site->event, &owner, event) || owner == event)
            return site;
    }
    return &trace->sites[0];
}

/* True where a line may be written now; *left_out then says how many could not be since the last. */
static bool may_write(struct trace_site *site, int64_t now, uint32_t *left_out)
{
    int64_t next = atomic_load(&site->next_mono_ns);
    if (now >= next && atomic_compare_exchange_strong(&site->next_mono_ns, &next, now + LIMIT_NS)) {
        *left_out = atomic_exchange(&site->left_out, 0);
        return true;
    }
    atomic_fetch_add(&site->left_out, 1);
    return false;
}

/* ---- the text ---- */

/* 2026-11-29T19:11:47.123Z. The year begins in March here, so that the leap day is its last. */
static void put_time(struct buf *line, int64_t wall_ms)
{
    int64_t ms = MAX(wall_ms, 0), day = ms / 86400000 + 719468; /* since 0000-03-01 */
    int64_t era = day / 146097, day_of_era = day % 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    int year = (int)(era * 400 + year_of_era) + (month <= 2);
    int mday = (int)(day_of_year - (153 * month_from_march + 2) / 5) + 1, in_day_ms = (int)(ms % 86400000);
    buf_printf(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, mday, in_day_ms / 3600000,
               in_day_ms / 60000 % 60, in_day_ms / 1000 % 60, in_day_ms % 1000);
}

static bool is_plain(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("._:/+,@%~-", c));
}

static bool all_plain(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_plain(s.ptr[i]))
            return false;
    return s.len > 0;
}

static void put_escaped(struct buf *line, uint8_t c, bool utf8)
{
    static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";
    const char *at = c ? strchr(from, c) : NULL;
    if (at)
        buf_printf(line, "\\%c", to[at - from]);
    else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8))
        buf_printf(line, "\\x%02x", c);
    else
        buf_put_u8(line, c);
}

static struct slice cut(struct slice s, bool *was_cut)
{
    *was_cut = s.len > TRACE_VALUE_MAX;
    s.len = MIN(s.len, TRACE_VALUE_MAX);
    while (*was_cut && s.len && (s.ptr[s.len] & 0xc0) == 0x80)
        s.len--; /* not inside a character */
    return s;
}

static void put_text(struct buf *line, const char *key, struct slice value)
{
    bool was_cut;
    value = cut(value, &was_cut);
    buf_printf(line, " %s=", key);
    if (all_plain(value) && !was_cut) {
        buf_put_slice(line, value);
        return;
    }
    bool utf8 = slice_is_utf8(value);
    buf_put_u8(line, '"');
    for (size_t i = 0; i < value.len; i++)
        put_escaped(line, value.ptr[i], utf8);
    buf_put_slice(line, was_cut ? SLICE("...\"") : SLICE("\""));
}

static void put_err(struct buf *line, enum trace_level level, const struct err *err)
{
    if (err->code == OK)
        return;
    put_text(line, "code", slice_str(err_user_code(err->code)));
    put_text(line, "what", slice_str(err->text));
    if (level <= TRACE_WARN && err_remedy(err->code))
        put_text(line, "do", slice_str(err_remedy(err->code)));
    if (level == TRACE_DEBUG && err->where)
        put_text(line, "where", slice_str(err->where));
}

static void put_field(struct buf *line, enum trace_level level, const struct trace_field *field)
{
    switch (field->kind) {
    case TRACE_TEXT:
        put_text(line, field->key, field->as.text);
        break;
    case TRACE_I64:
        buf_printf(line, " %s=%lld", field->key, (long long)field->as.i64);
        break;
    case TRACE_U64:
        buf_printf(line, " %s=%llu", field->key, (unsigned long long)field->as.u64);
        break;
    case TRACE_ERR:
        put_err(line, level, field->as.err);
        break;
    case TRACE_END:
        break;
    }
}

void trace_emit(struct trace *trace, enum trace_level level, bool limited, const char *module, const char *event,
                const struct trace_field *fields)
{
    uint32_t left_out = 0;
    if (limited && !may_write(site_of(trace, event), os_mono_ns(trace->os), &left_out))
        return;
    struct buf line = {0};
    buf_printf(&line, "%s %s %s at=", level_names[level], module, event);
    put_time(&line, os_wall_ms(trace->os));
    for (; fields->kind != TRACE_END; fields++) {
        size_t before = line.len;
        put_field(&line, level, fields);
        if (line.len > TRACE_LINE_MAX - LAST_FIELDS_BYTES)
            line.len = before; /* this one is left out, a shorter one after it may find room */
    }
    if (left_out)
        buf_printf(&line, " left_out=%u", left_out);
    buf_put_u8(&line, '\n');
    trace->sink(trace->sink_arg, buf_view(&line));
    buf_deinit(&line);
}
