/* A library to preload that makes calls on files fail, as on a full or broken disk.
 *
 *     FAULT_UNDER   count only calls on files whose path contains this text
 *     FAULT_CALLS   kinds of calls to count, with commas: open,read,write,sync,rename,mkdir,unlink,
 *                   truncate,allocate,lock,list,map
 *     FAULT_AT      number of the counted call that fails, from 1; 0 for none
 *     FAULT_ERROR   error number; 0 makes a call write only half of its bytes
 *     FAULT_LASTS   1 if all later counted calls fail, too, as on a full disk
 *     FAULT_LOG     file to which the process appends the number of counted calls when it ends
 *
 * Built and used by tests/faults/faulty.py.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int counted, at, error_number, lasts;
static const char *under, *calls, *log_path;

/* Read the variables: when the library is loaded, and when a fork in warm.py calls this. */
__attribute__((constructor)) void arm_faults(void)
{
    counted = 0;
    const char *text;
    under = getenv("FAULT_UNDER");
    calls = getenv("FAULT_CALLS");
    log_path = getenv("FAULT_LOG");
    at = (text = getenv("FAULT_AT")) ? atoi(text) : 0;
    error_number = (text = getenv("FAULT_ERROR")) ? atoi(text) : EIO;
    lasts = (text = getenv("FAULT_LASTS")) ? atoi(text) : 0;
}

__attribute__((destructor)) static void end(void)
{
    if (log_path == NULL)
        return;
    FILE *file = fopen(log_path, "a");
    if (file != NULL) {
        fprintf(file, "%d\n", counted);
        fclose(file);
    }
}

static int is_asked(const char *kind)
{
    size_t length = strlen(kind);
    for (const char *p = calls; p != NULL && (p = strstr(p, kind)) != NULL; p += length)
        if ((p == calls || p[-1] == ',') && (p[length] == ',' || p[length] == '\0'))
            return 1;
    return 0;
}

/* Count a call if it is to be counted; return 1 if it must fail. */
static int fails(const char *kind, const char *path)
{
    if (under == NULL || path == NULL || strstr(path, under) == NULL || !is_asked(kind))
        return 0;
    int number = __atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED);
    return at != 0 && (number == at || (lasts && number > at));
}

static int descriptor_fails(const char *kind, int descriptor)
{
    char link[64], path[4096];
    if (under == NULL || !is_asked(kind))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return fails(kind, path);
}

#define REAL(result, name, ...)                                                                  \
    static result (*real)(__VA_ARGS__);                                                          \
    if (real == NULL)                                                                            \
        real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

#define FAIL(value)                                                                              \
    do {                                                                                         \
        errno = error_number != 0 ? error_number : EIO;                                          \
        return value;                                                                            \
    } while (0)

#define OPEN(name)                                                                               \
    int name(const char *path, int flags, ...)                                                   \
    {                                                                                            \
        REAL(int, name, const char *, int, ...)                                                  \
        va_list rest;                                                                            \
        va_start(rest, flags);                                                                   \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;                \
        va_end(rest);                                                                            \
        if (fails("open", path))                                                                 \
            FAIL(-1);                                                                            \
        return real(path, flags, mode);                                                          \
    }

OPEN(open)
OPEN(open64)

#define WRITE(name, parameters, arguments, half)                                                 \
    ssize_t name parameters                                                                      \
    {                                                                                            \
        REAL(ssize_t, name, PARAMETERS parameters)                                               \
        if (descriptor_fails("write", descriptor)) {                                             \
            if (error_number != 0)                                                               \
                FAIL(-1);                                                                        \
            half;                                                                                \
        }                                                                                        \
        return real arguments;                                                                   \
    }
#define PARAMETERS(...) __VA_ARGS__

WRITE(write, (int descriptor, const void *data, size_t size), (descriptor, data, size),
      size = size > 1 ? size / 2 : size)
WRITE(pwrite, (int descriptor, const void *data, size_t size, off_t offset),
      (descriptor, data, size, offset), size = size > 1 ? size / 2 : size)
WRITE(pwrite64, (int descriptor, const void *data, size_t size, off64_t offset),
      (descriptor, data, size, offset), size = size > 1 ? size / 2 : size)
WRITE(writev, (int descriptor, const struct iovec *parts, int count), (descriptor, parts, count),
      count = count > 1 ? count / 2 : count)

ssize_t read(int descriptor, void *data, size_t size)
{
    REAL(ssize_t, read, int, void *, size_t)
    if (descriptor_fails("read", descriptor))
        FAIL(-1);
    return real(descriptor, data, size);
}

#define PREAD(name, offset_type)                                                                 \
    ssize_t name(int descriptor, void *data, size_t size, offset_type offset)                    \
    {                                                                                            \
        REAL(ssize_t, name, int, void *, size_t, offset_type)                                    \
        if (descriptor_fails("read", descriptor))                                                \
            FAIL(-1);                                                                            \
        return real(descriptor, data, size, offset);                                             \
    }

PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define ON_DESCRIPTOR(name, kind)                                                                \
    int name(int descriptor)                                                                     \
    {                                                                                            \
        REAL(int, name, int)                                                                     \
        if (descriptor_fails(kind, descriptor))                                                  \
            FAIL(-1);                                                                            \
        return real(descriptor);                                                                 \
    }

ON_DESCRIPTOR(fsync, "sync")
ON_DESCRIPTOR(fdatasync, "sync")

#define TRUNCATE(name, size_type)                                                                \
    int name(int descriptor, size_type size)                                                     \
    {                                                                                            \
        REAL(int, name, int, size_type)                                                          \
        if (descriptor_fails("truncate", descriptor))                                            \
            FAIL(-1);                                                                            \
        return real(descriptor, size);                                                           \
    }

TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define ALLOCATE(name, size_type)                                                                \
    int name(int descriptor, size_type offset, size_type size)                                   \
    {                                                                                            \
        REAL(int, name, int, size_type, size_type)                                               \
        if (descriptor_fails("allocate", descriptor))                                            \
            return error_number != 0 ? error_number : EIO;                                       \
        return real(descriptor, offset, size);                                                   \
    }

ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

int flock(int descriptor, int operation)
{
    REAL(int, flock, int, int)
    if (descriptor_fails("lock", descriptor))
        FAIL(-1);
    return real(descriptor, operation);
}

int rename(const char *from, const char *to)
{
    REAL(int, rename, const char *, const char *)
    if (fails("rename", to))
        FAIL(-1);
    return real(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, mkdir, const char *, mode_t)
    if (fails("mkdir", path))
        FAIL(-1);
    return real(path, mode);
}

int unlink(const char *path)
{
    REAL(int, unlink, const char *)
    if (fails("unlink", path))
        FAIL(-1);
    return real(path);
}

DIR *opendir(const char *path)
{
    REAL(DIR *, opendir, const char *)
    if (fails("list", path))
        FAIL(NULL);
    return real(path);
}

#define MAP(name, offset_type)                                                                   \
    void *name(void *where, size_t size, int protection, int flags, int descriptor,              \
               offset_type offset)                                                               \
    {                                                                                            \
        REAL(void *, name, void *, size_t, int, int, int, offset_type)                           \
        if (descriptor >= 0 && descriptor_fails("map", descriptor))                              \
            FAIL(MAP_FAILED);                                                                    \
        return real(where, size, protection, flags, descriptor, offset);                         \
    }

MAP(mmap, off_t)
MAP(mmap64, off64_t)
