/* One data file, as columns of a schema of the table. */
#include "lake/paimon/read_int.h"

#define ABSENT SLICE("\001 absent") /* a name that no column has: it reads as null */

static enum err_code source(void *arg, uint64_t offset, void *ptr, size_t len, struct err *err)
{
    size_t got;
    TRY(os_file_read(arg, offset, ptr, len, &got, err));
    return got == len ? OK : err_set(err, ERR_CORRUPT, "a data file of the lake is shorter than it was");
}

/* The name that a column of the schema has in files of another one. */
static struct slice name_in(const struct paimon_schema *schema, const struct paimon_schema *of_file, struct slice name)
{
    int32_t at = paimon_schema_column_find(schema, name);
    if (at < 0) /* what Paimon adds, or a column that the lake has not */
        return paimon_schema_column_find(of_file, name) < 0 ? name : ABSENT;
    for (uint32_t i = 0; i < of_file->column_count; i++)
        if (of_file->columns[i].id == schema->columns[at].id)
            return of_file->columns[i].name;
    return ABSENT;
}

static enum err_code name_columns(struct paimon_table *table, const struct paimon_schema *schema,
                                  const struct entry *entry, struct data_reader *reader, struct err *err)
{
    const struct paimon_schema *of_file;
    if (entry->schema_id == schema->id)
        return OK;
    TRY(paimon_table_schema_of(table, entry->schema_id, &of_file, err));
    for (uint32_t i = 0; i < reader->column_count; i++)
        reader->wanted[i].name = name_in(schema, of_file, reader->wanted[i].name);
    return OK;
}

/* Bytes that are wrong are told with the file that has them. */
static enum err_code named(const struct data_reader *reader, enum err_code code, struct err *err)
{
    if (code != ERR_CORRUPT || !err)
        return code;
    struct err inner = *err;
    return err_set(err, code, "data file %.*s: %.150s", (int)MIN(reader->name.len, 70), (const char *)reader->name.ptr,
                   inner.text);
}

static enum err_code open_file(struct paimon_table *table, const struct entry *entry, struct data_reader *reader,
                               struct err *err)
{
    struct path path;
    uint64_t size;
    if (!slice_ends_with(entry->name, SLICE(".parquet")))
        return err_set(err, ERR_NOT_SUPPORTED, "%.*s is not a Parquet file", (int)MIN(entry->name.len, 100),
                       (const char *)entry->name.ptr);
    TRY(paimon_entry_path(table, entry, entry->name, &path, err));
    TRY(os_file_open(table->os, path.text, OS_READ, &reader->file, err));
    TRY(os_file_size(reader->file, &size, err));
    return parquet_reader_open(source, reader->file, size, &reader->parquet, err);
}

enum err_code paimon_data_reader_open(struct paimon_table *table, const struct paimon_schema *schema,
                                      const struct entry *entry, const struct schema_column *columns,
                                      uint32_t column_count, struct data_reader *reader, struct err *err)
{
    enum err_code code;
    *reader = (struct data_reader){.name = entry->name, .column_count = column_count};
    reader->wanted = mem_zalloc((column_count + (size_t)1) * sizeof *reader->wanted);
    reader->columns = mem_zalloc((column_count + (size_t)1) * sizeof *reader->columns);
    memcpy(reader->wanted, columns, column_count * sizeof *columns);
    TRY_OR_FAIL(name_columns(table, schema, entry, reader, err));
    TRY_OR_FAIL(open_file(table, entry, reader, err));
    TRY_OR_FAIL(parquet_reader_select(reader->parquet, reader->wanted, column_count, PARQUET_BY_NAME, err));
    return OK;
fail:
    code = named(reader, code, err);
    paimon_data_reader_close(reader);
    return code;
}

void paimon_data_reader_close(struct data_reader *reader)
{
    parquet_reader_close(reader->parquet);
    os_file_close(reader->file);
    mem_free(reader->wanted);
    mem_free(reader->columns);
    *reader = (struct data_reader){0};
}

enum err_code paimon_data_reader_next(struct data_reader *reader, uint32_t row_count_max, uint32_t *row_count,
                                      struct err *err)
{
    return named(reader, parquet_reader_next(reader->parquet, row_count_max, reader->columns, row_count, err), err);
}
