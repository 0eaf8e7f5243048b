/// Polls until `condition` holds, for states without an event. Where there is an event, await it instead. The pauses
/// grow with the time passed, up to a tenth of it, so that long waits use little CPU.
///
/// - Throws: ``ClientFailure/timedOut(waitingFor:after:received:)`` if it doesn't hold within `allowed`.
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
