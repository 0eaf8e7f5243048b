import Basics
import Dispatch
import FoundationEssentials

/// A report of a relay, for metrics and the log. Called on the relay's queue; must not block.
package enum RelayReport: Sendable, Equatable {
    case connected
    case disconnected(message: String)
    /// The number of other daemons' ales that this daemon never received.
    case lost(UInt64)
    /// The number of own ales that were dropped, because the bus was unavailable or refused them.
    case dropped(UInt64)
    case sent(packets: Int)
    /// Packets received from these daemons.
    case received(packets: Int, from: Set<DaemonID>)
    /// These daemons have listed all their rooms.
    case introduced(Set<DaemonID>)
    /// The round trip of an echo through the bus, or the time since the oldest missing echo was sent.
    case delay(Duration)
}

/// Connects the rooms of this daemon with those of other daemons. The relay gathers news of the loops, sends it through
/// a bus, and passes received news to the loops.
///
/// ```
/// loops ──news──► inbox ──► RelayState ──packets──► Bus
/// loops ◄──────────────────────┴───◄──── inbox ◄─────┘
/// ```
///
/// One batch is in flight at a time, and later news goes with the next batch. The memory is bounded: ales are added up,
/// and only the last state of a room is sent.
package actor BusRelay {
    /// The version of the packets' format. Daemons with the same version understand each other.
    package static let language = Int(RelayMessage.language)
    /// The interval between two pulses.
    private static let beat = Duration.seconds(2)
    /// The maximum number of packets passed to the bus in one call.
    private static let packetsAtOnce = 128
    /// The maximum size of the unread inbox in bytes. Further packets are lost. Their numbers show the loss.
    private static let inboxLimit = 32 << 20

    private struct Inbox {
        var news: [RoomNews] = []
        var events: [BusEvent] = []
        var bytes = 0
        var isAwaited = false
    }

    private enum Phase {
        case idle
        case running(Task<Void, Never>)
        case ended
    }

    private nonisolated let executor = QueueExecutor(label: "rooms.relay")
    private nonisolated let inbox = Locked(Inbox())
    private let id: DaemonID
    private let bus: any Bus
    private let rooms: Rooms
    private let grace: Duration
    private let report: @Sendable (RelayReport) -> Void
    private var state: RelayState
    private var phase = Phase.idle
    /// The task that sends a batch; `nil` if no batch is being sent.
    private var sending: Task<Void, Never>?
    /// The pause after a batch that the bus refused.
    private var resting: Task<Void, Never>?
    private var pause = Backoff(minimum: .milliseconds(50), maximum: .seconds(2))
    /// The time at which the oldest missing echo was sent or should have been sent.
    private var unansweredEcho: MonotonicTime?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter grace: How long the people of a stopped daemon count as present.
    package init(
        _ id: DaemonID, bus: any Bus, rooms: Rooms, grace: Duration, report: @escaping @Sendable (RelayReport) -> Void
    ) {
        self.id = id
        self.bus = bus
        self.rooms = rooms
        self.grace = grace
        self.report = report
        state = RelayState(id: id, packetSize: bus.packetSize, grace: grace)
    }

    // MARK: Life

    /// Connects the bus, because there are other daemons. Does nothing if the bus is connected or connecting, or after
    /// ``end()``.
    package func begin() {
        guard case .idle = phase else { return }
        phase = .running(Task { await self.run() })
        rooms.join { [weak self] news in self?.post { $0.news.append(news) } }
    }

    /// Removes daemons that have ended.
    package func remove(_ daemons: Set<DaemonID>) {
        guard case .running = phase else { return }
        apply(state.remove(daemons))
        sendNext()
    }

    /// Lists all rooms again, because the other daemons have removed this one after a long silence.
    package func announceAgain() {
        guard case .running = phase else { return }
        state.announceAgain()
        sendNext()
    }

    /// Sends the remaining news and a goodbye, and ends the relay for good. Takes as long as the bus takes to send or
    /// to fail.
    package func end() async {
        guard case .running(let run) = phase else {
            phase = .ended
            return
        }
        phase = .ended
        run.cancel()
        await run.value
        // Includes the news that the loops have posted so far.
        takeInbox()
        resting?.cancel()
        await sending?.value
        if state.isConnected { await send(state.lastBatch()) }
        await rooms.part()
        await bus.stop()
    }

    private func run() async {
        await bus.start { [weak self] event in self?.receive(event) }
        while (try? await Task.sleep(for: Self.beat)) != nil, case .running = phase {
            let now = MonotonicTime.now()
            if let unansweredEcho { report(.delay(now - unansweredEcho)) }
            apply(state.beat(at: now, isAnswered: unansweredEcho == nil))
            if state.isConnected, unansweredEcho == nil { unansweredEcho = now }
            sendNext()
        }
    }

    // MARK: Receiving

    private nonisolated func receive(_ event: BusEvent) {
        post { inbox in
            if case .received(_, let bytes) = event {
                guard inbox.bytes + bytes.count <= Self.inboxLimit else { return }
                inbox.bytes += bytes.count
            }
            inbox.events.append(event)
        }
    }

    /// Adds to the inbox, from any thread. Wakes the queue once for all additions before it reads the inbox.
    private nonisolated func post(_ add: (inout Inbox) -> Void) {
        let isFirst = inbox.withLock { inbox in
            add(&inbox)
            defer { inbox.isAwaited = true }
            return !inbox.isAwaited
        }
        guard isFirst else { return }
        executor.queue.async { self.assumeIsolated { $0.takeInbox() } }
    }

    private func takeInbox() {
        let taken = inbox.withLock { inbox in
            defer { inbox = Inbox() }
            return inbox
        }
        for news in taken.news { state.take(news) }
        // News after the goodbye concerns rooms that no other daemon knows any more.
        guard case .running = phase else { return }
        let now = MonotonicTime.now()
        var senders: Set<DaemonID> = []
        var packets = 0
        var effects = RelayState.Effects()
        for event in taken.events {
            switch event {
            case .connected:
                state.busConnected()
                report(.connected)
            case .lost(let message):
                state.busLost()
                // While the bus is unavailable, the reported delay grows until an echo comes back.
                unansweredEcho = unansweredEcho ?? now
                report(.disconnected(message: message))
            case .received(let daemon, let bytes):
                packets += 1
                if daemon != id { senders.insert(daemon) }
                // The number of a damaged packet is missing, so the packet counts as lost. A newer build may send
                // packets that this build doesn't understand.
                if let understood = try? state.receive(bytes, from: daemon, at: now) { effects.add(understood) }
            }
        }
        if packets > 0 { report(.received(packets: packets, from: senders)) }
        apply(effects)
        sendNext()
    }

    private func apply(_ effects: RelayState.Effects) {
        if !effects.changed.isEmpty {
            rooms.setElsewhere(effects.changed.map { MembersOfRoom($0, state.membersElsewhere(of: $0)) })
        }
        if !effects.ales.isEmpty { rooms.deliver(effects.ales) }
        if effects.lost > 0 { report(.lost(effects.lost)) }
        if !effects.introduced.isEmpty { report(.introduced(effects.introduced)) }
        if let sentAt = effects.echoSentAt {
            unansweredEcho = nil
            report(.delay(.now() - MonotonicTime(nanoseconds: sentAt)))
        }
    }

    // MARK: Sending

    private func sendNext() {
        guard sending == nil else { return }
        let batch = state.nextBatch()
        guard !batch.isEmpty else { return }
        sending = Task {
            await self.send(batch)
            self.hasSent()
        }
    }

    private func hasSent() {
        sending = nil
        if case .running = phase { sendNext() }
    }

    private func send(_ batch: RelayState.Batch) async {
        if batch.dropped > 0 { report(.dropped(batch.dropped)) }
        guard !batch.packets.isEmpty else { return }
        var sent = 0
        do {
            while sent < batch.packets.count {
                let packets = Array(batch.packets[sent...].prefix(Self.packetsAtOnce))
                try await bus.send(packets)
                sent += packets.count
                report(.sent(packets: packets.count))
            }
            pause.reset()
        } catch {
            state.announceAgain()
            let lost = batch.ales.dropFirst(sent).reduce(0) { $0 + UInt64($1) }
            if lost > 0 { report(.dropped(lost)) }
            if case .running = phase { await rest() }
        }
    }

    private func rest() async {
        let length = pause.next(random: .random(in: 0..<1))
        let resting = Task { _ = try? await Task.sleep(for: length) }
        self.resting = resting
        await resting.value
    }
}

extension RelayState.Effects {
    fileprivate mutating func add(_ more: RelayState.Effects) {
        ales += more.ales
        changed.formUnion(more.changed)
        lost += more.lost
        introduced.formUnion(more.introduced)
        echoSentAt = more.echoSentAt ?? echoSentAt
    }
}
