import Postgres

/// Names and versions for `--version` and `letsswitch_build_info`.
package enum ProductVersion {
    package static let number = "1.0.0"

    /// The compiler's minor version. Swift offers no more exact number at compile time.
    package static var swift: String {
        #if compiler(>=6.4)
            "6.4 or later"
        #elseif compiler(>=6.3)
            "6.3"
        #elseif compiler(>=6.2)
            "6.2"
        #elseif compiler(>=6.1)
            "6.1"
        #else
            "6.0"
        #endif
    }

    /// The output of `--version`: one line.
    package static var text: String {
        "letsswitchd \(number) (Swift \(swift), libpq \(LibpqVersion.current))\n"
    }
}
