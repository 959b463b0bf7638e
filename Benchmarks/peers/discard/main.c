// A server that reads requests and discards their bodies, at the same cost for each client. It prints its
// port, and ends when its standard input ends. Of a hundred requests, it refuses as many as its argument says with 503.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 256 * 1024 };

static unsigned refused_of_hundred;
static atomic_uint requests;

// The same requests in each run, and scattered.
static int is_refused(void) {
  uint32_t number = atomic_fetch_add(&requests, 1) * 2654435761u;
  return (number >> 8) % 100 < refused_of_hundred;
}

struct reader {
  int socket;
  size_t start, end;
  char bytes[ROOM];
};

static int more(struct reader *reader) {
  ssize_t count = recv(reader->socket, reader->bytes + reader->end, ROOM - reader->end, 0);
  if (count <= 0) return 0;
  reader->end += (size_t)count;
  return 1;
}

// The value of a header in a head that ends with a NUL, or NULL if there is none.
static const char *header(const char *head, const char *name) {
  const char *place = strcasestr(head, name);
  return place ? place + strlen(name) : NULL;
}

static int discard(struct reader *reader, uint64_t count) {
  size_t held = reader->end - reader->start;
  size_t taken = held < count ? held : (size_t)count;
  reader->start += taken;
  count -= taken;
  while (count > 0) {
    // MSG_TRUNC drops the bytes in the kernel, so that the client's work is measured and not the server's.
    ssize_t dropped = recv(reader->socket, NULL, count < (1u << 30) ? count : (1u << 30), MSG_TRUNC);
    if (dropped <= 0) return 0;
    count -= (uint64_t)dropped;
  }
  return 1;
}

static char *take_line(struct reader *reader) {
  for (;;) {
    char *start = reader->bytes + reader->start;
    char *end = memchr(start, '\n', reader->end - reader->start);
    if (end) {
      *end = 0;
      reader->start = (size_t)(end + 1 - reader->bytes);
      return start;
    }
    memmove(reader->bytes, start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    if (!more(reader)) return NULL;
  }
}

static int discard_chunks(struct reader *reader) {
  for (;;) {
    char *line = take_line(reader);
    if (!line) return 0;
    uint64_t size = strtoull(line, NULL, 16);
    if (!discard(reader, size) || !take_line(reader)) return 0;
    if (size == 0) return 1;
  }
}

static int serve_one(struct reader *reader) {
  char *end;
  memmove(reader->bytes, reader->bytes + reader->start, reader->end - reader->start);
  reader->end -= reader->start;
  reader->start = 0;
  while (!(end = memmem(reader->bytes, reader->end, "\r\n\r\n", 4)))
    if (reader->end == ROOM || !more(reader)) return 0;
  *end = 0;
  reader->start = (size_t)(end + 4 - reader->bytes);
  if (header(reader->bytes, "\nExpect: 100"))
    if (send(reader->socket, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL) < 0) return 0;
  const char *length = header(reader->bytes, "\nContent-Length:");
  int is_chunked = header(reader->bytes, "\nTransfer-Encoding: chunked") != NULL;
  if (is_chunked ? !discard_chunks(reader) : !discard(reader, length ? strtoull(length, NULL, 10) : 0))
    return 0;
  const char *answer = is_refused() ? "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
                                    : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  return send(reader->socket, answer, strlen(answer), MSG_NOSIGNAL) > 0;
}

static void *serve(void *argument) {
  struct reader *reader = argument;
  while (serve_one(reader)) {}
  close(reader->socket);
  free(reader);
  return NULL;
}

static void *end_with_input(void *unused) {
  (void)unused;
  char byte;
  while (read(0, &byte, 1) > 0) {}
  exit(0);
}

int main(int count, char **arguments) {
  if (count > 1) refused_of_hundred = (unsigned)atoi(arguments[1]);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 512) < 0
      || getsockname(listener, (struct sockaddr *)&address, &size) < 0) {
    perror("discard");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, end_with_input, NULL);
  for (;;) {
    int client = accept(listener, NULL, NULL);
    if (client < 0) continue;
    struct reader *reader = calloc(1, sizeof *reader);
    reader->socket = client;
    pthread_create(&thread, NULL, serve, reader);
    pthread_detach(thread);
  }
}
