import Glibc

/// How much longer than the contract says a thing may take where the test runs: a sanitizer makes everything several times
/// slower.
package enum TimeAllowance {
    /// 1 in an ordinary build.
    package static let factor: Int = isSanitized ? 5 : 1

    /// Whether a sanitizer runs along. What it keeps itself counts as the process's memory.
    package static let isSanitized = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

    /// What the contract's bound is here, with a little for the test's own way to see it.
    package static func bound(_ contract: Duration) -> Duration {
        contract * factor + .milliseconds(250) * factor
    }
}
