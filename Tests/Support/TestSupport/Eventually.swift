/// Asks again and again until `condition` holds, for changes that no event announces. The pauses between two tries grow to 50 ms, so that
/// a long wait leaves the processor to others.
///
/// - Throws: ``ClientFailure/timedOut(waitingFor:after:received:)`` with the test's ``Evidence`` if the condition is false for `allowed`.
package func eventually(
    _ what: String, within allowed: Duration = Deadline.standard, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    var tries = 1
    while !(try await condition()) {
        let waited = ContinuousClock.now - start
        guard waited < allowed else {
            throw ClientFailure.timedOut(
                waitingFor: what, after: allowed, received: "false at each of \(tries) tries"
            ).withEvidence
        }
        tries += 1
        try await Task.sleep(for: min(max(.milliseconds(5), waited / 10), .milliseconds(50)))
    }
}
