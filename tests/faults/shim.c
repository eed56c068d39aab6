/* Stands between a program and the C library: the n-th call that changes something below a folder fails, or
   kills the process with half of its work done. Loaded by LD_PRELOAD, armed from Python by faults_arm. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN = 1, CREATE = 2, WRITE = 4, SYNC = 8, MOVE = 16 }; /* kinds of calls, see shim.py */

static char below[PATH_MAX];
static long left; /* calls until the fault; 0 if none is to come */
static long seen;
static int error, lasting, kinds, happened;

/* Calls of these kinds below `folder` count. An error of 0 kills; a lasting one never ends. */
void faults_arm(const char *folder, long number, int with, int for_good, int of) {
    snprintf(below, sizeof below, "%s", folder);
    left = number, seen = 0, error = with, lasting = for_good, kinds = of, happened = 0;
}

long faults_seen(void) { return seen; }

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, #name))

static int is_below(const char *path) { return below[0] && path && !strncmp(path, below, strlen(below)); }

static int is_descriptor_below(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!below[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_place_below(int folder, const char *path) {
    return path[0] == '/' || folder == AT_FDCWD ? is_below(path) : is_descriptor_below(folder);
}

/* Whether this call is to fail; errno says how. */
static int fails(int kind, int here) {
    if (!here || !(kinds & kind)) return 0;
    seen++;
    if (happened && lasting) return errno = error, 1;
    if (left <= 0 || --left) return 0;
    happened = 1;
    if (!error) kill(getpid(), SIGKILL);
    return errno = error, 1;
}

/* Whether the call that comes is the one that fails, for writes that are to be torn. */
static int is_next(int kind, int here) { return here && (kinds & kind) && left == 1; }

static int opening(int folder, const char *path, int flags) {
    if (!is_place_below(folder, path)) return 0;
    struct stat state;
    if ((flags & O_CREAT) && fstatat(folder, path, &state, 0)) return fails(CREATE, 1);
    return (flags & (O_WRONLY | O_RDWR | O_TRUNC)) ? fails(OPEN, 1) : 0;
}

#define OPENER(name, before, given, place, after)                                                              \
    int name before {                                                                                          \
        va_list rest;                                                                                          \
        va_start(rest, flags);                                                                                 \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;                                      \
        va_end(rest);                                                                                          \
        return opening place ? -1 : REAL(name, int(*) given) after;                                            \
    }
#define TWO (const char *path, int flags, ...)
#define THREE (int folder, const char *path, int flags, ...)
OPENER(open, TWO, (const char *, int, ...), (AT_FDCWD, path, flags), (path, flags, mode))
OPENER(open64, TWO, (const char *, int, ...), (AT_FDCWD, path, flags), (path, flags, mode))
OPENER(openat, THREE, (int, const char *, int, ...), (folder, path, flags), (folder, path, flags, mode))
OPENER(openat64, THREE, (int, const char *, int, ...), (folder, path, flags), (folder, path, flags, mode))

/* The call that fails writes half first, as a disk does that fills up, or a process that dies. */
#define WRITER(name, offset_type, offset_name, comma)                                                          \
    ssize_t name(int d, const void *from, size_t size comma offset_type offset_name) {                         \
        ssize_t (*real)(int, const void *, size_t comma offset_type) = REAL(name, void *);                     \
        int here = is_descriptor_below(d);                                                                     \
        if (is_next(WRITE, here) && size > 1) real(d, from, size / 2 comma offset_name);                       \
        return fails(WRITE, here) ? -1 : real(d, from, size comma offset_name);                                \
    }
#define COMMA ,
WRITER(write, , , )
WRITER(pwrite, off_t, offset, COMMA)
WRITER(pwrite64, off64_t, offset, COMMA)

#define ON_DESCRIPTOR(name, kind, parameters, types, arguments)                                                \
    int name parameters {                                                                                      \
        return fails(kind, is_descriptor_below(d)) ? -1 : REAL(name, int(*) types) arguments;                  \
    }
ON_DESCRIPTOR(fsync, SYNC, (int d), (int), (d))
ON_DESCRIPTOR(fdatasync, SYNC, (int d), (int), (d))
ON_DESCRIPTOR(ftruncate, WRITE, (int d, off_t size), (int, off_t), (d, size))
ON_DESCRIPTOR(ftruncate64, WRITE, (int d, off64_t size), (int, off64_t), (d, size))

int posix_fallocate(int d, off_t from, off_t size) { /* returns what others put into errno */
    if (fails(WRITE, is_descriptor_below(d))) return errno;
    return REAL(posix_fallocate, int (*)(int, off_t, off_t))(d, from, size);
}
int posix_fallocate64(int d, off64_t from, off64_t size) {
    if (fails(WRITE, is_descriptor_below(d))) return errno;
    return REAL(posix_fallocate64, int (*)(int, off64_t, off64_t))(d, from, size);
}

#define ON_PATH(name, kind, parameters, types, arguments)                                                      \
    int name parameters { return fails(kind, is_below(path)) ? -1 : REAL(name, int(*) types) arguments; }
ON_PATH(mkdir, CREATE, (const char *path, mode_t mode), (const char *, mode_t), (path, mode))
ON_PATH(rmdir, MOVE, (const char *path), (const char *), (path))
ON_PATH(unlink, MOVE, (const char *path), (const char *), (path))
ON_PATH(rename, MOVE, (const char *path, const char *to), (const char *, const char *), (path, to))

int unlinkat(int folder, const char *path, int flags) {
    if (fails(MOVE, is_place_below(folder, path))) return -1;
    return REAL(unlinkat, int (*)(int, const char *, int))(folder, path, flags);
}
