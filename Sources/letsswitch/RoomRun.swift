import FoundationEssentials
import LetsSwitchClient

/// Being in a room, and in those that take its place.
struct RoomRun {
    private let id: UUID
    private let client: LetsSwitchClient
    private let output: Output

    init(_ id: UUID, _ client: LetsSwitchClient, _ output: Output) {
        self.id = id
        self.client = client
        self.output = output
    }

    func join() async throws {
        try await client.checkReachability()
        guard output.isTerminal else {
            return try await follow { room, _ in
                for try await item in room.items { if let source = item.source { try output.tell(source, source) } }
                return true
            }
        }
        let visit = RoomVisit(client, RoomScreen(output))
        let keys = KeyPresses()
        let pressing = keys.map { keys in Task { for await key in keys.presses { await visit.press(key) } } }
        let leaving = keys.map { keys in
            Task {
                for await _ in keys.untilLeaving {}
                await visit.leave()
            }
        }
        defer {
            pressing?.cancel()
            leaving?.cancel()
            keys?.restore()
        }
        try await follow { room, task in try await visit.stay(in: room, task) }
    }

    /// A partner who doesn't come, or leaves, has the server make another room for who is in this one; there it goes on.
    ///
    /// - Parameter stay: Returns when a room has ended, and false when that was enough.
    private func follow(_ stay: (Room, RoomTask?) async throws -> Bool) async throws {
        var (id, key) = (self.id, RoomTask.Key.room(self.id))
        while true {
            // By the task the server knows who comes; without one it is a room like any other.
            let task: RoomTask?
            do { task = try await client.task(key) } catch ClientError.refused { task = nil }
            if case .task = key {
                guard let task, task.roomID != id else { return }
                id = task.roomID
            }
            let room = task.map { client.room(id, task: $0.id) } ?? client.room(id)
            guard try await stay(room, task), let task else { return }
            key = .task(task.id)
        }
    }

    func cheer(_ cheer: Cheer, _ times: Int) async throws {
        try await client.checkReachability()
        let room = client.room(id)
        let hearing = Task {
            do {
                try await hear(room)
            } catch {
                // And with it who waits to send.
                await room.leave()
                throw error
            }
        }
        do {
            for _ in 0..<times { try await room.cheer(cheer) }
        } catch {
            await room.leave()
            // What ended the events says why.
            try await hearing.value
            throw error
        }
        // Behind the ales: the server has read them when it answers.
        await room.leave()
        try await hearing.value
    }

    /// Returns when it was left. Whatever else ends it, or interrupts it, may have come before the server has read the ales.
    private func hear(_ room: Room) async throws {
        var wasIn = false
        for try await event in room.events {
            switch event {
            case .entered: wasIn = true
            case .waiting(let wait):
                guard !wasIn else { throw ClientError.unreachable("the connection was lost") }
                output.complain("Not in; again in \(wait.roundedUpSeconds) s.")
            case .closed(.goingAway), .ale, .presence, .rematched, .misunderstood: break
            case .closed(.lost): throw ClientError.unreachable("the connection was lost")
            case .closed(let code): throw ClientError.closed(code, reason: "")
            }
        }
    }
}
