/* Parquet at a command line, so that other programs can judge it:
 *
 *   weir-parquet copy PROFILE CODEC IN OUT   reads IN (types as parquet_schema_infer has them), writes OUT
 *   weir-parquet bench ROWS OUT              writes and reads (bigint, int, double, string of 64), prints processor
 * time
 *
 * PROFILE is paimon or iceberg; CODEC none, zstd, gzip, snappy or lz4_raw. What is refused goes to standard error,
 * exit 1. */
#include "format/parquet/parquet.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>

#define SLICE_ROWS 5000
#define BENCH_BATCH_ROWS 10000

struct out_file {
    struct os_file *file;
    uint64_t at;
};

static enum err_code sink(void *arg, struct slice bytes, struct err *err)
{
    struct out_file *out = arg;
    TRY(os_file_write(out->file, out->at, bytes, err));
    out->at += bytes.len;
    return OK;
}

static enum err_code source(void *arg, uint64_t offset, void *ptr, size_t len, struct err *err)
{
    size_t got;
    TRY(os_file_read(arg, offset, ptr, len, &got, err));
    return got == len ? OK : err_set(err, ERR_CORRUPT, "the file is shorter than it was");
}

static enum err_code pour(struct parquet_reader *r, uint32_t count, struct parquet_writer *w, struct err *err)
{
    struct column *slice = mem_zalloc((count + (size_t)1) * sizeof *slice);
    enum err_code code = OK;
    for (uint32_t rows = 1; rows && code == OK;) {
        code = parquet_reader_next(r, SLICE_ROWS, slice, &rows, err);
        if (code == OK && rows && w)
            code = parquet_writer_write(w, slice, rows, err);
    }
    mem_free(slice);
    return code == OK && w ? parquet_writer_finish(w, err) : code;
}

static bool parse_codec(const char *name, enum codec *codec)
{
    for (int i = 0; i < CODEC_COUNT; i++)
        if (strcmp(codec_name((enum codec)i), name) == 0) {
            *codec = (enum codec)i;
            return true;
        }
    return false;
}

static enum err_code copy(struct os *os, char **argv, struct err *err)
{
    struct arena arena = {0};
    struct os_file *in = NULL;
    struct out_file out = {0};
    struct parquet_reader *r = NULL;
    struct parquet_writer *w = NULL;
    struct parquet_schema schema;
    struct parquet_writer_options options = parquet_writer_options_usual();
    struct schema_column *columns;
    uint64_t size;
    uint32_t count;
    enum parquet_profile profile = strcmp(argv[0], "iceberg") == 0 ? PARQUET_ICEBERG : PARQUET_PAIMON;
    enum err_code code = OK;
    if (!parse_codec(argv[1], &options.codec))
        return err_set(err, ERR_INVALID_ARGUMENT, "no codec %s", argv[1]);
    TRY_OR_FAIL(os_file_open(os, argv[2], OS_READ, &in, err));
    TRY_OR_FAIL(os_file_size(in, &size, err));
    TRY_OR_FAIL(parquet_reader_open(source, in, size, &r, err));
    TRY_OR_FAIL(parquet_schema_infer(&arena, parquet_reader_schema(r), &columns, &count, err));
    TRY_OR_FAIL(parquet_reader_select(r, columns, count, PARQUET_BY_NAME, err));
    TRY_OR_FAIL(os_file_open(os, argv[3], OS_WRITE | OS_CREATE | OS_TRUNC, &out.file, err));
    TRY_OR_FAIL(parquet_schema_build(&arena, profile, columns, count, &schema, err));
    TRY_OR_FAIL(parquet_writer_create(columns, count, &schema, &options, sink, &out, &w, err));
    TRY_OR_FAIL(pour(r, count, w, err));
fail:
    parquet_writer_destroy(w);
    parquet_reader_close(r);
    os_file_close(out.file);
    os_file_close(in);
    arena_deinit(&arena);
    return code;
}

/* ---- bench ---- */

