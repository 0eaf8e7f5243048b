/// The daemon's life: from a configuration to an exit status.
package enum Daemon {
    /// Runs until a signal ends it.
    ///
    /// - Returns: The exit status.
    package static func run(_ configuration: Configuration) async -> Int32 {
        0
    }
}
