/*
 * A library between a process and its disk: logs the operations on the ledger's files in order, and fails them on demand.
 *
 * Preloaded (LD_PRELOAD) into a child that runs the real driver. Owns the log's format (read by journal.ts) and the control page
 * (written by storage-fault.ts). Never changes an operation while no fault is active.
 *
 * TRIHAND_SHIM_LOG    path: every operation on a ledger file, and every acknowledgement, is appended to it
 * TRIHAND_SHIM_FAULT  path of one page: byte 0 the active fault, byte 1 an order to die before the next operation (a kill from outside
 *                     could tear the log); 32-bit counters of faults fired from byte 8 on, one per fault
 *
 * Ledger files end in .db, .db-wal or .db-journal; acknowledgements are writes to a file that ends in .ack. -shm is left out:
 * it does not survive a power cut. Operations are logged after they succeeded and under one lock, so the log is exact.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OP_OPEN = 1, OP_WRITE, OP_SYNC, OP_SYNC_FAILED, OP_TRUNCATE, OP_UNLINK, OP_DIR_SYNC, OP_ACK };
enum { NO_FAULT, DISK_FULL, WRITE_ERROR, SYNC_ERROR, READ_ONLY };
enum { UNKNOWN, LEDGER, ACK, FOLDER, OTHER };

#define MAX_FD 1024
#define MAX_FILES 64

struct record {
  uint32_t op;
  uint32_t file; /* number of the path, in the order first seen */
  uint64_t offset; /* of a write; the new size of a truncate; 1 for an open that made the file */
  uint64_t length; /* of the bytes that follow */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static volatile uint8_t *control = NULL;
static char *paths[MAX_FILES];
static uint32_t path_count = 0;
static uint8_t kind_of_fd[MAX_FD];
static uint32_t file_of_fd[MAX_FD];

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_unlink)(const char *);

static void put_all(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t wrote = syscall(SYS_write, log_fd, at, length);
    if (wrote < 0) abort(); /* a log with a hole would prove nothing */
    at += wrote;
    length -= (size_t)wrote;
  }
}

__attribute__((constructor)) static void start(void) {
  real_open = dlsym(RTLD_NEXT, "open64");
  real_close = dlsym(RTLD_NEXT, "close");
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  const char *log_path = getenv("TRIHAND_SHIM_LOG");
  if (log_path != NULL) {
    log_fd = real_open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0) abort();
  }
  const char *fault_path = getenv("TRIHAND_SHIM_FAULT");
  if (fault_path != NULL) {
    int fd = real_open(fault_path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) abort();
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) abort();
    control = page;
    real_close(fd);
  }
}

static int ends_with(const char *path, const char *suffix) {
  size_t length = strlen(path), wanted = strlen(suffix);
  return length >= wanted && strcmp(path + length - wanted, suffix) == 0;
}

static int is_ledger_path(const char *path) {
  return ends_with(path, ".db") || ends_with(path, ".db-wal") || ends_with(path, ".db-journal");
}

static uint32_t number_of(const char *path) {
  for (uint32_t i = 0; i < path_count; i++)
    if (strcmp(paths[i], path) == 0) return i;
  if (path_count == MAX_FILES) abort();
  paths[path_count] = strdup(path);
  return path_count++;
}

static void append_record(uint32_t op, uint32_t file, uint64_t offset, const void *bytes, uint64_t length) {
  if (log_fd < 0) return;
  struct record header = {op, file, offset, length};
  put_all(&header, sizeof header);
  if (bytes != NULL) put_all(bytes, (size_t)length);
}

static int tracked(int fd) { return fd >= 0 && fd < MAX_FD ? kind_of_fd[fd] : OTHER; }

/* Whether the fault is in force now; if so it counts as fired. */
static int fault_is(int fault) {
  if (control == NULL || control[0] != fault) return 0;
  __atomic_fetch_add((uint32_t *)(uintptr_t)(control + 8) + fault, 1, __ATOMIC_SEQ_CST);
  return 1;
}

static int fail(int code) {
  errno = code;
  return -1;
}

/* One operation at a time, with its line in the log. */
static void enter(void) {
  pthread_mutex_lock(&lock);
  if (control != NULL && control[1] != 0) kill(getpid(), SIGKILL);
}

static void leave(void) {
  int code = errno;
  pthread_mutex_unlock(&lock);
  errno = code;
}

/* ---- open, close: which descriptor is what ---- */

static int open_ledger(const char *path, int flags, mode_t mode) {
  int writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes && fault_is(READ_ONLY)) return fail(EROFS);
  int existed = access(path, F_OK) == 0;
  int fd = real_open(path, flags, mode);
  if (fd < 0 || fd >= MAX_FD) return fd;
  kind_of_fd[fd] = LEDGER;
  file_of_fd[fd] = number_of(path);
  append_record(OP_OPEN, file_of_fd[fd], existed ? 0 : 1, path, strlen(path));
  return fd;
}

static int open_other(const char *path, int flags, mode_t mode) {
  int fd = real_open(path, flags, mode);
  if (fd < 0 || fd >= MAX_FD) return fd;
  struct stat status;
  int is_folder = (flags & O_ACCMODE) == O_RDONLY && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
  kind_of_fd[fd] = is_folder ? FOLDER : ends_with(path, ".ack") ? ACK : OTHER;
  return fd;
}

