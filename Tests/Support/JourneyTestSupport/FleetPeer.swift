package import Foundation
package import TestSupport

/// A peer in a room on one of several daemons. It counts the ales that it sends and receives until its connection ends.
package actor FleetPeer {
    package nonisolated let room: UUID
    /// The index of its daemon.
    package nonisolated let daemon: Int
    private let client: WebSocketTestClient
    package private(set) var sent = 0
    /// The number of ales received from others.
    package private(set) var received = 0
    /// The member counts that it received, in order, if it asked for presence.
    package private(set) var counts: [Int] = []
    /// Unexpected messages, and how the connection ended.
    package private(set) var objections: [String] = []
    package private(set) var close: TestClose?
    package private(set) var isConnected = true
    /// The ales sent and received, and whether the peer is connected, at one moment.
    package var snapshot: (sent: Int, received: Int, isConnected: Bool) { (sent, received, isConnected) }
    private var reading: Task<Void, Never>?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { ClientExecutor.shared.asUnownedSerialExecutor() }

    private init(_ client: WebSocketTestClient, room: UUID, daemon: Int) {
        self.client = client
        self.room = room
        self.daemon = daemon
    }

    /// Enters the room, and returns after the server's greeting.
    ///
    /// - Parameter query: Further items of the query, such as `&presence=true`.
    package static func enter(
        _ room: UUID, at endpoint: ClientEndpoint, daemon: Int = 0, _ query: String = ""
    ) async throws -> FleetPeer {
        let client = try await WebSocketTestClient.connect(to: endpoint, ClientEndpoint.room(room) + query)
        guard try await client.nextMessage() == RoomMessages.handshake else {
            throw ClientFailure.violation("no handshake message")
        }
        let peer = FleetPeer(client, room: room, daemon: daemon)
        await peer.listen()
        return peer
    }

    private func listen() {
        reading = Task {
            do {
                while true { take(try await client.nextMessage(within: .seconds(3600))) }
            } catch let close as TestClose {
                self.close = close
            } catch ClientFailure.violation(let what) {
                objections.append(what)
            } catch {}
            isConnected = false
            await client.close()
        }
    }

    private func take(_ message: TestMessage) {
        if message == RoomMessages.cheer {
            received += 1
        } else if let json = try? message.json(), json["type"] == "presence", let count = json["data"]["count"].int {
            counts.append(count)
        } else {
            objections.append("\(message)")
        }
    }

    package func send(_ ales: Int = 1) async throws {
        for _ in 0..<ales {
            sent += 1
            try await client.send(text: RoomMessages.ale(room))
        }
    }

    package func leave() async {
        await client.close()
        await reading?.value
    }

    /// Returns when it has received the member count `count`.
    package func waitForCount(_ count: Int, within allowed: Duration = Deadline.standard) async throws {
        try await eventually("\(count) present, of \(counts)", within: allowed) { counts.last == count }
    }
}
