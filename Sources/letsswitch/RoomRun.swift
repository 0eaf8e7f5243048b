import FoundationEssentials
import Glibc
import LetsSwitchClient

/// Being in a room.
struct RoomRun {
    /// The server's messages are shown as they came, so none is decoded on the way.
    private struct Undecoded: Decodable {
        init(from decoder: any Decoder) throws {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
        }
    }

    private struct Ale: Encodable {
        let type = "ale"
        let id: String
    }

    private struct Message: Decodable {
        let type: String
        let reason: String?
        let data: Presence?

        struct Presence: Decodable { let count: Int? }
    }

    private typealias Socket = WebSocketClient<Undecoded, Ale>

    private let id: UUID
    private let output: Output
    private let server: ServerAddress
    private let socket: Socket

    init(_ id: UUID, _ server: ServerAddress, _ output: Output) {
        self.id = id
        self.server = server
        self.output = output
        socket = Socket(server, path: "/socket?id=\(id.uuidString)\(output.isTerminal ? "&presence=true" : "")")
    }

    private var ale: Ale { Ale(id: id.uuidString) }

    func join() async throws {
        try await LetsSwitchClient(server, deviceID: "").checkReachability()
        let keys = output.isTerminal ? KeyPresses() : nil
        let cheering = keys.map { keys in
            Task {
                // Who isn't in cheers for nobody.
                for await _ in keys.presses { try? await socket.send(ale, as: .text) }
            }
        }
        let leaving = keys.map { keys in
            Task {
                for await _ in keys.untilLeaving {}
                await socket.cancel()
            }
        }
        defer {
            cheering?.cancel()
            leaving?.cancel()
            keys?.restore()
        }
        for try await event in socket.events {
            switch event {
            case .undecodable(let data):
                let text = String(decoding: data, as: UTF8.self)
                try output.tell(text, Self.text(data) ?? text)
            case .waiting(let wait) where output.isTerminal:
                try output.say("not in; again in \(wait.components.seconds) s")
            case .closed(.normal) where output.isTerminal: try output.say("The room is closed.")
            case .opened, .message, .waiting, .closed: break
            }
        }
    }

    private static func text(_ data: Data) -> String? {
        guard let message = try? JSONDecoder().decode(Message.self, from: data) else { return nil }
        switch message.type {
        case "handshake": return "You are in. Any key cheers, Ctrl-C leaves."
        case "aleResponse": return "Cheers!"
        case "presence": return message.data?.count.map { $0 == 1 ? "You are alone." : "\($0) are here." }
        case "error": return message.reason
        default: return nil
        }
    }

    func cheer(_ times: Int) async throws {
        try await LetsSwitchClient(server, deviceID: "").checkReachability()
        // A refusal ends the events, and with them who waits to send.
        for _ in 0..<times { try await socket.send(ale, as: .text) }
        // Behind the ales: the server has read them when it answers.
        await socket.cancel()
    }
}
