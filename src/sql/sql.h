/* The SQL that Fluss users know (Flink SQL), read into statements. What is served: databases, tables and partitions,
 * made, altered, dropped, shown and described. SELECT, INSERT, UPDATE and DELETE are answered with what does it today.
 *
 *   CREATE DATABASE [IF NOT EXISTS] d [COMMENT 'text'] [WITH ('k'='v', ...)]
 *   DROP DATABASE [IF EXISTS] d [RESTRICT | CASCADE]
 *   CREATE TABLE [IF NOT EXISTS] [d.]t (column type [NOT NULL] [COMMENT 'text'], ...,
 *     [[CONSTRAINT c] PRIMARY KEY (column, ...) NOT ENFORCED])
 *     [COMMENT 'text'] [PARTITIONED BY (column, ...)] [WITH ('k'='v', ...)]
 *   DROP TABLE [IF EXISTS] [d.]t
 *   SHOW PARTITIONS [d.]t [PARTITION (column = value, ...)]
 *   ALTER TABLE [d.]t ADD [IF NOT EXISTS] PARTITION (column = value, ...) ...
 *   ALTER TABLE [d.]t DROP [IF EXISTS] PARTITION (column = value, ...), ...
 *   ALTER TABLE [IF EXISTS] [d.]t ADD (column type [COMMENT 'text'], ...) | SET ('k'='v', ...) | RESET ('k', ...)
 *   ALTER DATABASE [IF EXISTS] d SET ('k'='v', ...) | RESET ('k', ...)
 *   SHOW DATABASES | SHOW TABLES [(FROM | IN) d] | SHOW CREATE TABLE [d.]t | (DESCRIBE | DESC) [d.]t | USE d
 *
 * Statements end with ';' or the end of the text. Words are free in letter case; names are bare or in backquotes; --
 * and slash-star comments. Of the options of a table `bucket.num` and `bucket.key` say how rows are spread, `table.*`
 * are its properties, all others its custom properties.
 *
 * errors  INVALID_ARGUMENT: "line 2, column 7: expected ..., found ..."; NOT_SUPPORTED: what comes later.
 * thread  any; a reader one at a time. */
#ifndef WEIR_SQL_SQL_H
#define WEIR_SQL_SQL_H

#include "format/schema/schema.h"

#define SQL_BYTES_MAX (4u << 20) /* of one text */
#define SQL_PARTITIONS_MAX 1000  /* of one statement */

enum sql_kind {
    SQL_CREATE_DATABASE,
    SQL_DROP_DATABASE,
    SQL_CREATE_TABLE,
    SQL_DROP_TABLE,
    SQL_ALTER_TABLE,
    SQL_ALTER_DATABASE,
    SQL_SHOW_DATABASES,
    SQL_SHOW_TABLES,
    SQL_SHOW_CREATE_TABLE,
    SQL_DESCRIBE,
    SQL_USE,
    SQL_SHOW_PARTITIONS,
    SQL_ADD_PARTITIONS,
    SQL_DROP_PARTITIONS
};

/* What ALTER changes: columns, or options. */
struct sql_alteration {
    struct schema_column *columns; /* without ids */
    uint32_t column_count;
    struct properties set;
    struct slice *reset;
    uint32_t reset_count;
};

struct sql_statement {
    enum sql_kind kind;
    struct slice database; /* ptr NULL: the current one */
    struct slice table;
    bool if_exists; /* IF EXISTS, or IF NOT EXISTS of CREATE */
    bool cascade;
    struct sql_alteration alteration;
    struct database_descriptor database_descriptor;
    struct properties *partitions; /* values as they stand in partitions' names */
    uint32_t partition_count;
    struct table_descriptor table_descriptor; /* ids given as Fluss's clients give them; not normalized */
};

struct sql_reader {
    struct slice text; /* the whole; more than SQL_BYTES_MAX is refused */
    size_t at;
    size_t error_at; /* after an error: the byte that it is about */
};

/* The next statement, in the arena and borrowing from the text. *have false: there is none. After an error the reader
 * stands behind the next ';', so one may go on. */
MUST_CHECK enum err_code sql_next(struct sql_reader *reader, struct arena *arena, struct sql_statement *statement,
                                  bool *have, struct err *err);
/* The line of the text that holds the byte, and under it a caret. */
void sql_show_place(struct slice text, size_t at, struct buf *out);

/* A statement that makes the table anew, as SHOW CREATE TABLE prints it. */
void sql_put_create_table(struct buf *out, struct slice database, struct slice table,
                          const struct table_descriptor *descriptor);
/* A name, in backquotes where it must be. */
void sql_put_name(struct buf *out, struct slice name);

#endif
