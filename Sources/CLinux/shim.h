// What Swift's Glibc module leaves out: epoll, timerfd, accept4.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

// <sys/socket.h> declares it for _GNU_SOURCE only, which would also change types that the Glibc module has already.
int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
