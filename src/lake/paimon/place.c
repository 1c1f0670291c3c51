/* Where data files are.
 *
 *   TABLE/PARTITION1=VALUE1/PARTITION2=VALUE2/bucket-B/NAME
 *
 * The text of a value is the SQL cast to string (partition.legacy-name = false, which Fluss sets); null and blank:
 * __DEFAULT_PARTITION__; the bytes below 0x20, 0x7F and "#%'*=:/?\{}[]^ are written %XX. Golden: paimon_rows.jsonl,
 * partition/..., plain_path. Source: Apache Paimon, FileStorePathFactory, PartitionPathUtils, CastExecutors. */
#include "base/civil.h"
#include "base/number.h"
#include "format/row/row.h"
#include "lake/paimon/live_int.h"

#define DEFAULT_PARTITION "__DEFAULT_PARTITION__"

/* ---- rows in manifests ---- */

enum err_code row_unwrap(struct slice stored, uint32_t arity, struct slice *row, struct err *err)
{
    struct reader r = reader_of(stored);
    uint32_t have = reader_u32_be(&r);
    struct slice rest = reader_rest(&r);
    if (!reader_ok(&r) || have != arity)
        return err_set(err, ERR_CORRUPT, "a row in a manifest has not %u columns", arity);
    *row = rest;
    return OK;
}

enum err_code row_wrap(const struct type *row, const struct datum *values, struct buf *out, struct err *err)
{
    buf_put_u32_be(out, row->field_count);
    return row_encode(ROW_PAIMON, row, values, out, err);
}

/* ---- text of values ---- */

static void put_fraction(struct buf *out, int32_t nanos_of_second, int32_t digits)
{
    char text[16];
    if (digits <= 0)
        return;
    snprintf(text, sizeof text, "%09d", nanos_of_second);
    buf_printf(out, ".%.*s", (int)MIN(digits, 9), text);
}

static void put_clock(struct buf *out, int32_t millis_of_day)
{
    int32_t s = millis_of_day / 1000;
    buf_printf(out, "%02d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
}

/* As Java prints it: at least one digit, none that are 0 behind it. */
static void put_time_fraction(struct buf *out, int32_t millis, int32_t precision)
{
    if (precision > 0)
        buf_put_u8(out, '.');
    for (; precision > 0; precision--) {
        buf_put_u8(out, (uint8_t)('0' + millis / 100));
        millis = millis % 100 * 10;
        if (!millis)
            break;
    }
}

static void put_timestamp(struct buf *out, const struct datum *value, int32_t precision)
{
    int32_t millis;
    int64_t day = civil_day_of_millis(value->ts.millis, &millis);
    civil_put_date(out, day);
    buf_put_u8(out, ' ');
    put_clock(out, millis);
    put_fraction(out, millis % 1000 * 1000000 + value->ts.nanos, precision);
}

static enum err_code put_value(struct buf *out, const struct type *type, const struct datum *value, struct err *err)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_put_slice(out, value->boolean ? SLICE("true") : SLICE("false"));
        return OK;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_BIGINT:
        buf_printf(out, "%" PRId64, value->i64);
        return OK;
    case TYPE_FLOAT:
        number_put_java_float(out, value->f32);
        return OK;
    case TYPE_DOUBLE:
        number_put_java_double(out, value->f64);
        return OK;
    case TYPE_CHAR:
    case TYPE_STRING:
        buf_put_slice(out, value->bytes);
        return OK;
    case TYPE_DECIMAL:
        number_put_decimal(out, value->decimal, type->scale);
        return OK;
    case TYPE_DATE:
        civil_put_date(out, value->i64);
        return OK;
    case TYPE_TIME:
        put_clock(out, (int32_t)value->i64);
        put_time_fraction(out, (int32_t)(value->i64 % 1000), type->precision);
        return OK;
    case TYPE_TIMESTAMP:
        put_timestamp(out, value, type->precision);
        return OK;
    default:
        return err_set(err, ERR_NOT_SUPPORTED, "the lake can't be partitioned by a column of type %s",
                       type_kind_json_name(type->kind));
    }
}

static bool is_blank(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] > ' ')
            return false;
    return true;
}

static void put_escaped(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c < 0x20 || c == 0x7f || strchr("\"#%'*/:=?\\{}[]^", c))
            buf_printf(out, "%%%02X", c);
        else
            buf_put_u8(out, c);
    }
}

static enum err_code put_partition(struct buf *out, struct slice name, const struct type *type,
                                   const struct datum *value, struct err *err)
{
    struct buf text = {0};
    enum err_code code = value->is_null ? OK : put_value(&text, type, value, err);
    if (code == OK) {
        buf_put_u8(out, '/');
        put_escaped(out, name);
        buf_put_u8(out, '=');
        put_escaped(out, is_blank(buf_view(&text)) ? SLICE(DEFAULT_PARTITION) : buf_view(&text));
    }
    buf_deinit(&text);
    return code;
}

static enum err_code put_partitions(struct buf *out, struct arena *arena, const struct paimon_schema *schema,
                                    struct slice partition, struct err *err)
{
    const struct type *row = schema->partition_row;
    struct datum *values = ARENA_NEW_ARRAY(arena, struct datum, row->field_count + 1);
    struct slice bytes;
    TRY(row_unwrap(partition, row->field_count, &bytes, err));
    TRY(row_decode(ROW_PAIMON, row, bytes, arena, values, err));
    for (uint32_t i = 0; i < row->field_count; i++)
        TRY(put_partition(out, row->fields[i].name, row->fields[i].type, &values[i], err));
    return OK;
}

enum err_code bucket_dir(const struct paimon_table *table, struct slice partition, int32_t bucket, struct path *path,
                         struct err *err)
{
    struct arena arena = {0};
    struct buf text = {0};
    enum err_code code = OK;
    if (table->newest->partition_key_count)
        code = put_partitions(&text, &arena, table->newest, partition, err);
    if (code == OK)
        code = path_set(path, err, "%s%.*s/bucket-%d", TABLE_DIR(table), SLICE_ARGS(buf_view(&text)), bucket);
    buf_deinit(&text);
    arena_deinit(&arena);
    return code;
}

/* A path of another place, as a URI of this machine or a plain path. */
static enum err_code external_path(struct slice external, struct slice name, struct path *path, struct err *err)
{
    struct slice file = external;
    if (slice_starts_with(file, SLICE("file:")))
        file = slice_of(file.ptr + 5, file.len - 5);
    while (slice_starts_with(file, SLICE("//")))
        file = slice_of(file.ptr + 1, file.len - 1);
    if (!file.len || *file.ptr != '/')
        return err_set(err, ERR_NOT_SUPPORTED, "a data file is at %.*s", (int)MIN(external.len, 150),
                       (const char *)external.ptr);
    size_t dir = file.len;
    while (file.ptr[dir - 1] != '/')
        dir--;
    return path_set(path, err, "%.*s%.*s", (int)dir, (const char *)file.ptr, SLICE_ARGS(name));
}

enum err_code entry_path(const struct paimon_table *table, const struct entry *entry, struct slice name,
                         struct path *path, struct err *err)
{
    struct path dir;
    if (entry->external_path.ptr)
        return external_path(entry->external_path, name, path, err);
    TRY(bucket_dir(table, entry->partition, entry->bucket, &dir, err));
    return path_set(path, err, "%s/%.*s", dir.text, SLICE_ARGS(name));
}
