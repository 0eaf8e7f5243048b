import Glibc

/// How much slower a sanitizer makes everything. Tests scale settings and amounts by it.
package enum TimeAllowance {
    /// The factor; 1 without a sanitizer.
    package static let factor: Int = isSanitized ? 5 : 1

    /// Whether a sanitizer is active. Its own memory counts as the process's memory.
    package static let isSanitized = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
