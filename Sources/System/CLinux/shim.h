// Declarations that Swift's Glibc module lacks: epoll, eventfd, timerfd, accept4, memmem, affinity, privileges,
// loaded objects, the allocator.
#include <malloc.h>
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

// prctl(2) and syscall(2) take any number of arguments, which Swift can't call. <sys/prctl.h> has the numbers.
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/prctl.h>
int prctl(int option, ...);
long syscall(long number, ...);

static inline int prctl_two(int option, unsigned long first, unsigned long second) {
    return prctl(option, first, second, 0UL, 0UL);
}

// Version 3: 64 capabilities, in two words of 32. For the calling thread.
static inline int capabilities_get(struct __user_cap_data_struct words[2]) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    return (int)syscall(__NR_capget, &header, words);
}

static inline int capabilities_set(const struct __user_cap_data_struct words[2]) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    return (int)syscall(__NR_capset, &header, words);
}

// <link.h> declares it for _GNU_SOURCE only. The callback gets the beginning of struct dl_phdr_info.
#include <elf.h>
struct loaded_object {
    unsigned long base;
    const char *name;
    const Elf64_Phdr *headers;
    unsigned short header_count;
};
int dl_iterate_phdr(int (*callback)(void *object, unsigned long bytes, void *context), void *context);
