/* What the files of cmd share: one file a verb, each a function of what its command line says. */
#ifndef WEIR_CMD_CMD_INT_H
#define WEIR_CMD_CMD_INT_H

#include "base/vec.h"
#include "client/client.h"
#include "conf/conf.h"
#include "os/os.h"
#include "union/union.h"

/* What a verb ends with. */
enum {
    EXIT_YES = 0,
    EXIT_NO = 1,      /* the answer is no: not found, not equal */
    EXIT_UNKNOWN = 2, /* it could not tell: the deadline */
    EXIT_USAGE = 64,
    EXIT_UNREACHABLE = 69, /* no server answers; or none can start, as another has its address or directory */
    EXIT_FAULT = 70        /* our fault, or the machine's */
};

enum cmd_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_JSONL, FORMAT_CSV };

struct cmd;

/* Where a server is looked for if nothing is said. */
#define CMD_HOST "127.0.0.1"
#define CMD_PORT 9123
#define CMD_LAKE_SUFFIX "$lake" /* of a table's name: what the lake holds of it */

struct cmd_verb {
    const char *name;
    const char *args;    /* "TABLE KEY ..." */
    const char *summary; /* one line */
    const char *help;    /* the rest, with examples; NULL: the verb prints its own */
    const char *options; /* of those of args.c, beside the common ones: "deadline limit" */
    int (*run)(struct cmd *cmd);
    int (*raw)(struct os *os, int argc, char **argv); /* in place of run: reads its own arguments */
};

/* One command line, read. */
struct cmd {
    struct os *os;
    const struct cmd_verb *verb;
    const char **args; /* in place */
    int arg_count;
    char host[CONF_HOST_MAX];
    uint16_t port;
    const char *user; /* NULL: no login */
    const char *password;
    enum cmd_format format;
    bool terminal;       /* standard output is one */
    int64_t deadline_ms; /* 0: none given */
    int64_t limit;       /* -1: none given */
    const char *from;    /* NULL: not given */
    int64_t bucket;      /* -1: all */
    bool changes;
    bool hot;
    bool system_columns;
    bool now;
    struct client *client; /* cmd_connect */
};

/* ---- args.c ---- */

/* argv behind the verb. On failure the text tells what is wrong. */
MUST_CHECK enum err_code cmd_read_args(struct cmd *cmd, int argc, char **argv, struct err *err);
/* The word of the list (NULL at its end) that is nearest to word, or NULL if none is near. */
const char *cmd_nearest(const char *word, const char *const *list);
/* The help of a verb on standard output. */
void cmd_help(const struct cmd_verb *verb);

/* ---- main.c ---- */

/* An error as people see it, on standard error: the code and the cause, then the remedy; of a wrong call, the help of
 * the verb. */
