import LetsSwitchClient

/// Somebody before a terminal who is in a room, and then perhaps in another: what keys do there.
actor RoomVisit {
    private enum Place {
        /// In none yet, or between two.
        case outside
        case inside(Room, RoomTask?)
        case left
    }

    private let client: LetsSwitchClient
    private let screen: RoomScreen
    private var place = Place.outside
    /// Whether the server has let one in, and the connection stands: who isn't in cheers for nobody.
    private var isIn = false
    private var cheering = 0
    /// Cheers on their way; more keys than can be sent are no more cheers.
    private static let mostCheering = 20

    init(_ client: LetsSwitchClient, _ screen: RoomScreen) {
        self.client = client
        self.screen = screen
    }

    /// Shows what happens in a room until it ends.
    ///
    /// - Returns: Whether it did so by itself, and not by ``leave()``.
    func stay(in room: Room, _ task: RoomTask?) async throws -> Bool {
        if case .left = place { return false }
        (place, isIn) = (.inside(room, task), false)
        await screen.begin(task)
        do {
            for try await event in room.events {
                note(event)
                try await screen.heard(event)
            }
            await screen.end()
        } catch {
            await screen.end()
            throw error
        }
        if case .left = place { return false }
        place = .outside
        return true
    }

    private func note(_ event: Room.Event) {
        switch event {
        case .entered: isIn = true
        case .waiting, .closed: isIn = false
        case .ale, .presence, .rematched, .misunderstood: break
        }
    }

    /// Whether ``leave()`` was called.
    var isOver: Bool { if case .left = place { true } else { false } }

    func leave() async {
        let before = place
        place = .left
        if case .inside(let room, _) = before { await room.leave() }
    }

    /// The digits are the kinds that there are, `s` says that one has started, any other key is a plain cheer.
    /// Cheers leave beside it: what the next key says doesn't wait for them.
    func press(_ key: UInt8) async {
        guard case .inside(let room, let task) = place else { return }
        if let task, key == UInt8(ascii: "s") { return await markStarted(task) }
        guard isIn, cheering < Self.mostCheering else { return }
        let kinds = Cheer.allCases
        let number = Int(key) - Int(UInt8(ascii: "0"))
        let cheer = kinds.indices.contains(number) ? kinds[number] : .plain
        cheering += 1
        Task {
            try? await room.cheer(cheer)
            cheering -= 1
        }
    }

    private func markStarted(_ task: RoomTask) async {
        do {
            _ = try await client.markStarted(taskID: task.id)
            await screen.tell("You have started.")
        } catch {
            await screen.tell("\(error)")
        }
    }
}
