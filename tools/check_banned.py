#!/usr/bin/env python3
"""check_banned.py: calls that may stand only in certain modules, and calls that stand nowhere.

The kernel, threads, clock and memory have one door each (src/os, src/base/mem.c), so that the simulator can stand in
for the machine. Tests and fuzz targets are free. A name that a file defines as a static function is its own.
"""
import re
import sys

import house

OS = ("src/os/",)
# (what, names as a regular expression, where it may stand, what to use)
RULES = [
    ("unbounded or stateful", r"strcpy|strncpy|strcat|strncat|sprintf|vsprintf|strtok|strtok_r|gets|alloca|atoi|atol|atoll|atof|"
     r"s?scanf|fscanf|localtime|gmtime|ctime|asctime|rand|srand|setjmp|longjmp", (), "slice, buf, reader, snprintf"),
    ("memory", r"malloc|calloc|realloc|reallocarray|free|strdup|strndup|v?asprintf|posix_memalign|aligned_alloc|memalign",
     ("src/base/mem.c",) + OS, "mem_alloc, mem_free, arena"),
    ("files", r"open(?:at)?|creat|p?read(?:v2?|64)?|p?write(?:v2?|64)?|close|lseek|fsync|fdatasync|sync_file_range|f?truncate|(?:posix_)?fallocate|"
     r"rename(?:at2?)?|unlink(?:at)?|remove|rmdir|mkdir(?:at)?|mkdtemp|mkstemp|opendir|fdopendir|readdir|closedir|f?stat(?:at|fs|vfs|x)?|lstat|"
     r"access|f?chmod|f?chown|flock|lockf|fcntl|mmap|munmap|msync|madvise|ioctl|dup[23]?|pipe2?|realpath|getcwd|chdir|link|symlink|readlink|"
     r"fopen|fdopen|freopen|fclose|fread|fwrite|fgets|getline|getdelim|fseeko?|tmpfile", OS, "os_file_*, os_*"),
    ("clock", r"time|clock|gettimeofday|clock_gettime|clock_nanosleep|nanosleep|usleep|sleep|timer_create|timerfd_\w+", OS,
     "os_mono_ns, os_wall_ms, os_sleep_ns"),
    ("random", r"getrandom|getentropy|random|srandom|arc4random\w*|[dlm]rand48", OS, "os_random"),
    ("threads", r"pthread_\w+|sem_(?:init|wait|post|timedwait|destroy|open)|thrd_\w+|mtx_\w+|cnd_\w+|call_once|sched_\w+", OS,
     "os_mutex, os_cond, os_thread_start"),
    ("sockets", r"socket(?:pair)?|bind|listen|accept4?|connect|send(?:to|m?msg|file)?|recv(?:from|m?msg)?|shutdown|[sg]etsockopt|"
     r"getsockname|getpeername|getaddrinfo|freeaddrinfo|gethostbyname|p?poll|p?select|epoll_\w+|eventfd|signalfd|inet_\w+|io_uring_\w+", OS,
     "os_listen, os_recv, os_poller_*"),
    ("process", r"fork|vfork|exec[lv]p?e?|execvpe|posix_spawnp?|system|popen|wait(?:pid|3|4)?|kill|raise|signal|sigaction|sigprocmask|"
     r"getpid|[sg]etrlimit|getrusage|syscall|prctl|isatty|sysconf|setenv|putenv|atexit", OS, "struct os"),
    ("environment and exit", r"getenv|secure_getenv|exit|_exit|_Exit|quick_exit", OS + ("src/cmd/",), "an error that reaches src/cmd"),
    ("standard output", r"printf|vprintf|puts|putchar|fputs|fputc|putc|fprintf|vfprintf|perror|fflush", OS + ("src/cmd/", "src/base/mem.c"),
     "os_write_fd in cmd, trace for diagnostics"),
    ("abort", r"abort|assert|__assert_fail|__builtin_trap|__builtin_unreachable", ("src/base/mem.c",), "ASSERT"),
    ("RocksDB", r"rocksdb_\w+", ("src/kv/",), "kv/kv.h"),
    ("SQLite", r"sqlite3_\w+", ("src/meta/",), "meta/meta.h"),
    ("libmicrohttpd", r"MHD_\w+", ("src/http/",), "http/http.h"),
]
COMPILED = [(what, re.compile(rf"(?<![\w.>])(?:{names})(?=\s*\()"), where, instead) for what, names, where, instead in RULES]
OWN = re.compile(r"^static\b[^;={]*?\b(\w+)\s*\(", re.M)


def main():
    faults, files = [], [p for p in house.source() if not house.is_beside(p)]
    for path in files:
        name = house.relative(path)
        code = house.bare(path.read_text())
        own = set(OWN.findall(code))
        for what, pattern, where, instead in COMPILED:
            if name.startswith(where):
                continue
            for match in pattern.finditer(code):
                if match[0] in own or re.match(r"\s*#", code[code.rfind("\n", 0, match.start()) + 1:match.start()]):
                    continue
                faults.append(f"{name}:{code.count(chr(10), 0, match.start()) + 1}: {match[0]}() ({what}); use {instead}")
    return house.finish("banned calls", faults, f"{len(files)} files")


sys.exit(main())