void cmd_error(const char *verb, const struct err *err);
/* The same, and the exit code that fits. */
int cmd_fail(const struct cmd *cmd, const struct err *err);
int cmd_exit_code(enum err_code code);
/* "  try: weir ..." where standard output is a terminal and the format is the table. */
void cmd_try(const struct cmd *cmd, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A line on standard error. */
void cmd_note(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* ---- connect.c ---- */

/* Connects to --bootstrap; --deadline then bounds all calls. */
MUST_CHECK enum err_code cmd_connect(struct cmd *cmd, struct err *err);
/* "[db.]table"; the database is fluss where none is given. */
struct client_path cmd_path(const char *name);
/* Connects and opens the table of the first argument; TABLE$lake and the like are refused with what shows it. */
MUST_CHECK enum err_code cmd_open_table(struct cmd *cmd, struct client_table **table, struct err *err);
/* The same for a table by its path. */
MUST_CHECK enum err_code cmd_open_path(struct cmd *cmd, struct client_path path, struct client_table **table,
                                       struct err *err);
/* When --deadline is over, or 60 s after now where none was given (os_mono_ns). */
int64_t cmd_lake_deadline_ns(const struct cmd *cmd);
/* The row of a key as people give it: "42" for a key of one column, else {"a": 1, "b": 2}. */
MUST_CHECK enum err_code cmd_key(const struct client_table *table, struct slice text, struct arena *arena,
                                 struct datum *row, struct err *err);
/* Lines of standard input, without their ends; empty ones are left out. errors: LIMIT beyond CMD_LINE_MAX. */
#define CMD_LINE_MAX (64u << 20)
typedef enum err_code cmd_line_fn(void *arg, size_t number, struct slice line, struct err *err);
MUST_CHECK enum err_code cmd_each_line(struct os *os, cmd_line_fn *fn, void *arg, struct err *err);
double cmd_seconds_since(struct os *os, int64_t mono_ns);

/* ---- progress.c: what takes more than two seconds tells so, on a terminal ---- */

struct cmd_progress {
    struct os *os;
    bool on;
    bool shown;
    const char *what;
    int64_t started_ns;
    int64_t next_ns;
};
void cmd_progress_start(struct cmd_progress *progress, const struct cmd *cmd, const char *what);
/* done of total (0: not known). */
void cmd_progress_tell(struct cmd_progress *progress, int64_t done, int64_t total);
void cmd_progress_end(struct cmd_progress *progress); /* wipes the line */
/* A union_progress_fn; arg is a struct cmd_progress. A new word for what is done begins a new estimate. */
void cmd_progress_union(void *arg, const char *what, int64_t done, int64_t total);

/* ---- printer.c: rows on standard output ---- */

#define PRINTER_COLUMNS_MAX (SCHEMA_COLUMNS_MAX + 8)
#define PRINTER_ROWS_MAX 1000 /* that the widths of a table are made of; later rows follow in these widths */

struct printer_column {
    struct slice name;
    struct slice type; /* under the name, in a table; ptr NULL: none */
    bool right;        /* numbers */
};

struct printer {
    struct os *os;
    enum cmd_format format;
    struct printer_column *columns;
    size_t column_count;
    bool has_types;
    size_t at; /* the column of the next cell */
    uint64_t row_count;
    struct buf out;    /* to be written */
    struct arena kept; /* rows that wait for the widths */
    VEC(struct slice) cells;
    size_t *widths;
    bool streaming;    /* the widths are fixed */
    struct err failed; /* of a write */
};

/* The columns are copied. */
void printer_init(struct printer *printer, const struct cmd *cmd, const struct printer_column *columns, size_t count);
void printer_deinit(struct printer *printer);
/* The cells of a row, one a column, in order. */
void printer_text(struct printer *printer, struct slice text);
void printer_i64(struct printer *printer, int64_t value);
void printer_decimal(struct printer *printer, double value, int digits); /* behind the point */
void printer_bool(struct printer *printer, bool value);
void printer_null(struct printer *printer);
void printer_datum(struct printer *printer, const struct type *type, const struct datum *value);
/* All columns of a schema as columns of a printer, their types in the arena. */
void printer_schema_columns(const struct schema *schema, struct arena *arena, struct printer_column *columns);
/* Writes what is there, for output that others wait for. errors: of the write (CLOSED: nobody reads any more). */
MUST_CHECK enum err_code printer_flush(struct printer *printer, struct err *err);
MUST_CHECK enum err_code printer_finish(struct printer *printer, struct err *err);

/* ---- sample.c ---- */

/* {"id": 1, "name": "a"}: every column that must have a value, and a few more. False: some type has no sample. */
bool cmd_sample_row(const struct schema *schema, struct buf *out);

/* ---- service.c: a server with its tiering service, in this process ---- */

struct trace;

struct cmd_service {
    struct server *server;
    struct tier *tier;          /* NULL: not wanted */
    char tier_dir[OS_PATH_MAX]; /* borrowed by tier */
};

/* conf and trace are borrowed until the stop. errors: of server_start and tier_start; then nothing runs. */
MUST_CHECK enum err_code cmd_service_start(struct cmd_service *service, struct os *os, struct conf *conf,
                                           struct trace *trace, struct err *err);
void cmd_service_stop(struct cmd_service *service); /* (blocks); the zero value is fine */

/* ---- verbs ---- */

int cmd_server(struct os *os, int argc, char **argv);
/* A flag of the server's with its value at argv[i]; *taken tells how many words it was, 0: none of these. */
MUST_CHECK enum err_code cmd_server_flag(struct os *os, struct conf *conf, int argc, char **argv, int i, int *taken,
                                         struct err *err);
/* The error for an argument that is none of the flags (NULL at their end), with the nearest. */
enum err_code cmd_unknown_flag(const char *verb, const char *word, const char *const *flags, struct err *err);
int cmd_demo(struct os *os, int argc, char **argv);
int cmd_sql(struct cmd *cmd);
int cmd_tables(struct cmd *cmd);
int cmd_put(struct cmd *cmd);
int cmd_delete(struct cmd *cmd);
int cmd_get(struct cmd *cmd);
int cmd_tail(struct cmd *cmd);
int cmd_scan(struct cmd *cmd);
int cmd_wait(struct cmd *cmd);
int cmd_verify(struct cmd *cmd);
int cmd_version(struct cmd *cmd);

#endif
