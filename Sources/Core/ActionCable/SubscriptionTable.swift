import Access
import Wire

/// A connection's subscriptions and waiting commands. A value that decides; ``CableConnection`` acts.
///
/// The commands of an identifier are performed one after the other. While one is in progress, the next ones wait:
///
/// ```
/// subscribe ──► checked ──► confirmed ──► message, message, … ──► unsubscribe ──► nothing
///                  └──────► rejected: the messages behind it are ignored
/// ```
struct SubscriptionTable {
    /// Distinguishes a subscription from a later one with the same identifier.
    typealias Number = UInt32

    enum Command: Equatable {
        /// In the extended protocol a subscription may have a position to continue from.
        case subscribe(CableResumption?)
        case unsubscribe
        case message([UInt8]?)
        case history(CableHistory?)
        case presence(CablePresenceRequest)

        var isSubscribe: Bool {
            if case .subscribe = self { true } else { false }
        }

        /// The size of the command in bytes.
        var size: Int {
            switch self {
            case .message(let data): data?.count ?? 0
            case .history(let history): history?.size ?? 0
            case .subscribe(let resumption): resumption?.history?.size ?? 0
            case .unsubscribe, .presence: 0
            }
        }
    }

    /// The result of receiving a command.
    enum Reception: Equatable {
        case ignored(CableFault)
        /// Call ``next(of:)``.
        case queued
        /// Like ``queued``, but nothing more is sent for this identifier.
        case muted
        /// Nothing to do: the command was already received.
        case repeated
        case confirmedAgain
        case rejected
        /// Too many commands wait. The message is dropped.
        case busy
        /// Too many commands wait, and this one can't be dropped.
        case overflow
    }

    /// The next action.
    enum Step: Equatable {
        case begin(Number, CableResumption? = nil)
        case perform(Number, [UInt8]?)
        case replay(CableHistory?)
        case handlePresence(CablePresenceRequest)
        case end(Number)
    }

    private struct Entry {
        var number: Number
        var isConfirmed = false
        /// Whether the first command of the queue is in progress.
        var isWorking = false
        var queue: [Command] = []

        /// Whether a subscription will exist after all commands, if none is rejected.
        var willBeSubscribed: Bool {
            for command in queue.reversed() where command.isSubscribe || command == .unsubscribe {
                return command.isSubscribe
            }
            return isConfirmed || isWorking
        }
    }

    private var entries: [CableIdentifier: Entry] = [:]
    private var lastNumber: Number = 0
    private var waiting = 0
    private var waitingBytes = 0
    private let limit: Int

