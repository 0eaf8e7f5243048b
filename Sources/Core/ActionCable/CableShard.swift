import Access
import Basics
import Domain
import Glibc
import Sockets
import Wire

/// The Action Cable connections of one event loop: their pings, with one timer, and their shared state. Must be used on
/// the loop.
final class CableShard {
    /// The maximum number of shared frames. With more identifiers, some are encoded again.
    private static let sharedFrameLimit = 1024

    private struct FrameKey: Hashable {
        let identifier: CableIdentifier
        let subject: AnyHashable
    }

    let cables: Cables
    let reactor: Reactor
    let welcomeFrame = CableConnection.frame(.welcome)
    private var wheel = PingWheel<CableConnection>()
    private var isPingTimerSet = false
    private var frames: [FrameKey: SharedBytes] = [:]
    /// Closures that wait for the result of a task. The task has only the number of its closure, because the closure
    /// must stay on the loop.
    private var awaiting: [UInt64: (any Sendable) -> Void] = [:]
    private var lastTicket: UInt64 = 0

    init(_ cables: Cables, on reactor: Reactor) {
        self.cables = cables
        self.reactor = reactor
    }

    var connectionCount: Int { wheel.count }
    var metrics: CableMetrics { cables.metrics }

    // MARK: Connections

    /// Adds a welcomed connection, which is pinged from now on.
    func add(_ connection: CableConnection) {
        connection.place = wheel.insert(connection, at: reactor.now)
        setPingTimer()
    }

    func remove(_ connection: CableConnection) {
        guard let place = connection.place else { return }
        connection.place = nil
        wheel.remove(place)?.place = place
    }

    /// Closes a device's connections, and ends its subscriptions on others. O(connections).
    func disconnect(_ device: DeviceID) {
        for connection in wheel.members {
            if connection.identity.device == device {
                connection.disconnect(.remote)
            } else {
                connection.revokeSubscriptions(of: device)
            }
        }
    }

    private func setPingTimer() {
        guard !isPingTimerSet, let delay = wheel.delay(at: reactor.now) else { return }
        isPingTimerSet = true
        reactor.schedule(after: delay) { [weak self] in self?.ping() }
    }

    /// Sends the pings that are due. All pings share one frame.
    private func ping() {
        isPingTimerSet = false
        let due = wheel.takeDue(at: reactor.now)
        if !due.isEmpty {
            let frame = CableConnection.frame(.ping(time(nil)))
            for connection in due { connection.send(frame: frame) }
        }
        setPingTimer()
    }

    // MARK: Shared frames

    /// Returns the frame of a content that is sent often. All subscriptions with the same identifier share it.
    ///
    /// - Parameter subject: The key of the content.
    func frame(
        of subject: some Hashable, for identifier: CableIdentifier, make: () -> CableContent
    ) -> SharedBytes {
        let key = FrameKey(identifier: identifier, subject: AnyHashable(subject))
        if let frame = frames[key] { return frame }
        if frames.count >= Self.sharedFrameLimit { frames = [:] }
        let frame = CableConnection.frame(.message(identifier, make()))
        frames[key] = frame
        return frame
    }

    // MARK: Waiting

    /// Runs `work` in a task, and passes its result to `then` on this loop.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value, for requester: Requester?,
        then: @escaping (Result<Value, any Error>) -> Void
    ) {
        lastTicket += 1
        let ticket = lastTicket
        awaiting[ticket] = { outcome in
            if let outcome = outcome as? Result<Value, any Error> { then(outcome) }
        }
        let (cables, loop) = (cables, cables.loops[reactor.index])
        Task(executorPreference: cables.executor) {
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await Requester.$current.withValue(requester) { try await work() })
            } catch {
                outcome = .failure(error)
            }
            loop.submit { reactor in cables.shard(on: reactor).redeem(ticket, outcome) }
        }
    }

    private func redeem(_ ticket: UInt64, _ outcome: any Sendable) {
        awaiting.removeValue(forKey: ticket)?(outcome)
    }
}
