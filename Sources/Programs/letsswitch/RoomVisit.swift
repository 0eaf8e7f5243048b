import LetsSwitchClient

/// A user's visit to a room. If the match changes, the user moves to another room, and the visit continues there. The
/// visit also handles the keys that the user presses in the terminal.
actor RoomVisit {
    private enum Place {
        /// Before the first room, or between two rooms.
        case outside
        case inside(Room, RoomTask?)
        case left
    }

    private let client: LetsSwitchClient
    private let screen: RoomScreen
    private var place = Place.outside
    /// Whether the member is in the room and connected. Otherwise no cheer is sent.
    private var isIn = false
    private var cheering = 0
    /// The maximum number of cheers being sent at once. Further keys are ignored.
    private static let mostCheering = 20

    init(_ client: LetsSwitchClient, _ screen: RoomScreen) {
        self.client = client
        self.screen = screen
    }

    /// Shows what happens in a room until it ends.
    ///
    /// - Returns: `true` if the room ended by itself, `false` after ``leave()``.
    func stay(in room: Room, _ task: RoomTask?) async throws -> Bool {
        if case .left = place { return false }
        (place, isIn) = (.inside(room, task), false)
        await screen.begin(task)
        do {
            for try await event in room.events {
                note(event)
                try await screen.receive(event)
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

    /// Handles a key: a digit sends a kind of cheer, `s` reports the start, and any other key sends a plain cheer.
    /// Cheers are sent in tasks of their own, so the next key doesn't wait for them.
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
            await screen.showLine("You have started.")
        } catch {
            await screen.showLine("\(error)")
        }
    }
}
