/* Types, schemas and table descriptors, and their JSON texts (Apache Fluss's forms, version 1).
 *
 * Formats: docs/formats/rows.md; golden vectors schemas.jsonl. Everything lives in the arena it was made in and
 * is read-only afterwards, so it may be shared between threads. */
#ifndef WEIR_FORMAT_SCHEMA_SCHEMA_H
#define WEIR_FORMAT_SCHEMA_SCHEMA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* TYPE(name, JSON spelling, SQL spelling) in the order of the protocol's PbDataTypeRoot. */
enum type_kind {
    TYPE_BOOLEAN,
    TYPE_TINYINT,
    TYPE_SMALLINT,
    TYPE_INTEGER,
    TYPE_BIGINT,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_CHAR,
    TYPE_STRING,
    TYPE_BINARY,
    TYPE_BYTES,
    TYPE_DECIMAL,
    TYPE_DATE,
    TYPE_TIME,
    TYPE_TIMESTAMP,
    TYPE_TIMESTAMP_LTZ,
    TYPE_ARRAY,
    TYPE_MAP,
    TYPE_ROW,
    TYPE_KIND_COUNT
};

#define SCHEMA_COLUMNS_MAX 2048
#define SCHEMA_DEPTH_MAX 16 /* of nested types */
#define SCHEMA_JSON_BYTES_MAX (4u << 20)
#define SCHEMA_FIELDS_MAX 2048   /* of one ROW */
#define TYPE_LENGTH_MAX 16777216 /* of CHAR and BINARY: a value is padded to it in some formats */
#define DECIMAL_PRECISION_MAX 38
#define NAME_BYTES_MAX 200 /* of a database, table or partition value */

struct type;

struct field {
    struct slice name;
    const struct type *type;
    int32_t id;               /* -1: none given */
    struct slice description; /* ptr NULL: none */
};

struct type {
    enum type_kind kind;
    bool nullable;
    int32_t length;    /* CHAR, BINARY */
    int32_t precision; /* DECIMAL, TIME, TIMESTAMP, TIMESTAMP_LTZ */
    int32_t scale;     /* DECIMAL */
    /* ARRAY: one ("element"); MAP: two ("key", "value"); ROW: its fields */
    const struct field *fields;
    uint32_t field_count;
};

struct key_value {
    struct slice key;
    struct slice value;
};

/* Strings by name, as properties are; order is that of the text. */
struct properties {
    struct key_value *items;
    uint32_t count;
    uint32_t cap; /* 0: no more than count; two copies of one must not both grow */
};

/* Of a table or a database, each kind of them, and of changes to them in one request: every one is looked for among all
 * the others. */
#define PROPERTIES_MAX 4096

struct schema_column {
    struct slice name;
    const struct type *type;
    struct slice comment; /* ptr NULL: none */
    int32_t id;
    struct slice agg_function; /* lower case; ptr NULL: none */
    struct properties agg_parameters;
};

struct schema {
    struct schema_column *columns;
    uint32_t column_count;
    uint32_t *primary_key; /* column positions, in key order */
    uint32_t primary_key_count;
    int32_t auto_increment; /* column position, or -1 */
    int32_t highest_field_id;
};

struct table_descriptor {
    struct schema schema;
    struct slice comment;     /* ptr NULL: none */
    uint32_t *partition_keys; /* column positions */
    uint32_t partition_key_count;
    bool has_distribution; /* bucket_key was present */
    uint32_t *bucket_keys; /* column positions */
    uint32_t bucket_key_count;
    int32_t bucket_count;                /* -1: to be defaulted */
    struct properties properties;        /* table.* */
    struct properties custom_properties; /* anything else */
};

struct database_descriptor {
    struct slice comment; /* ptr NULL: none */
    struct properties custom_properties;
};

/* The JSON texts. Decoding checks what the text must hold (rows.md 2, 3): ids all or none, unique, below the highest;
 * names unique and not reserved; key columns exist and are not nested; primary key columns are forced NOT NULL; missing
 * ids are given by position. errors: INVALID_TABLE_EXCEPTION with what is wrong; bigger than SCHEMA_JSON_BYTES_MAX or
 * deeper than SCHEMA_DEPTH_MAX likewise. */
MUST_CHECK enum err_code type_from_json(struct arena *arena, struct slice json, const struct type **type,
                                        struct err *err);
void type_to_json(const struct type *type, struct buf *out);
MUST_CHECK enum err_code schema_from_json(struct arena *arena, struct slice json, struct schema *schema,
                                          struct err *err);
void schema_to_json(const struct schema *schema, struct buf *out);
MUST_CHECK enum err_code table_descriptor_from_json(struct arena *arena, struct slice json,
                                                    struct table_descriptor *table, struct err *err);