static void bench_batch(struct column_builder *b, int64_t from)
{
    struct err err;
    char text[65];
    for (int c = 0; c < 4; c++)
        column_builder_reset(&b[c]);
    for (int64_t i = from; i < from + BENCH_BATCH_ROWS; i++) {
        uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u;
        snprintf(text, sizeof text, "%016llx row %-20lld and some more words", (unsigned long long)x, (long long)i);
        memset(text + strlen(text), '.', 64 - strlen(text));
        struct datum row[4] = {
            {.i64 = i}, {.i64 = (int32_t)(x >> 40)}, {.f64 = (double)(x >> 20) / 3}, {.bytes = slice_of(text, 64)}};
        for (int c = 0; c < 4; c++)
            if (column_builder_append(&b[c], &row[c], &err) != OK)
                abort();
    }
}

static enum err_code bench_write(struct os *os, int64_t rows, const struct schema_column *columns, struct out_file *out,
                                 double *seconds, struct err *err)
{
    struct arena arena = {0};
    struct parquet_schema schema;
    struct parquet_writer *w = NULL;
    struct column_builder b[4];
    struct column views[4];
    TRY(parquet_schema_build(&arena, PARQUET_PAIMON, columns, 4, &schema, err));
    TRY(parquet_writer_create(columns, 4, &schema, NULL, sink, out, &w, err));
    for (int c = 0; c < 4; c++)
        column_builder_init(&b[c], columns[c].type);
    for (int64_t at = 0; at < rows; at += BENCH_BATCH_ROWS) {
        bench_batch(b, at);
        for (int c = 0; c < 4; c++)
            column_builder_view(&b[c], &arena, &views[c]);
        int64_t start = os_cpu_ns(os);
        TRY(parquet_writer_write(w, views, BENCH_BATCH_ROWS, err));
        *seconds += (double)(os_cpu_ns(os) - start) / 1e9;
    }
    int64_t start = os_cpu_ns(os);
    TRY(parquet_writer_finish(w, err));
    *seconds += (double)(os_cpu_ns(os) - start) / 1e9;
    parquet_writer_destroy(w);
    for (int c = 0; c < 4; c++)
        column_builder_deinit(&b[c]);
    arena_deinit(&arena);
    return OK;
}

static enum err_code bench(struct os *os, char **argv, struct err *err)
{
    struct schema_column columns[4] = {{.name = SLICE("id"), .type = type_simple(TYPE_BIGINT), .id = 0},
                                       {.name = SLICE("n"), .type = type_simple(TYPE_INTEGER), .id = 1},
                                       {.name = SLICE("d"), .type = type_simple(TYPE_DOUBLE), .id = 2},
                                       {.name = SLICE("s"), .type = type_simple(TYPE_STRING), .id = 3}};
    struct out_file out = {0};
    struct parquet_reader *r;
    double write_seconds = 0;
    TRY(os_file_open(os, argv[1], OS_WRITE | OS_CREATE | OS_TRUNC, &out.file, err));
    TRY(bench_write(os, atoll(argv[0]), columns, &out, &write_seconds, err));
    int64_t start = os_cpu_ns(os);
    TRY(parquet_reader_open(source, out.file, out.at, &r, err));
    TRY(parquet_reader_select(r, columns, 4, PARQUET_BY_NAME, err));
    TRY(pour(r, 4, NULL, err));
    parquet_reader_close(r);
    printf("%llu bytes, write %.3f s, read %.3f s of processor time\n", (unsigned long long)out.at, write_seconds,
           (double)(os_cpu_ns(os) - start) / 1e9);
    os_file_close(out.file);
    return OK;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct os *os = os_real();
    enum err_code code = ERR_INVALID_ARGUMENT;
    if (argc == 6 && strcmp(argv[1], "copy") == 0)
        code = copy(os, argv + 2, &err);
    else if (argc == 4 && strcmp(argv[1], "bench") == 0)
        code = bench(os, argv + 2, &err);
    else
        err_set(&err, code, "usage: weir-parquet copy PROFILE CODEC IN OUT | bench ROWS OUT");
    if (code != OK)
        fprintf(stderr, "%s: %s\n", err_name(code), err.text);
    return code != OK;
}
