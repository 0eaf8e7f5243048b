/// Waits until a bus works again, and prints how long that took.
///
/// The five seconds that are promised follow from the pauses between attempts to connect, which tests with a clock of their own check.
package enum Recovery {
    /// - Parameters:
    ///   - what: The outage, which is over when this is called.
    ///   - isWhole: Returns when a packet has crossed.
    package static func expect(
        after what: String, isolation: isolated (any Actor)? = #isolation, _ isWhole: () async throws -> Void
    ) async throws {
        let began = ContinuousClock.now
        try await isWhole()
        let milliseconds = ((ContinuousClock.now - began) / .milliseconds(1)).rounded()
        print("The bus works again after \(what): \(milliseconds / 1_000) s")
    }
}
