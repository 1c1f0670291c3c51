/* The end of a file that anybody may have written; its shape stands at the top of footer_write.c.
 *
 * The bytes may lie about everything: counts are checked against the bytes that are left, the tree against its depth,
 * the places of chunks against the file. */
#include "format/parquet/parquet_int.h"

struct parse {
    struct arena *arena;
    struct reader r;
    uint64_t file_bytes;
    struct parquet_footer *footer;
    struct err *err;
};

/* SchemaElement as it stands in the list, before it becomes a node. */
struct element {
    struct parquet_node node;
    int32_t physical; /* -1: none, a group */
    int32_t repetition;
    int32_t child_count;
    int32_t converted;
};

typedef VEC(struct element) element_vec;

static enum err_code bad(struct parse *p, const char *what)
{
    return err_set(p->err, ERR_CORRUPT, "Parquet footer: %s", what);
}

static enum err_code refused(struct parse *p, const char *what)
{
    return err_set(p->err, ERR_NOT_SUPPORTED, "Parquet: %s", what);
}

enum err_code parquet_codec_from_number(int32_t number, enum codec *codec, struct err *err)
{
    static const struct {
        const char *name;
        int codec;
    } codecs[] = {
        {"none", CODEC_NONE}, {"snappy", CODEC_SNAPPY},       {"gzip", CODEC_GZIP}, {"LZO", -1},
        {"Brotli", -1},       {"LZ4 in Hadoop's frames", -1}, {"zstd", CODEC_ZSTD}, {"LZ4_RAW", CODEC_LZ4_RAW}};
    if (number < 0 || (size_t)number >= ARRAY_LEN(codecs))
        return err_set(err, ERR_CORRUPT, "Parquet: there is no codec %d", number);
    if (codecs[number].codec < 0)
        return err_set(err, ERR_NOT_SUPPORTED, "Parquet files compressed with %s are not read", codecs[number].name);
    *codec = (enum codec)codecs[number].codec;
    return OK;
}

/* ---- types ---- */

static enum parquet_unit parse_unit(struct reader *r)
{
    struct thrift_field f = {0};
    enum parquet_unit unit = PARQUET_MILLIS;
    for (; thrift_next(r, &f); thrift_skip(r, &f))
        unit = f.id == 2 ? PARQUET_MICROS : f.id == 3 ? PARQUET_NANOS : PARQUET_MILLIS;
    return unit;
}

static void parse_time(struct reader *r, struct parquet_node *n)
{
    struct thrift_field f = {0};
    while (thrift_next(r, &f)) {
        if (f.id == 1)
            n->utc = thrift_bool(r, &f);
        else if (f.id == 2 && thrift_is_struct(r, &f))
            n->unit = parse_unit(r);
        else
            thrift_skip(r, &f);
    }
}

static void parse_decimal(struct reader *r, struct parquet_node *n)
{
    struct thrift_field f = {0};
    while (thrift_next(r, &f)) {
        if (f.id == 1)
            n->scale = thrift_i32(r, &f);
        else if (f.id == 2)
            n->precision = thrift_i32(r, &f);
        else
            thrift_skip(r, &f);
    }
}

static void parse_int(struct reader *r, struct parquet_node *n)
{
    struct thrift_field f = {0};
    while (thrift_next(r, &f)) {
        if (f.id == 1 && f.type == THRIFT_BYTE)
            n->bit_width = (int8_t)reader_u8(r);
        else if (f.id == 2)
            n->is_unsigned = !thrift_bool(r, &f);
        else
            thrift_skip(r, &f);
    }
}

static void parse_logical(struct reader *r, struct parquet_node *n)
{
    static const enum parquet_logical kinds[] = {
        [1] = PARQUET_STRING, [2] = PARQUET_MAP,  [3] = PARQUET_LIST,      [4] = PARQUET_STRING, [5] = PARQUET_DECIMAL,
        [6] = PARQUET_DATE,   [7] = PARQUET_TIME, [8] = PARQUET_TIMESTAMP, [10] = PARQUET_INT,   [12] = PARQUET_STRING};
    struct thrift_field f = {0};
    while (thrift_next(r, &f)) {
        n->logical = f.id >= 0 && (size_t)f.id < ARRAY_LEN(kinds) ? kinds[f.id] : PARQUET_PLAIN_TYPE;
        bool inside = f.type == THRIFT_STRUCT;
        if (inside && n->logical == PARQUET_DECIMAL)
            parse_decimal(r, n);
        else if (inside && (n->logical == PARQUET_TIME || n->logical == PARQUET_TIMESTAMP))
            parse_time(r, n);
        else if (inside && n->logical == PARQUET_INT)
            parse_int(r, n);
        else
            thrift_skip(r, &f);
    }
}

