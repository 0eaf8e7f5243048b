/// The subscriptions that the client wants, and their states. A value without a clock and without a connection.
///
/// ```
/// wanted ──welcome──► asked ──confirmed──► confirmed
///    ▲                  │ ▲ 500 ms              │
///    └────── lost ──────┴─┴──────── lost ───────┘
/// ```
struct CableTable: Sendable {
    /// The text that identifies a subscription. The server returns it byte for byte.
    typealias Identifier = [UInt8]

    enum Command: Sendable, Hashable {
        case subscribe(Identifier)
        case unsubscribe(Identifier)
    }

    private enum State: Sendable, Hashable {
        case wanted
        case asked(at: Duration)
        case confirmed
    }

    /// The time after which a subscribe command without an answer is sent again.
    static let patience = Duration.milliseconds(500)

    private var states: [Identifier: (order: UInt64, state: State)] = [:]
    private var lastOrder: UInt64 = 0
    private var isWelcome = false

    func isConfirmed(_ identifier: Identifier) -> Bool { states[identifier]?.state == .confirmed }

    /// The time at which to call ``timePassed(at:)`` next.
    var deadline: Duration? {
        states.values.compactMap { entry in
            if case .asked(let time) = entry.state { time + Self.patience } else { nil }
        }.min()
    }

    mutating func subscribe(_ identifier: Identifier, at now: Duration) -> [Command] {
        guard states[identifier] == nil else { return [] }
        lastOrder += 1
        states[identifier] = (lastOrder, isWelcome ? .asked(at: now) : .wanted)
        return isWelcome ? [.subscribe(identifier)] : []
    }

    mutating func unsubscribe(_ identifier: Identifier) -> [Command] {
        guard let entry = states.removeValue(forKey: identifier), entry.state != .wanted else { return [] }
        return [.unsubscribe(identifier)]
    }

    /// Records that the server accepts commands now. Returns a command for each subscription, in the order in which
    /// they were added.
    mutating func welcomed(at now: Duration) -> [Command] {
        isWelcome = true
        return ask(at: now) { _ in true }
    }

    /// - Returns: `false` if the subscription was already confirmed or isn't wanted any more.
    mutating func confirmed(_ identifier: Identifier) -> Bool {
        guard case .asked? = states[identifier]?.state else { return false }
        states[identifier]?.state = .confirmed
        return true
    }

    /// Removes a rejected subscription. Returns `false` if the table doesn't contain it.
    mutating func rejected(_ identifier: Identifier) -> Bool {
        states.removeValue(forKey: identifier) != nil
    }

    /// - Returns: The subscriptions that were confirmed before, in the order in which they were added.
    mutating func lost() -> [Identifier] {
        isWelcome = false
        let confirmed = states.filter { $0.value.state == .confirmed }.sorted { $0.value.order < $1.value.order }
        for identifier in states.keys { states[identifier]?.state = .wanted }
        return confirmed.map(\.key)
    }

    mutating func timePassed(at now: Duration) -> [Command] {
        ask(at: now) { state in
            if case .asked(let time) = state { time + Self.patience <= now } else { false }
        }
    }

    private mutating func ask(at now: Duration, _ isDue: (State) -> Bool) -> [Command] {
        let due = states.filter { isDue($0.value.state) }.sorted { $0.value.order < $1.value.order }
        for (identifier, _) in due { states[identifier]?.state = .asked(at: now) }
        return due.map { .subscribe($0.key) }
    }
}