    /// - Parameter limit: The maximum number of subscriptions.
    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }
    /// The number of waiting commands.
    var waitingCount: Int { waiting }

    // MARK: Commands

    mutating func receive(_ command: CableCommand) -> Reception {
        let (identifier, command) = (command.identifier, Command(command))
        guard let entry = entries[identifier] else {
            guard command.isSubscribe else { return .ignored(.notSubscribed) }
            guard !identifier.isTooLong, entries.count < limit else { return .rejected }
            guard waiting < CableLimits.waitingCommands else { return .overflow }
            entries[identifier] = Entry(number: 0)
            return enqueue(command, identifier)
        }
        switch command {
        case .subscribe:
            guard entry.willBeSubscribed else { return enqueue(command, identifier) }
            let isSettled = entry.isConfirmed && !entry.queue.contains(.unsubscribe)
            return isSettled ? .confirmedAgain : .repeated
        case .unsubscribe:
            guard entry.willBeSubscribed else { return .ignored(.notSubscribed) }
            let reception = enqueue(.unsubscribe, identifier)
            return reception == .queued ? .muted : reception
        case .message, .history, .presence:
            guard entry.willBeSubscribed else { return .ignored(.notSubscribed) }
            return enqueue(command, identifier)
        }
    }

    private mutating func enqueue(_ command: Command, _ identifier: CableIdentifier) -> Reception {
        if !command.isSubscribe, command != .unsubscribe {
            guard waiting < CableLimits.waitingCommands, waitingBytes + command.size <= CableLimits.waitingBytes
            else { return .busy }
        }
        guard waiting < CableLimits.waitingCommands else { return .overflow }
        waiting += 1
        waitingBytes += command.size
        entries[identifier]?.queue.append(command)
        return .queued
    }

    /// Returns the next action for an identifier; `nil` if one is in progress or there is none.
    mutating func next(of identifier: CableIdentifier) -> Step? {
        guard let entry = entries[identifier], !entry.isWorking, let command = entry.queue.first else { return nil }
        waiting -= 1
        waitingBytes -= command.size
        entries[identifier]?.queue.removeFirst()
        switch command {
        case .subscribe(let resumption):
            lastNumber &+= 1
            entries[identifier]?.number = lastNumber
            entries[identifier]?.isWorking = true
            return .begin(lastNumber, resumption)
        case .message(let data): return .perform(entry.number, data)
        case .history(let history): return .replay(history)
        case .presence(let request): return .handlePresence(request)
        case .unsubscribe:
            entries[identifier]?.isConfirmed = false
            removeEntry(identifier)
            return .end(entry.number)
        }
    }

    /// Removes the identifier if it has neither a subscription nor commands.
    private mutating func removeEntry(_ identifier: CableIdentifier) {
        guard let entry = entries[identifier], !entry.isConfirmed, !entry.isWorking, entry.queue.isEmpty else { return }
        entries[identifier] = nil
    }

    // MARK: Results

    private func isCurrent(_ number: Number, of identifier: CableIdentifier) -> Bool {
        entries[identifier]?.number == number
    }

    /// Whether the client still wants messages of this subscription.
    func isActive(_ number: Number, of identifier: CableIdentifier) -> Bool {
        guard let entry = entries[identifier] else { return false }
        return entry.number == number && !entry.queue.contains(.unsubscribe)
    }

    mutating func confirm(_ number: Number, of identifier: CableIdentifier) {
        guard isCurrent(number, of: identifier) else { return }
        entries[identifier]?.isConfirmed = true
        entries[identifier]?.isWorking = false
    }

    /// Marks an action as in progress. Later ones wait.
    mutating func beginWork(_ number: Number, of identifier: CableIdentifier) {
        guard isCurrent(number, of: identifier) else { return }
        entries[identifier]?.isWorking = true
    }

    mutating func endWork(_ number: Number, of identifier: CableIdentifier) {
        guard isCurrent(number, of: identifier), entries[identifier]?.isConfirmed == true else { return }
        entries[identifier]?.isWorking = false
    }

    /// Removes a subscription that was rejected or has ended. The messages that waited for it are dropped.
    ///
    /// - Returns: The number of dropped messages.
    mutating func remove(_ number: Number, of identifier: CableIdentifier) -> Int {
        guard isCurrent(number, of: identifier), var entry = entries[identifier] else { return 0 }
        let next = entry.queue.firstIndex(where: \.isSubscribe) ?? entry.queue.endIndex
        let lost = entry.queue[..<next]
        waiting -= lost.count
        waitingBytes -= lost.reduce(0) { $0 + $1.size }
        let messages = lost.count { $0 != .unsubscribe }
        entry.queue.removeSubrange(..<next)
        entry.isConfirmed = false
        entry.isWorking = false
        entries[identifier] = entry
        removeEntry(identifier)
        return messages
    }
}

extension SubscriptionTable.Command {
    fileprivate init(_ command: CableCommand) {
        switch command {
        case .subscribe: self = .subscribe(nil)
        case .resume(_, let resumption): self = .subscribe(resumption)
        case .unsubscribe: self = .unsubscribe
        case .message(_, let data): self = .message(data)
        case .history(_, let history): self = .history(history)
        case .presence(_, let request): self = .presence(request)
        }
    }
}

extension CableHistory {
    /// The approximate size in bytes.
    fileprivate var size: Int { positions.reduce(0) { $0 + $1.stream.utf8.count + $1.epoch.utf8.count + 40 } }
}
