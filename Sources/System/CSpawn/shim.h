// A function that Swift's Glibc module lacks: <spawn.h> declares it for _GNU_SOURCE only (glibc 2.34 and later).
#include <spawn.h>

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

static const short CPOSIX_SPAWN_SETSID = 0x80;
