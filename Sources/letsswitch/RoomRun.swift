import FoundationEssentials
import LetsSwitchClient

/// Being in a room.
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
        // By the task the server knows who comes; without one it is a room like any other.
        let task = try? await client.task(in: id)
        let room = task.map { client.room(id, task: $0.id) } ?? client.room(id)
        guard output.isTerminal else {
            for try await item in room.items { if let source = item.source { try output.tell(source, source) } }
            return
        }
        try await show(room, task)
    }

    private func show(_ room: Room, _ task: RoomTask?) async throws {
        let screen = RoomScreen(output, RoomView(task))
        let keys = KeyPresses()
        let cheering = keys.map { keys in
            Task {
                // Who isn't in cheers for nobody.
                for await key in keys.presses { try? await room.cheer(Self.cheer(of: key)) }
            }
        }
        let leaving = keys.map { keys in
            Task {
                for await _ in keys.untilLeaving {}
                await room.leave()
            }
        }
        defer {
            cheering?.cancel()
            leaving?.cancel()
            keys?.restore()
        }
        do {
            for try await event in room.events { try await screen.heard(event) }
            await screen.end()
        } catch {
            await screen.end()
            throw error
        }
    }

    /// The digits are the kinds that there are, any other key is a plain cheer.
    private static func cheer(of key: UInt8) -> Cheer {
        let kinds = Cheer.allCases
        let number = Int(key) - Int(UInt8(ascii: "0"))
        return kinds.indices.contains(number) ? kinds[number] : .plain
    }

    func cheer(_ cheer: Cheer, _ times: Int) async throws {
        try await client.checkReachability()
        let room = client.room(id)
        // A refusal ends the events, and with them who waits to send.
        for _ in 0..<times { try await room.cheer(cheer) }
        // Behind the ales: the server has read them when it answers.
        await room.leave()
    }
}
