/// Asks every few milliseconds until `condition` holds: for what nobody reports. What is reported is awaited.
///
/// - Throws: ``ClientFailure/timedOut(waitingFor:after:received:)`` when it doesn't within `allowed`.
package func eventually(
    _ what: String, within allowed: Duration = Deadline.standard, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + allowed
    while !(try await condition()) {
        guard ContinuousClock.now < deadline else {
            throw ClientFailure.timedOut(waitingFor: what, after: allowed, received: "")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}
