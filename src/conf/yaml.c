/* server.yaml, with libyaml's events: names to scalars, nested mappings joined with dots, sequences with commas. */
#include "base/buf.h"
#include "base/map.h"
#include "conf/conf_int.h"

#include <stdio.h>
#include <yaml.h>

struct loader {
    struct conf *conf;
    yaml_parser_t parser;
    const char *file_name;
    struct buf name; /* of the mapping that is being read, "a.b." */
    struct map seen; /* whole names to their lines */
    size_t line;     /* of the last event, from 1 */
    char where[200];
};

static enum err_code fault(struct loader *l, struct err *err, const char *what)
{
    return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%.100s:%zu: %s", l->file_name, l->line, what);
}

static enum err_code next(struct loader *l, yaml_event_t *event, struct err *err)
{
    if (!yaml_parser_parse(&l->parser, event)) {
        l->line = l->parser.problem_mark.line + 1;
        return fault(l, err, l->parser.problem ? l->parser.problem : "not YAML");
    }
    l->line = event->start_mark.line + 1;
    return OK;
}

static struct slice scalar_of(const yaml_event_t *event)
{
    struct slice text = slice_of(event->data.scalar.value, event->data.scalar.length);
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && (slice_is(text, "~") || slice_is(text, "null")))
        text.len = 0;
    return text;
}

static enum err_code set(struct loader *l, struct slice value, struct err *err)
{
    struct slice name = buf_view(&l->name);
    void *before = map_get(&l->seen, name);
    if (before) {
        char what[100];
        snprintf(what, sizeof what, "this option was given in line %zu already", (size_t)(uintptr_t)before);
        return fault(l, err, what);
    }
    map_put(&l->seen, name, (void *)(uintptr_t)l->line);
    snprintf(l->where, sizeof l->where, "%.100s:%zu", l->file_name, l->line);
    return conf_set(l->conf, CONF_FROM_FILE, name, value, l->where, err);
}

/* Up to the end of a sequence: its scalars, with commas between. */
static enum err_code join_sequence(struct loader *l, struct buf *joined, struct err *err)
{
    for (;;) {
        yaml_event_t event;
        TRY(next(l, &event, err));
        yaml_event_type_t type = event.type;
        if (type == YAML_SCALAR_EVENT) {
            if (joined->len)
                buf_put_u8(joined, ',');
            buf_put_slice(joined, scalar_of(&event));
        }
        yaml_event_delete(&event);
        if (type == YAML_SEQUENCE_END_EVENT)
            return OK;
        if (type != YAML_SCALAR_EVENT)
            return fault(l, err, "a sequence may hold single values only");
    }
}

static enum err_code read_mapping(struct loader *l, size_t depth, struct err *err);

static enum err_code read_value(struct loader *l, size_t depth, struct err *err)
{
    yaml_event_t event;
    TRY(next(l, &event, err));
    enum err_code code;
    struct buf joined = {0};
    switch (event.type) {
    case YAML_SCALAR_EVENT:
        code = set(l, scalar_of(&event), err);
        break;
    case YAML_SEQUENCE_START_EVENT:
        code = join_sequence(l, &joined, err);
        if (code == OK)
            code = set(l, buf_view(&joined), err);
        break;
    case YAML_MAPPING_START_EVENT:
        buf_put_u8(&l->name, '.');
        code = read_mapping(l, depth + 1, err);
        break;
    default:
        code = fault(l, err, "aliases are not taken");
    }
    yaml_event_delete(&event);
    buf_deinit(&joined);
    return code;
}

/* Up to the end of a mapping whose start was read; l->name holds what its names begin with. */
static enum err_code read_mapping(struct loader *l, size_t depth, struct err *err)
{
    if (depth > CONF_DEPTH_MAX)
        return fault(l, err, "nested too deep");
    size_t prefix_len = l->name.len;
    for (;;) {
        yaml_event_t event;
        TRY(next(l, &event, err));
        yaml_event_type_t type = event.type;
        l->name.len = prefix_len;
        if (type == YAML_SCALAR_EVENT)
            buf_put_slice(&l->name, slice_of(event.data.scalar.value, event.data.scalar.length));
        yaml_event_delete(&event);
        if (type == YAML_MAPPING_END_EVENT)
            return OK;
        if (type != YAML_SCALAR_EVENT)
            return fault(l, err, "the name of an option is expected here");
        TRY(read_value(l, depth, err));
    }
}

static enum err_code expect(struct loader *l, yaml_event_type_t wanted, const char *what, struct err *err)
{
    yaml_event_t event;
    TRY(next(l, &event, err));
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    return type == wanted ? OK : fault(l, err, what);
}

static enum err_code read_stream(struct loader *l, struct err *err)
{
    yaml_event_t event;
    TRY(expect(l, YAML_STREAM_START_EVENT, "not YAML", err));
    TRY(next(l, &event, err));
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    if (type == YAML_STREAM_END_EVENT)
        return OK; /* nothing, or comments only */
    TRY(next(l, &event, err));
    type = event.type;
    bool empty = type == YAML_SCALAR_EVENT && scalar_of(&event).len == 0;
    yaml_event_delete(&event);
    if (type == YAML_MAPPING_START_EVENT)
        TRY(read_mapping(l, 0, err));
    else if (!empty)
        return fault(l, err, "lines of the form option: value are expected");
    TRY(expect(l, YAML_DOCUMENT_END_EVENT, "not YAML", err));
    return expect(l, YAML_STREAM_END_EVENT, "a second document is not taken", err);
}

enum err_code conf_parse_yaml(struct conf *conf, struct slice text, const char *file_name, struct err *err)
{
    struct loader l = {.conf = conf, .file_name = file_name, .line = 1};
    if (!yaml_parser_initialize(&l.parser))
        return fault(&l, err, "no memory for the parser");
    yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&l.parser, text.ptr, text.len);
    enum err_code code = read_stream(&l, err);
    yaml_parser_delete(&l.parser);
    buf_deinit(&l.name);
    map_deinit(&l.seen);
    return code;
}

enum err_code conf_load_yaml(struct conf *conf, struct os *os, const char *path, struct err *err)
{
    struct buf text = {0};
    const char *slash = strrchr(path, '/');
    enum err_code code = os_read_whole(os, path, CONF_FILE_MAX, &text, err);
    if (code == OK)
        code = conf_parse_yaml(conf, buf_view(&text), slash ? slash + 1 : path, err);
    buf_deinit(&text);
    return code;
}
