// Posts each file of a list as a form, with libcurl's multi interface and handles that are used again: the least
// that a program can do with libcurl. Usage: multi LIST URL CONCURRENT THREADS
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *url;
static char **paths;
static size_t count, next;
static int concurrent;

static size_t drop(char *bytes, size_t size, size_t number, void *unused) {
  (void)bytes, (void)unused;
  return size * number;
}

// Starts the next file on a handle; returns 0 if there is none.
static int start(CURLM *multi, CURL *easy) {
  size_t index = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
  if (index >= count) return 0;
  curl_mime *mime = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(mime);
  curl_mime_name(part, "f");
  curl_mime_filedata(part, paths[index]);
  curl_mime_type(part, "application/octet-stream");
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, mime);
  curl_multi_add_handle(multi, easy);
  return 1;
}

static void *drive(void *unused) {
  (void)unused;
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)concurrent);
  int running = 0;
  for (int index = 0; index < concurrent; index++) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    if (start(multi, easy)) running++;
    else curl_easy_cleanup(easy);
  }
  while (running > 0) {
    int unfinished, left;
    curl_multi_perform(multi, &unfinished);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL *easy = message->easy_handle;
      long status = 0;
      curl_mime *mime = NULL;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&mime);
      if (message->data.result != CURLE_OK || status != 200) {
        fprintf(stderr, "multi: %s, status %ld\n", curl_easy_strerror(message->data.result), status);
        exit(1);
      }
      curl_multi_remove_handle(multi, easy);
      curl_mime_free(mime);
      if (!start(multi, easy)) {
        curl_easy_cleanup(easy);
        running--;
      }
    }
    if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  curl_multi_cleanup(multi);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 5) return 64;
  FILE *list = fopen(argv[1], "r");
  if (!list) {
    perror(argv[1]);
    return 66;
  }
  url = argv[2];
  int threads = atoi(argv[4]);
  concurrent = atoi(argv[3]) / threads;
  char *line = NULL;
  size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, list)) > 0; count++) {
    line[length - 1] = 0;
    paths = realloc(paths, (count + 1) * sizeof *paths);
    paths[count] = strdup(line);
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  pthread_t others[16];
  for (int index = 1; index < threads; index++) pthread_create(&others[index], NULL, drive, NULL);
  drive(NULL);
  for (int index = 1; index < threads; index++) pthread_join(others[index], NULL);
}