static int open_any(const char *path, int flags, mode_t mode) {
  if (!is_ledger_path(path)) return open_other(path, flags, mode);
  enter();
  int fd = open_ledger(path, flags, mode);
  leave();
  return fd;
}

#define OPEN_BODY                                   \
  mode_t mode = 0;                                  \
  if (flags & O_CREAT) {                            \
    va_list rest;                                   \
    va_start(rest, flags);                          \
    mode = (mode_t)va_arg(rest, int);               \
    va_end(rest);                                   \
  }                                                 \
  return open_any(path, flags, mode);

int open(const char *path, int flags, ...) { OPEN_BODY }
int open64(const char *path, int flags, ...) { OPEN_BODY }

int close(int fd) {
  if (fd >= 0 && fd < MAX_FD) kind_of_fd[fd] = UNKNOWN;
  return real_close(fd);
}

/* ---- write ---- */

/* A full disk takes what still fits, then refuses: half of the first write goes through. */
static ssize_t write_full_disk(int fd, const void *bytes, size_t length, off_t offset) {
  static __thread int refused = 0;
  refused = !refused;
  if (!refused || length < 2) return fail(ENOSPC);
  size_t half = length / 2;
  ssize_t wrote = real_pwrite(fd, bytes, half, offset);
  if (wrote > 0) append_record(OP_WRITE, file_of_fd[fd], (uint64_t)offset, bytes, (uint64_t)wrote);
  return wrote;
}

static ssize_t write_one(int fd, const void *bytes, size_t length, off_t offset) {
  if (fault_is(READ_ONLY)) return fail(EROFS);
  if (fault_is(WRITE_ERROR)) return fail(EIO);
  if (fault_is(DISK_FULL)) return write_full_disk(fd, bytes, length, offset);
  ssize_t wrote = real_pwrite(fd, bytes, length, offset);
  if (wrote > 0) append_record(OP_WRITE, file_of_fd[fd], (uint64_t)offset, bytes, (uint64_t)wrote);
  return wrote;
}

static ssize_t write_ledger(int fd, const void *bytes, size_t length, off_t offset) {
  enter();
  ssize_t wrote = write_one(fd, bytes, length, offset);
  leave();
  return wrote;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  switch (tracked(fd)) {
    case LEDGER: {
      ssize_t wrote = write_ledger(fd, bytes, length, lseek(fd, 0, SEEK_CUR));
      if (wrote > 0) lseek(fd, wrote, SEEK_CUR);
      return wrote;
    }
    case ACK: {
      /* Logged first: a child killed in between has acknowledged, as far as anyone can prove. */
      enter();
      append_record(OP_ACK, 0, 0, bytes, length);
      leave();
      return real_write(fd, bytes, length);
    }
    default:
      return real_write(fd, bytes, length);
  }
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  return tracked(fd) == LEDGER ? write_ledger(fd, bytes, length, offset) : real_pwrite(fd, bytes, length, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

/* ---- sync ---- */

static int sync_ledger(int fd, int (*sync)(int)) {
  int fails = fault_is(SYNC_ERROR) || fault_is(READ_ONLY);
  int result = fails ? fail(EIO) : sync(fd);
  append_record(result == 0 ? OP_SYNC : OP_SYNC_FAILED, file_of_fd[fd], 0, NULL, 0);
  return result;
}

static int sync_folder(int fd, int (*sync)(int)) {
  int result = sync(fd);
  if (result == 0) append_record(OP_DIR_SYNC, 0, 0, NULL, 0);
  return result;
}

static int sync_any(int fd, int (*sync)(int)) {
  int kind = tracked(fd);
  if (kind != LEDGER && kind != FOLDER) return sync(fd);
  enter();
  int result = kind == LEDGER ? sync_ledger(fd, sync) : sync_folder(fd, sync);
  leave();
  return result;
}

int fsync(int fd) { return sync_any(fd, real_fsync); }
int fdatasync(int fd) { return sync_any(fd, real_fdatasync); }

/* ---- truncate, unlink ---- */

static int truncate_ledger(int fd, off64_t length) {
  if (fault_is(READ_ONLY)) return fail(EROFS);
  int result = real_ftruncate(fd, length);
  if (result == 0) append_record(OP_TRUNCATE, file_of_fd[fd], (uint64_t)length, NULL, 0);
  return result;
}

int ftruncate64(int fd, off64_t length) {
  if (tracked(fd) != LEDGER) return real_ftruncate(fd, length);
  enter();
  int result = truncate_ledger(fd, length);
  leave();
  return result;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int unlink_ledger(const char *path) {
  if (fault_is(READ_ONLY)) return fail(EROFS);
  int result = real_unlink(path);
  if (result == 0) append_record(OP_UNLINK, 0, 0, path, strlen(path));
  return result;
}

int unlink(const char *path) {
  if (!is_ledger_path(path)) return real_unlink(path);
  enter();
  int result = unlink_ledger(path);
  leave();
  return result;
}
