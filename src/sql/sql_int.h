/* Inside sql: tokens and the parser's verbs. */
#ifndef WEIR_SQL_SQL_INT_H
#define WEIR_SQL_SQL_INT_H

#include "sql/sql.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_STRING, TOKEN_NUMBER, TOKEN_SYMBOL, TOKEN_BAD };

struct token {
    enum token_kind kind;
    size_t at;         /* in the text */
    struct slice text; /* as written */
    const char *fault; /* TOKEN_BAD */
};

struct parser {
    struct sql_reader *reader;
    struct arena *arena;
    struct token token; /* the one to look at */
    struct err *err;
};

/* lexer.c */
void parser_init(struct parser *p, struct sql_reader *reader, struct arena *arena, struct err *err);
void parser_advance(struct parser *p);
/* Goes on at this byte of the text. */
void parser_seek(struct parser *p, size_t at);
/* The value of a quoted name or a string, doubled quotes made single. */
struct slice token_value(struct arena *arena, const struct token *token);

enum err_code parser_refuse(struct parser *p, const char *where, size_t at, const char *fmt, ...) PRINTF_LIKE(4, 5);
#define refuse_at(p, at, ...) parser_refuse((p), ERR_WHERE, (at), __VA_ARGS__)
/* "expected X, found what is here". */
enum err_code parser_expected(struct parser *p, const char *where, const char *what);
#define expected(p, what) parser_expected((p), ERR_WHERE, (what))

bool parser_is(const struct parser *p, const char *word_or_symbol);
bool parser_accept(struct parser *p, const char *word_or_symbol);
MUST_CHECK enum err_code parser_expect(struct parser *p, const char *word_or_symbol);
MUST_CHECK enum err_code parser_name(struct parser *p, const char *what, struct slice *name);
MUST_CHECK enum err_code parser_string(struct parser *p, const char *what, struct slice *string);
/* A column's name, type and comment. what: for the message where there is no name. */
MUST_CHECK enum err_code parser_column(struct parser *p, const char *what, struct schema_column *column);
/* WITH ('k'='v', ...), if it stands here. */
typedef enum err_code parser_option_fn(struct parser *p, void *arg, size_t key_at, struct slice key, size_t value_at,
                                       struct slice value);
MUST_CHECK enum err_code parser_options(struct parser *p, parser_option_fn *fn, void *arg);
/* ('k'='v', ...) alone. */
MUST_CHECK enum err_code parser_option_list(struct parser *p, parser_option_fn *fn, void *arg);

/* alter.c: what follows the name. */
MUST_CHECK enum err_code parse_alter_table(struct parser *p, struct sql_alteration *alter);
MUST_CHECK enum err_code parse_alter_database(struct parser *p, struct sql_alteration *alter);

/* partition.c: what follows the table's name. *is_one false: of ALTER TABLE something else stands here. */
MUST_CHECK enum err_code parse_show_partitions(struct parser *p, struct sql_statement *s);
MUST_CHECK enum err_code parse_alter_partitions(struct parser *p, struct sql_statement *s, bool *is_one);

/* create_table.c: what follows the table's name. */
MUST_CHECK enum err_code parse_create_table(struct parser *p, struct table_descriptor *table);

#endif
