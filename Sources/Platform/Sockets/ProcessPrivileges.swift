import CLinux
import Glibc

/// What the process may do that others mayn't.
package enum ProcessPrivileges {
    /// What a daemon needs that runs as root, linux/capability.h: to listen below port 1024; to give the private cluster's files to
    /// its user, enter its directory, become it and signal it; and to see, in /proc, where a server works that runs already.
    private static let neededByRoot = [
        CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_NET_BIND_SERVICE, CAP_SYS_PTRACE,
    ]

    /// Gives up what nobody here needs, as far as the system lets us: it is there for the case that something else has failed.
    ///
    /// No program that is started gets more rights than we have, whatever bits its file bears; none gets those that a service
    /// manager gave us beyond our user's, such as ports below 1024; root keeps what the daemon needs.
    ///
    /// Each thread has rights of its own, and begins with its creator's: to be called before there is a second one.
    package static func drop() {
        _ = prctl_two(PR_SET_NO_NEW_PRIVS, 1, 0)
        _ = prctl_two(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL), 0)
        guard geteuid() == 0 else { return }
        let kept = neededByRoot.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
        // The kernel has some forty; of a number beyond its last it knows nothing.
        for capability in UInt64(0)..<64 where kept & 1 << capability == 0 {
            _ = prctl_two(PR_CAPBSET_DROP, UInt(capability), 0)
        }
        keep(kept)
    }

    private static func keep(_ kept: UInt64) {
        var words = [__user_cap_data_struct(), __user_cap_data_struct()]
        guard capabilities_get(&words) == 0 else { return }
        for (index, word) in [UInt32(truncatingIfNeeded: kept), UInt32(kept >> 32)].enumerated() {
            words[index].permitted &= word
            words[index].effective &= word
            words[index].inheritable = 0
        }
        _ = capabilities_set(&words)
    }
}