/* Files from before logical types have only these. */
static void apply_converted(struct element *e)
{
    static const struct {
        enum parquet_logical logical;
        enum parquet_unit unit;
        int32_t bit_width;
        bool is_unsigned;
    } table[] = {{PARQUET_STRING, 0, 0, 0},
                 {PARQUET_MAP, 0, 0, 0},
                 {PARQUET_MAP, 0, 0, 0}, /* MAP_KEY_VALUE */
                 {PARQUET_LIST, 0, 0, 0},
                 {PARQUET_STRING, 0, 0, 0}, /* ENUM */
                 {PARQUET_DECIMAL, 0, 0, 0},
                 {PARQUET_DATE, 0, 0, 0},
                 {PARQUET_TIME, PARQUET_MILLIS, 0, 0},
                 {PARQUET_TIME, PARQUET_MICROS, 0, 0},
                 {PARQUET_TIMESTAMP, PARQUET_MILLIS, 0, 0},
                 {PARQUET_TIMESTAMP, PARQUET_MICROS, 0, 0},
                 {PARQUET_INT, 0, 8, true},
                 {PARQUET_INT, 0, 16, true},
                 {PARQUET_INT, 0, 32, true},
                 {PARQUET_INT, 0, 64, true},
                 {PARQUET_INT, 0, 8, false},
                 {PARQUET_INT, 0, 16, false},
                 {PARQUET_INT, 0, 32, false},
                 {PARQUET_INT, 0, 64, false},
                 {PARQUET_STRING, 0, 0, 0}}; /* JSON */
    if (e->node.logical != PARQUET_PLAIN_TYPE || e->converted < 0 || (size_t)e->converted >= ARRAY_LEN(table))
        return;
    e->node.logical = table[e->converted].logical;
    e->node.unit = table[e->converted].unit;
    e->node.bit_width = table[e->converted].bit_width;
    e->node.is_unsigned = table[e->converted].is_unsigned;
    e->node.utc = true;
}

/* ---- the tree ---- */

static void parse_element_field(struct parse *p, const struct thrift_field *f, struct element *e)
{
    switch (f->id) {
    case 1:
        e->physical = thrift_i32(&p->r, f);
        break;
    case 2:
        e->node.type_length = (uint32_t)thrift_i32(&p->r, f);
        break;
    case 3:
        e->repetition = thrift_i32(&p->r, f);
        break;
    case 4:
        e->node.name = arena_dup(p->arena, thrift_binary(&p->r, f));
        break;
    case 5:
        e->child_count = thrift_i32(&p->r, f);
        break;
    case 6:
        e->converted = thrift_i32(&p->r, f);
        break;
    case 7:
        e->node.scale = thrift_i32(&p->r, f);
        break;
    case 8:
        e->node.precision = thrift_i32(&p->r, f);
        break;
    case 9:
        e->node.field_id = thrift_i32(&p->r, f);
        break;
    case 10:
        if (thrift_is_struct(&p->r, f))
            parse_logical(&p->r, &e->node);
        break;
    default:
        thrift_skip(&p->r, f);
    }
}

static enum err_code parse_element(struct parse *p, struct element *e)
{
    struct thrift_field f = {0};
    *e = (struct element){.physical = -1, .converted = -1};
    e->node.field_id = -1;
    while (thrift_next(&p->r, &f))
        parse_element_field(p, &f, e);
    if (!reader_ok(&p->r))
        return bad(p, "the schema is cut off");
    apply_converted(e);
    if (e->physical < -1 || e->physical >= PARQUET_PHYSICAL_COUNT || e->repetition < 0 || e->repetition > 2)
        return bad(p, "a column has a type or repetition that there is not");
    e->node.is_group = e->physical < 0;
    e->node.physical = e->node.is_group ? PARQUET_BOOLEAN : (enum parquet_physical)e->physical;
    e->node.repetition = (enum parquet_repetition)e->repetition;
    bool fixed = e->physical == PARQUET_FIXED;
    if (fixed && (e->node.type_length == 0 || e->node.type_length > PARQUET_PAGE_BYTES_MAX))
        return bad(p, "a column of fixed length has none");
    return OK;
}