void table_descriptor_to_json(const struct table_descriptor *table, struct buf *out);
/* errors: INVALID_DATABASE_EXCEPTION. An empty slice is a descriptor with nothing in it. */
MUST_CHECK enum err_code database_descriptor_from_json(struct arena *arena, struct slice json,
                                                       struct database_descriptor *database, struct err *err);
void database_descriptor_to_json(const struct database_descriptor *database, struct buf *out);

/* "DECIMAL(10, 2) NOT NULL": the SQL form that Fluss prints, also for nested types. */
void type_to_sql(const struct type *type, struct buf *out);
/* The parser of the same: any letter case, INT = INTEGER, VARCHAR(2147483647) = STRING and so on as Flink SQL spells
 * types. errors: INVALID_ARGUMENT with the place. */
MUST_CHECK enum err_code type_from_sql(struct arena *arena, struct slice sql, const struct type **type,
                                       struct err *err);

/* The same for a type with more text behind it, as in a column list: *sql then begins behind the type
 * and the white space that follows it. */
MUST_CHECK enum err_code type_from_sql_prefix(struct arena *arena, struct slice *sql, const struct type **type,
                                              struct err *err);

const char *type_kind_json_name(enum type_kind kind); /* "TIMESTAMP_WITHOUT_TIME_ZONE" */
bool type_equal(const struct type *a, const struct type *b, bool with_nullability);
bool type_is_nested(const struct type *type);        /* ARRAY, MAP, ROW */
const struct type *type_simple(enum type_kind kind); /* static, nullable, default parameters; not for nested kinds */
/* Deep copy. */
const struct type *type_dup(struct arena *arena, const struct type *type);
const struct type *type_with_nullable(struct arena *arena, const struct type *type, bool nullable);
/* Copied as far as need be, each field of a ROW in it with the next id, outer ones first: as Fluss's clients number. */
const struct type *type_with_ids(struct arena *arena, const struct type *type, int32_t *next_id);

/* Position of the column, or -1. */
int32_t schema_find(const struct schema *schema, struct slice name);
int32_t schema_find_id(const struct schema *schema, int32_t id);
/* The column, by position, is one of the primary key. */
bool schema_in_key(const struct schema *schema, uint32_t column);
/* NULL where the key is not set. */
const struct slice *properties_get(const struct properties *props, const char *key);
void properties_set(struct arena *arena, struct properties *props, struct slice key, struct slice value);
void properties_remove(struct properties *props, const char *key);

/* The table's rules that clients and server share (rows.md 3): fills the bucket key of a primary-key table (primary key
 * less partition keys) and checks bucket and partition keys. errors: INVALID_TABLE_EXCEPTION. */
MUST_CHECK enum err_code table_descriptor_normalize(struct arena *arena, struct table_descriptor *table,
                                                    struct err *err);
/* Primary key less partition keys, in key order: the key of the stored rows. Room for primary_key_count positions. */
uint32_t table_physical_key(const struct table_descriptor *table, uint32_t *positions);
/* The bucket key is exactly the physical primary key (for a log table: it is empty). */
bool table_default_bucket_key(const struct table_descriptor *table);

/* 1..200 letters of [A-Za-z0-9_-], not "." or "..", not starting with "__". */
bool name_is_valid(struct slice name);

/* The formats of a lake that Fluss knows, as table.datalake.format names them: they decide how keys are encoded. */
enum lake_format { LAKE_NONE, LAKE_PAIMON, LAKE_ICEBERG, LAKE_LANCE, LAKE_HUDI, LAKE_FORMAT_COUNT };
const char *lake_format_name(enum lake_format format); /* "paimon"; NULL for LAKE_NONE */
/* Any letter case. False: no such format. */
bool lake_format_find(struct slice name, enum lake_format *format);

/* ALTER TABLE ... ADD: the column behind all others, with the ids that come next; its own id is not looked at. The
 * schema's list of columns becomes a new one in the arena.
 * errors  INVALID_ALTER_TABLE_EXCEPTION: a column of this name is there; INVALID_ARGUMENT: it is NOT NULL, which no row
 *         of before could be; INVALID_TABLE_EXCEPTION: more than SCHEMA_COLUMNS_MAX columns. */
MUST_CHECK enum err_code schema_add_column(struct arena *arena, struct schema *schema,
                                           const struct schema_column *column, struct err *err);

/* Every type object deep-copied into the arena. */
void schema_dup(struct arena *arena, const struct schema *schema, struct schema *copy);
void table_descriptor_dup(struct arena *arena, const struct table_descriptor *table, struct table_descriptor *copy);

#endif
