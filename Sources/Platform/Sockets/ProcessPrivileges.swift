import CLinux
import Glibc

/// The privileges of the process.
package enum ProcessPrivileges {
    /// The capabilities (linux/capability.h) of a daemon that runs as root. It listens below port 1024. It gives the
    /// private cluster's files to the cluster's user, enters that directory, becomes that user and signals its
    /// processes. It reads in /proc where a running server works.
    private static let neededByRoot = [
        CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_NET_BIND_SERVICE, CAP_SYS_PTRACE,
    ]

    /// Gives up all privileges that the daemon doesn't need, as far as the system permits. This limits the damage of
    /// another defect.
    ///
    /// Child processes get no more privileges than this process, whatever the bits of their files. They get none that a
    /// service manager added to the user's, such as ports below 1024. Root keeps what the daemon needs.
    ///
    /// Privileges belong to a thread and are inherited, so call it before a second thread exists.
    package static func drop() {
        _ = prctl_two(PR_SET_NO_NEW_PRIVS, 1, 0)
        _ = prctl_two(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL), 0)
        guard geteuid() == 0 else { return }
        let kept = neededByRoot.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
        // The kernel has about forty capabilities and ignores numbers beyond the last.
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
