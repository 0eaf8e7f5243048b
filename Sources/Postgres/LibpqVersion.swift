import CLibpq

/// The libpq that this process runs with, which may be newer than the one it was built against.
package enum LibpqVersion {
    /// Such as `15.18`.
    package static var current: String { text(Int(PQlibVersion())) }

    /// Major and minor version of `PQlibVersion()`'s number: 150018 is 15.18.
    static func text(_ number: Int) -> String { "\(number / 10_000).\(number % 10_000)" }
}
