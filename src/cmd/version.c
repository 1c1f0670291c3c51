/* weir version */
#include "cmd/cmd_int.h"

int cmd_version(struct cmd *cmd)
{
    struct err err;
    enum err_code code = os_write_fd(cmd->os, 1, SLICE("weir " WEIR_VERSION "\n"), &err);
    return code == OK ? EXIT_YES : cmd_fail(cmd, &err);
}
