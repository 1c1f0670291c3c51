/* What the files of cmd share: one file a verb, each a function of the arguments behind its name. */
#ifndef WEIR_CMD_CMD_INT_H
#define WEIR_CMD_CMD_INT_H

#include "base/err.h"
#include "os/os.h"

/* What a verb ends with. */
enum {
    EXIT_YES = 0,
    EXIT_NO = 1,      /* the answer is no: not found, not equal */
    EXIT_UNKNOWN = 2, /* it could not tell: the deadline */
    EXIT_USAGE = 64,
    EXIT_UNREACHABLE = 69,
    EXIT_FAULT = 70 /* our fault, or the machine's */
};

/* An error as people see it, on standard error: the code and the cause, then the remedy. */
void cmd_error(const struct err *err);

int cmd_server(struct os *os, int argc, char **argv);

#endif