/* Makes the node at *at of the list and all below it. */
static enum err_code make_tree(struct parse *p, const element_vec *list, size_t *at, unsigned depth,
                               struct parquet_node *out)
{
    const struct element *e = &list->ptr[(*at)++];
    *out = e->node;
    if (!out->is_group)
        return e->child_count ? bad(p, "a column with a physical type has children") : OK;
    if (e->child_count < 0 || (size_t)e->child_count > list->len - *at)
        return bad(p, "a group has more children than there are columns");
    if (e->child_count == 0 && depth > 0)
        return bad(p, "a group has no children");
    if (depth >= PARQUET_DEPTH_MAX)
        return err_set(p->err, ERR_LIMIT, "Parquet: more than %d groups within one another", PARQUET_DEPTH_MAX);
    out->child_count = (uint32_t)e->child_count;
    out->children = ARENA_NEW_ARRAY(p->arena, struct parquet_node, out->child_count);
    for (uint32_t i = 0; i < out->child_count; i++) {
        if (*at >= list->len)
            return bad(p, "a group has more children than there are columns");
        TRY(make_tree(p, list, at, depth + 1, &out->children[i]));
    }
    return OK;
}

static enum err_code parse_schema(struct parse *p, const struct thrift_field *f)
{
    element_vec list = {0};
    size_t at = 0;
    enum err_code code = OK;
    for (uint32_t count = thrift_list(&p->r, f, THRIFT_STRUCT); count && code == OK; count--)
        code = parse_element(p, vec_add(&list));
    if (code == OK && (!list.len || !list.ptr[0].node.is_group))
        code = bad(p, "the schema has no root");
    if (code == OK) {
        list.ptr[0].node.repetition = PARQUET_REQUIRED; /* some writers say REPEATED; it has no level */
        code = make_tree(p, &list, &at, 0, &p->footer->schema.root);
    }
    if (code == OK && at != list.len)
        code = bad(p, "columns follow behind the last child of the root");
    vec_deinit(&list);
    return code == OK ? parquet_schema_number(p->arena, &p->footer->schema, p->err) : code;
}

/* ---- row groups ---- */

struct chunk_parse {
    int32_t physical;
    int64_t data_start;
    int64_t dictionary_start;
    int64_t packed_bytes;
    struct parquet_chunk chunk;
};

static void parse_chunk_meta(struct reader *r, struct chunk_parse *c)
{
    struct thrift_field f = {0};
    while (thrift_next(r, &f)) {
        if (f.id == 1)
            c->physical = thrift_i32(r, &f);
        else if (f.id == 4)
            c->chunk.codec = thrift_i32(r, &f);
        else if (f.id == 5)
            c->chunk.entries = thrift_i64(r, &f);
        else if (f.id == 7)
            c->packed_bytes = thrift_i64(r, &f);
        else if (f.id == 9)
            c->data_start = thrift_i64(r, &f);
        else if (f.id == 11)
            c->dictionary_start = thrift_i64(r, &f);
        else
            thrift_skip(r, &f);
    }
}

static enum err_code parse_chunk(struct parse *p, struct parquet_chunk *out, uint32_t leaf)
{
    struct chunk_parse c = {.physical = -1};
    bool encrypted = false;
    struct thrift_field f = {0};
    while (thrift_next(&p->r, &f)) {
        if (f.id == 3 && thrift_is_struct(&p->r, &f))
            parse_chunk_meta(&p->r, &c);
        else if (f.id == 1)
            c.chunk.elsewhere = thrift_binary(&p->r, &f).len > 0;
        else {
            encrypted |= f.id == 8 || f.id == 9;
            thrift_skip(&p->r, &f);
        }
    }
    if (!reader_ok(&p->r))
        return bad(p, "a column chunk is cut off");
    if (encrypted)
        return refused(p, "encrypted columns are not read");
    if (c.chunk.elsewhere)
        return refused(p, "columns in another file are not read");
    const struct parquet_schema *schema = &p->footer->schema;
    if (leaf >= schema->leaf_count || c.physical != (int32_t)schema->leaves[leaf]->physical)
        return bad(p, "a column chunk is not of its column's type");
    if (c.chunk.entries == 0) { /* then writers give it any place */
        *out = (struct parquet_chunk){.codec = c.chunk.codec};
        return OK;
    }
    /* Some writers set the dictionary's place to 0 where there is none. */
    bool has_dictionary = c.dictionary_start > 0 && c.dictionary_start < c.data_start;
    int64_t start = has_dictionary ? c.dictionary_start : c.data_start;
    if (start < 4 || c.packed_bytes < 0 || (uint64_t)start > p->file_bytes ||
        (uint64_t)c.packed_bytes > p->file_bytes - (uint64_t)start || c.chunk.entries < 0)
        return bad(p, "a column chunk lies outside of the file");
    c.chunk.start = (uint64_t)start;
    c.chunk.packed_bytes = (uint64_t)c.packed_bytes;
    *out = c.chunk;
    return OK;
}

