import CLinux
import Glibc

/// The privileges of the process.
package enum ProcessPrivileges {
    /// The capabilities (linux/capability.h) that a daemon needs if it runs as root. The daemon listens on ports below
    /// 1024. It gives the private cluster's files to the cluster's user and enters their directory. It starts processes
    /// as that user, and sends signals to them. It also reads in /proc which directory a running server uses.
    private static let neededByRoot = [
        CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_NET_BIND_SERVICE, CAP_SYS_PTRACE,
    ]

    /// Drops all privileges that the daemon doesn't need, if the system permits it. This limits the damage that other
    /// defects can cause.
    ///
    /// Child processes get no more privileges than this process, even if they run a setuid program or a file with
    /// capabilities. A service manager may have given this process ambient capabilities, for example to listen on ports
    /// below 1024. Child processes don't inherit these. If the process runs as root, it keeps the capabilities in
    /// `neededByRoot`.
    ///
    /// Privileges belong to a thread, and new threads inherit them. Call this before a second thread exists.
    package static func drop() {
        _ = prctl_two(PR_SET_NO_NEW_PRIVS, 1, 0)
        _ = prctl_two(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL), 0)
        guard geteuid() == 0 else { return }
        let kept = neededByRoot.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
        // The kernel has about forty capabilities. It ignores higher numbers.
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
