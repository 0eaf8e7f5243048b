import Access
import ActionCable
import Domain
import FoundationEssentials
import LiveConversations
import LiveSchedule
import Scheduling
import Server
import Sockets
import Wire

/// Listens for a device, as an event stream does.
final class ReminderSubscription: CableSubscription {
    private let device: DeviceID
    private let source: ReminderSource
    private unowned let outlet: SubscriptionOutlet
    /// Otherwise nothing but reminders is told.
    private let tellsChanges: Bool
    private var chats: ChatNotices?
    private var hasBegun = false
    /// What is there to be written, while the confirmation has its time for itself.
    private var opened: ReminderSource.Opened?
    private var sink: Sink?
    /// What the peer has yet to be sent: a backlog is no slowness, and leaves as it is taken.
    private var waiting: [Waiting] = []
    /// Of a backlog, and what fires while it leaves; beyond that the stream begins anew.
    private static let waitingLimit = 4_096

    private enum Waiting {
        case reminder(UUID, SharedBytes)
        case change(SharedBytes)
        /// Whoever comes again has seen all up to this one.
        case position(UUID?)
    }
    /// Where to go on when the stream begins anew: at the last that was sent.
    private var last: UUID?
    /// The stream is over, and begins anew when what it has written is sent.
    private var comesAgain = false

    init(
        _ parameters: CableParameters, _ outlet: SubscriptionOutlet, _ source: ReminderSource,
        telling conversations: Conversations?
    ) throws(CableRejection) {
        let identity = try parameters.identity(of: outlet)
        guard let device = identity.device, identity.allows(.device(device)) else { throw CableRejection() }
        self.device = device
        self.source = source
        self.outlet = outlet
        tellsChanges = conversations != nil
        listen()
        chats = conversations.flatMap { ChatNotices(for: identity, of: $0, to: outlet) }
    }

    // MARK: Reminders

    private func listen() {
        let loop = outlet.loop
        let window = tellsChanges ? ChangeWindow.near : .own
        outlet.run { [source, device, last] in
            try await source.open(device, window: window, after: last, on: loop)
        } then: { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success(let opened?): begin(opened)
            case .success(nil) where !hasBegun: outlet.reject()
            // The database is away: the client waits, as it would for a slow network.
            case .success(nil), .failure: listenAgain()
            }
        } unwanted: { [source, reactor = outlet.reactor] opened in
            if let opened { source.cancel(opened, on: reactor) }
        }
    }

    private func listenAgain() {
        outlet.retry { [weak self] in self?.listen() }
    }

    private func begin(_ opened: ReminderSource.Opened) {
        self.opened = opened
        guard !hasBegun else { return write() }
        hasBegun = true
        // May lead to the end, by a command that has waited. What is stored is written once that needs not be held back.
        outlet.confirm()
        outlet.afterConfirmPause { [weak self] in self?.write() }
    }

    private func write() {
        guard let opened else { return }
        self.opened = nil
        outlet.reportsDrain = true
        let sink = Sink(of: self)
        self.sink = sink
        source.begin(opened, sink, on: outlet.reactor)
    }

    func perform(_ action: CableAction) throws(CableActionError) {
        throw .unknownAction
    }

    func allSent() {
        if waiting.isEmpty { sink?.drained?() } else { sendWaiting() }
    }

    private func send(_ message: Waiting) {
        // Nothing of what waits is lost: reminders are stored, and not acknowledged; changes are hints.
        guard waiting.count < Self.waitingLimit else {
            waiting = []
            let sink = sink
            self.sink = nil
            sink?.closed?()
            return listenAgain()
        }
        waiting.append(message)
        sendWaiting()
    }

    private func sendWaiting() {
        var sent = 0
        while sent < waiting.count, outlet.hasRoom {
            switch waiting[sent] {
            case .reminder(let id, let frame):
                last = id
                outlet.send(frame: frame)
            case .change(let frame): outlet.send(frame: frame)
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
        chats?.end()
        chats = nil
        if let opened { source.cancel(opened, on: outlet.reactor) }
        opened = nil
        let sink = sink
        self.sink = nil
        sink?.closed?()
    }

    private func write(_ event: StreamEvent) {
        switch event {
        case .comment: break
        case .reminder(let reminder):
            send(.reminder(reminder.id, outlet.frame(of: CableContent("reminder", data: Array(reminder.payload.utf8)))))
        case .test(let content):
            send(.change(outlet.frame(of: CableContent("reminder", data: Array(content.json.utf8)))))
        case .position(let id):
            send(.position(id))
        case .rematched(let rematch):
            guard tellsChanges else { return }
            send(.change(outlet.frame(of: CableContent("rematched") { rematch.write(to: &$0) })))
        case .changed(let slots):
            guard tellsChanges else { return }
            for slot in slots {
                send(
                    .change(
                        outlet.sharedFrame(of: slot) {
                            CableContent("schedule") { data in data.member("startsAt", slot.description) }
                        }))
            }
        }
    }

    /// What the stream writes to.
    private final class Sink: EventSink {
        var drained: (() -> Void)?
        var closed: (() -> Void)?
        private weak var subscription: ReminderSubscription?

        init(of subscription: ReminderSubscription) {
            self.subscription = subscription
        }

        func write(_ piece: StreamChunk) {}

        func write(_ event: StreamEvent, as piece: StreamChunk) {
            guard let subscription, subscription.sink === self else { return }
            subscription.write(event)
        }

        /// The device was erased.
        func revoke() {
            guard let subscription, subscription.sink === self else { return }
            subscription.outlet.revoke()
        }

        /// The reader is to come again, from where it is: of that its client needs to know nothing.
        func finish() {
            guard let subscription, subscription.sink === self else { return }
            subscription.sink = nil
            subscription.comesAgain = true
            subscription.sendWaiting()
        }
    }
}
