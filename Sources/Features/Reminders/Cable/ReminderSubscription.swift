import Access
import ActionCable
import Domain
import Features
import FoundationEssentials
import Schedule
import Server
import Sockets
import Wire

/// A subscription to a device's reminders. It sends the same events as an event stream.
final class ReminderSubscription: CableSubscription {
    private let device: DeviceID
    private let source: ReminderSource
    private unowned let transport: SubscriptionTransport
    /// Whether changes of the day are sent, too.
    private let sendsChanges: Bool
    private var hints: (any DeviceHintSubscription)?
    private var hasBegun = false
    /// The opened stream, while the pause after the confirmation lasts.
    private var opened: ReminderSource.Opened?
    private var output: Output?
    /// The events that weren't sent yet. They wait until the connection has space. A backlog may be long, so waiting
    /// events don't mean that the peer is slow.
    private var waiting: [Waiting] = []
    /// The maximum number of waiting events. With more, the subscription opens a new stream.
    private static let waitingLimit = 4_096

    private enum Waiting {
        case reminder(UUID, SharedBytes)
        case change(SharedBytes)
        /// The position to resume from after the events before it were sent.
        case position(UUID?)
    }
    /// The position of the last sent event, from which a new stream resumes.
    private var last: UUID?
    /// Whether the stream has ended. A new stream opens when all waiting events were sent.
    private var comesAgain = false

    init(
        _ parameters: CableParameters, _ transport: SubscriptionTransport, _ source: ReminderSource,
        sendsChanges: Bool, hints: (any DeviceHints)?
    ) throws(CableRejection) {
        let identity = try parameters.identity(of: transport)
        guard let device = identity.device, identity.allows(.device(device)) else { throw CableRejection() }
        self.device = device
        self.source = source
        self.transport = transport
        self.sendsChanges = sendsChanges
        listen()
        self.hints = hints?.begin(for: identity, to: transport)
    }

    // MARK: Reminders

    private func listen() {
        let loop = transport.loop
        let window = sendsChanges ? ChangeWindow.near : .own
        transport.run { [source, device, last] in
            try await source.open(device, window: window, after: last, on: loop)
        } then: { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success(let opened?): begin(opened)
            case .success(nil) where !hasBegun: transport.reject()
            // While the database is unavailable, the client waits as on a slow network.
            case .success(nil), .failure: listenAgain()
            }
        } unwanted: { [source, reactor = transport.reactor] opened in
            if let opened { source.cancel(opened, on: reactor) }
        }
    }

    private func listenAgain() {
        transport.retry { [weak self] in self?.listen() }
    }

    private func begin(_ opened: ReminderSource.Opened) {
        self.opened = opened
        guard !hasBegun else { return write() }
        hasBegun = true
        // A command that arrived earlier may end the subscription here. Stored reminders are sent after the pause.
        transport.confirm()
        transport.afterConfirmPause { [weak self] in self?.write() }
    }

    private func write() {
        guard let opened else { return }
        self.opened = nil
        transport.reportsDrain = true
        let output = Output(of: self)
        self.output = output
        source.begin(opened, output, on: transport.reactor)
    }

    func perform(_ action: CableAction) throws(CableActionError) {
        throw .unknownAction
    }

    func allSent() {
        if waiting.isEmpty { output?.drained?() } else { sendWaiting() }
    }

    private func send(_ message: Waiting) {
        // Dropping the waiting events loses nothing. Reminders are stored and not acknowledged, and changes are hints.
        guard waiting.count < Self.waitingLimit else {
            waiting = []
            let output = output
            self.output = nil
            output?.closed?()
            return listenAgain()
        }
        waiting.append(message)
        sendWaiting()
    }

    private func sendWaiting() {
        var sent = 0
        while sent < waiting.count, transport.hasRoom {
            switch waiting[sent] {
            case .reminder(let id, let frame):
                last = id
                transport.send(frame: frame)
            case .change(let frame): transport.send(frame: frame)
            case .position(let id): last = id
            }
            sent += 1
        }
        waiting.removeFirst(sent)
        if waiting.isEmpty, comesAgain {
            comesAgain = false
            listenAgain()
        }
    }

    func end() {
        hints?.end()
        hints = nil
        if let opened { source.cancel(opened, on: transport.reactor) }
        opened = nil
        let output = output
        self.output = nil
        output?.closed?()
    }

    private func write(_ event: StreamEvent) {
        switch event {
        case .comment: break
        case .reminder(let reminder):
            send(
                .reminder(
                    reminder.id, transport.frame(of: CableContent("reminder", data: Array(reminder.payload.utf8)))))
        case .test(let content):
            send(.change(transport.frame(of: CableContent("reminder", data: Array(content.json.utf8)))))
        case .position(let id):
            send(.position(id))
        case .rematched(let rematch):
            guard sendsChanges else { return }
            send(.change(transport.frame(of: CableContent("rematched") { rematch.write(to: &$0) })))
        case .changed(let slots):
            guard sendsChanges else { return }
            for slot in slots {
                send(
                    .change(
                        transport.sharedFrame(of: slot) {
                            CableContent("schedule") { data in data.member("startsAt", slot.description) }
                        }))
            }
        }
    }

    /// Passes the events of the stream to the subscription.
    private final class Output: EventTransport {
        var drained: (() -> Void)?
        var closed: (() -> Void)?
        private weak var subscription: ReminderSubscription?

        init(of subscription: ReminderSubscription) {
            self.subscription = subscription
        }

        func write(_ piece: StreamChunk) {}

        func write(_ event: StreamEvent, as piece: StreamChunk) {
            guard let subscription, subscription.output === self else { return }
            subscription.write(event)
        }

        /// Ends the subscription, because the device was erased.
        func revoke() {
            guard let subscription, subscription.output === self else { return }
            subscription.transport.revoke()
        }

        /// Makes the subscription open a new stream from its position. The client doesn't notice.
        func finish() {
            guard let subscription, subscription.output === self else { return }
            subscription.output = nil
            subscription.comesAgain = true
            subscription.sendWaiting()
        }
    }
}
