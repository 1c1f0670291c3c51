/* What the files of lake/paimon share. */
#ifndef WEIR_LAKE_PAIMON_PAIMON_INT_H
#define WEIR_LAKE_PAIMON_PAIMON_INT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "format/avro/avro.h"
#include "lake/paimon/paimon.h"

#include <inttypes.h>
#include <jansson.h>

#define SYSTEM_COLUMN_COUNT 3
#define SYSTEM_BUCKET "__bucket"
#define SYSTEM_OFFSET "__offset"
#define SYSTEM_TIMESTAMP "__timestamp"

/* ---- names and small files (disk.c) ---- */

struct path {
    char text[OS_PATH_MAX];
};

/* errors: LIMIT where it is longer than the system takes. */
MUST_CHECK enum err_code paimon_path_set(struct path *path, struct err *err, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The directory with its parents, each new name on disk. */
MUST_CHECK enum err_code paimon_dir_make(struct os *os, const char *path, struct err *err);
/* A file that is not there yet, on disk; its name is durable after os_dir_sync. */
MUST_CHECK enum err_code paimon_file_put_new(struct os *os, const char *path, struct slice bytes, struct err *err);
/* The file appears whole under its name, on disk, unless the name is taken: ALREADY_EXISTS. tmp is in the same
 * directory. */
MUST_CHECK enum err_code paimon_file_publish(struct os *os, const char *dir, const char *tmp, const char *path,
                                             struct slice bytes, struct err *err);
/* Fine if it is not there. */
MUST_CHECK enum err_code paimon_file_remove(struct os *os, const char *path, struct err *err);
/* errors: NOT_FOUND, LIMIT, what the disk says. */
MUST_CHECK enum err_code paimon_file_read(struct os *os, const char *path, size_t bytes_max, struct buf *out,
                                          struct err *err);

/* ---- JSON texts (text.c) ---- */

/* The object that a text holds; json_decref. errors: CORRUPT naming what. */
MUST_CHECK enum err_code paimon_text_parse(struct slice text, const char *what, json_t **object, struct err *err);
/* Members that must be there; CORRUPT with the name otherwise. Copies go into the arena. */
MUST_CHECK enum err_code paimon_text_i64(json_t *object, const char *name, int64_t *value, struct err *err);
MUST_CHECK enum err_code paimon_text_string(json_t *object, const char *name, struct arena *arena, struct slice *value,
                                            struct err *err);
/* Members that may be missing or null: *value stays. */
MUST_CHECK enum err_code paimon_text_optional_string(json_t *object, const char *name, struct arena *arena,
                                                     struct slice *value, struct err *err);
/* An object of strings; missing: none. */
MUST_CHECK enum err_code paimon_text_properties(json_t *object, const char *name, struct arena *arena,
                                                struct properties *out, struct err *err);
/* NULL where the key is not set. */
const struct slice *paimon_properties_find(const struct properties *props, struct slice key);
/* {...}, as the texts here have it. */
void paimon_text_put_properties(struct buf *out, const struct properties *props, const char *indent);

/* ---- types and schemas (type.c, schema.c) ---- */

/* Paimon's form of a Fluss type: TIME(p) becomes TIME(0), at any depth; ROW fields take the ids from *next_id on. */
const struct type *paimon_type_of(struct arena *arena, const struct type *type, int32_t *next_id);
/* TIME(p) as TIME(3): what columns are read and written in, since Paimon's TIME(0) has milliseconds. */
const struct type *paimon_type_in_memory(struct arena *arena, const struct type *type);
void paimon_type_put(struct buf *out, const struct type *type);
/* errors: CORRUPT; NOT_SUPPORTED for types that Fluss has not (MULTISET, VARIANT, ...). */
MUST_CHECK enum err_code paimon_type_read(struct arena *arena, json_t *json, const struct type **type, struct err *err);
/* The same values: names, nullability, ids left out, TIME of any precision. */
bool paimon_type_same(const struct type *a, const struct type *b);

/* columns have the types as they are on disk (TIME(0)). errors: CORRUPT, NOT_SUPPORTED. */
MUST_CHECK enum err_code paimon_schema_read(struct arena *arena, struct slice text, struct paimon_schema *schema,
                                            struct err *err);
void paimon_schema_put(struct buf *out, const struct paimon_schema *schema, int64_t time_ms);
/* The types in memory; everything else shared. */
void paimon_schema_in_memory(struct arena *arena, const struct paimon_schema *disk, struct paimon_schema *schema);
int32_t paimon_schema_column_find(const struct paimon_schema *schema, struct slice name);

/* ---- options (options.c) ---- */

/* The options of the lake table of a Fluss table, in the arena. errors: as paimon_table_check(). */
MUST_CHECK enum err_code paimon_options_of(struct arena *arena, const struct table_descriptor *descriptor,
                                           struct properties *options, struct err *err);
/* An option under which weir can't write: INVALID_CONFIG_EXCEPTION or LAKE, as code says. */
MUST_CHECK enum err_code paimon_options_writable(const struct properties *options, enum err_code code, struct err *err);

/* How data files are written, from the options. */
struct file_options {
    enum codec codec;
    int level;
    uint64_t file_bytes;
    bool changelog; /* changelog-producer = input */
    int32_t top_level;
    uint32_t run_count_max;
};

MUST_CHECK enum err_code paimon_file_options_read(const struct paimon_schema *schema, struct file_options *out,
                                                  struct err *err);

/* ---- a table that is open (table.c) ---- */

MUST_CHECK enum err_code paimon_place_dir(const struct paimon_place *place, struct path *path, struct err *err);

struct live;

struct paimon_table {
    struct os *os;
    struct arena arena;
    struct slice dir;             /* NUL behind it */
    struct paimon_schema *newest; /* types in memory */
    VEC(struct paimon_schema *) schemas;
    struct live *live; /* the files of the newest snapshot that was looked at */
};

#define TABLE_DIR(table) ((const char *)(table)->dir.ptr)

/* The schema of a file. errors: LAKE where it is not there. */
MUST_CHECK enum err_code paimon_table_schema_of(struct paimon_table *table, int64_t id,
                                                const struct paimon_schema **schema, struct err *err);
/* Whole schema text of the directory of a table; *id -1: there is no table. */
MUST_CHECK enum err_code paimon_table_newest_schema(struct os *os, const char *dir, int64_t *id, struct buf *text,
                                                    struct err *err);
/* The places in a directory of files called prefix + decimal number: least and greatest number; *any false: none. */
struct numbered {
    const char *prefix;
    bool any;
    int64_t least;
    int64_t greatest;
};

MUST_CHECK enum err_code paimon_numbered_find(struct os *os, const char *dir, struct numbered *out, struct err *err);

#endif
