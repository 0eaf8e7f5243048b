import Domain
package import Rooms
import Sockets

/// The subscribers on one loop that receive hints about a device's conversations. Must be used on the loop.
package final class ConversationWatches {
    struct Number: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let watch: ConversationWatch
        /// The connection to the user's room. `nil` while the device has no name.
        var membership: ConversationMembership?
    }

    private let reactor: Reactor
    private let loop: EventLoop
    private let conversations: Conversations
    private var entries: [Number: Entry] = [:]
    private var lastNumber = 0

    init(on reactor: Reactor, loop: EventLoop, _ conversations: Conversations) {
        self.reactor = reactor
        self.loop = loop
        self.conversations = conversations
    }

    /// Adds a subscriber, which receives hints as soon as the device has a name.
    ///
    /// - Parameter notify: Called on this loop for each change of the device's conversations, until ``remove(_:)``.
    package func add(_ member: ConversationMember, _ notify: @escaping (Publication) -> Void) -> ConversationWatch {
        lastNumber += 1
        let watch = ConversationWatch(member, Number(number: lastNumber), notify)
        entries[watch.number] = Entry(watch: watch)
        readName(for: watch.number, member.device)
        return watch
    }

    /// Removes the subscriber. Repeating it has no effect.
    package func remove(_ watch: ConversationWatch) {
        entries.removeValue(forKey: watch.number)?.membership?.leave(conversations)
    }

    /// Handles a device that now has a name.
    func named(_ device: DeviceID, _ user: String) {
        for (number, entry) in entries where entry.watch.member.device == device { join(number, as: user) }
    }

    private func join(_ number: Number, as user: String) {
        guard let entry = entries[number], entry.membership == nil else { return }
        let membership = ConversationMembership(of: entry.watch, as: user, in: conversations, on: reactor)
        entries[number]?.membership = membership
    }

    private func readName(for number: Number, _ device: DeviceID) {
        conversations.ask(on: loop) {
            try await $0.store.name(of: device)
        } then: { shard, name in
            shard.watches.found(name, for: number, device)
        }
    }

    private func found(_ name: Result<String?, any Error>, for number: Number, _ device: DeviceID) {
        guard let entry = entries[number], entry.membership == nil else { return }
        switch name {
        case .success(let user?): join(number, as: user)
        case .success(nil): break
        case .failure:
            reactor.schedule(after: ConversationShard.retryDelay) { [weak self] in self?.readName(for: number, device) }
        }
    }
}