static enum err_code parse_chunks(struct parse *p, const struct thrift_field *f, struct parquet_group *group)
{
    uint32_t count = thrift_list(&p->r, f, THRIFT_STRUCT);
    if (!reader_ok(&p->r) || count != p->footer->schema.leaf_count)
        return bad(p, "a row group has not one chunk for each column");
    group->chunks = ARENA_NEW_ARRAY(p->arena, struct parquet_chunk, count);
    for (uint32_t i = 0; i < count; i++)
        TRY(parse_chunk(p, &group->chunks[i], i));
    return OK;
}

static enum err_code parse_group(struct parse *p, struct parquet_group *group)
{
    struct thrift_field f = {0};
    while (thrift_next(&p->r, &f)) {
        if (f.id == 1)
            TRY(parse_chunks(p, &f, group));
        else if (f.id == 2)
            group->plain_bytes = (uint64_t)thrift_i64(&p->r, &f);
        else if (f.id == 3)
            group->rows = thrift_i64(&p->r, &f);
        else
            thrift_skip(&p->r, &f);
    }
    if (!reader_ok(&p->r) || !group->chunks || group->rows < 0)
        return bad(p, "a row group is cut off");
    return OK;
}

static enum err_code parse_groups(struct parse *p, const struct thrift_field *f)
{
    if (!p->footer->schema.leaves)
        return bad(p, "row groups come before the schema");
    uint32_t count = thrift_list(&p->r, f, THRIFT_STRUCT);
    p->footer->groups = ARENA_NEW_ARRAY(p->arena, struct parquet_group, count);
    p->footer->group_count = count;
    for (uint32_t i = 0; i < count; i++)
        TRY(parse_group(p, &p->footer->groups[i]));
    return OK;
}

/* ---- the whole ---- */

static void parse_properties(struct parse *p, const struct thrift_field *f)
{
    uint32_t count = thrift_list(&p->r, f, THRIFT_STRUCT);
    struct properties *props = &p->footer->properties;
    props->items = ARENA_NEW_ARRAY(p->arena, struct key_value, count);
    for (uint32_t i = 0; i < count && reader_ok(&p->r); i++) {
        struct thrift_field kv = {0};
        struct key_value *item = &props->items[props->count++];
        while (thrift_next(&p->r, &kv)) {
            if (kv.id == 1)
                item->key = arena_dup(p->arena, thrift_binary(&p->r, &kv));
            else if (kv.id == 2)
                item->value = arena_dup(p->arena, thrift_binary(&p->r, &kv));
            else
                thrift_skip(&p->r, &kv);
        }
    }
}

static enum err_code check_rows(struct parse *p)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < p->footer->group_count; i++)
        rows += (uint64_t)p->footer->groups[i].rows;
    return rows == (uint64_t)p->footer->rows ? OK : bad(p, "the row groups do not have the rows of the file");
}

enum err_code parquet_footer_parse(struct arena *arena, struct slice bytes, uint64_t file_bytes,
                                   struct parquet_footer *footer, struct err *err)
{
    struct parse p = {arena, reader_of(bytes), file_bytes, footer, err};
    struct thrift_field f = {0};
    *footer = (struct parquet_footer){0};
    while (thrift_next(&p.r, &f)) {
        if (f.id == 2 && !footer->schema.leaves)
            TRY(parse_schema(&p, &f));
        else if (f.id == 3)
            footer->rows = thrift_i64(&p.r, &f);
        else if (f.id == 4 && !footer->groups)
            TRY(parse_groups(&p, &f));
        else if (f.id == 5 && !footer->properties.items)
            parse_properties(&p, &f);
        else if (f.id == 8)
            return refused(&p, "encrypted files are not read");
        else
            thrift_skip(&p.r, &f);
    }
    if (!reader_ok(&p.r) || !footer->schema.leaves)
        return bad(&p, "it is cut off");
    return check_rows(&p);
}
