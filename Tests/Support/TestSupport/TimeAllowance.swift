import Glibc

/// The factor for documented time limits in the test's environment: a sanitizer makes everything several times slower.
package enum TimeAllowance {
    /// The factor; 1 without a sanitizer.
    package static let factor: Int = isSanitized ? 5 : 1

    /// Whether a sanitizer is active. Its own memory counts as the process's memory.
    package static let isSanitized = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

    /// Returns the limit in this environment for a documented limit, plus a little for the test's own measurement.
    package static func bound(_ contract: Duration) -> Duration {
        contract * factor + .milliseconds(250) * factor
    }
}
