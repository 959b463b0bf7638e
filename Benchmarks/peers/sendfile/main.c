// The cheapest possible upload: a head and sendfile(2). `sendfile PORT FILE`.
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **words) {
  if (count != 3) return 64;
  int file = open(words[2], O_RDONLY);
  struct stat status;
  int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(atoi(words[1]))};
  if (file < 0 || fstat(file, &status) < 0 || connect(server, (struct sockaddr *)&address, sizeof address) < 0)
    return 1;
  dprintf(server, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %lld\r\n\r\n",
          (long long)status.st_size);
  off_t place = 0;
  while (place < status.st_size)
    if (sendfile(server, file, &place, (size_t)(status.st_size - place)) <= 0) return 1;
  char answer[256];
  return read(server, answer, sizeof answer) > 12 && answer[9] == '2' ? 0 : 1;
}
