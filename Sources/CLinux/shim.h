// What Swift's Glibc module leaves out: epoll, eventfd, timerfd, accept4, memmem, affinity.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// <sys/socket.h> declares it for _GNU_SOURCE only, which would also change types that the Glibc module has already.
// <sys/socket.h> is not included here: which of two modules a struct comes from would depend on the order of loading.
struct sockaddr;
int accept4(int socket, struct sockaddr *address, unsigned int *length, int flags);

// <sched.h> declares them for _GNU_SOURCE only. A set is an array of 64-bit words, processor 0 in the lowest bit.
int sched_setaffinity(int pid, unsigned long bytes, const void *set);
int sched_getaffinity(int pid, unsigned long bytes, void *set);

// <string.h> declares it for _GNU_SOURCE only.
void *memmem(const void *haystack, unsigned long haystack_bytes, const void *needle, unsigned long needle_bytes);
