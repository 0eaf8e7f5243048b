/// Asks again and again until `condition` holds: for what nobody reports. What is reported is awaited. The longer it takes, the longer
/// the pauses, which make it a tenth longer at most: who waits for seconds takes no processor from others.
///
/// - Throws: ``ClientFailure/timedOut(waitingFor:after:received:)`` when it doesn't within `allowed`.
package func eventually(
    _ what: String, within allowed: Duration = Deadline.standard, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    while !(try await condition()) {
        let waited = ContinuousClock.now - start
        guard waited < allowed else {
            throw ClientFailure.timedOut(waitingFor: what, after: allowed, received: "")
        }
        try await Task.sleep(for: min(max(.milliseconds(5), waited / 10), .milliseconds(50)))
    }
}
