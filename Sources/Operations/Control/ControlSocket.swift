import Basics
import Domain
import FoundationEssentials
import Glibc
package import Observability
package import Settings
import Sockets
import Wire

/// Accepts operators' commands on a Unix socket. Only root and the daemon's user may connect. The socket has its own
/// event loop.
///
/// ```
/// connect ─► {"command":"kick","target":"…"} ─► rows, an object a line … ─► {"end":"done"}
///                                            ─► {"note":"…"}, for people  or {"end":"failed","reason":"…"}
/// ```
///
/// Each connection carries one command. A client that takes too long or sends too much is disconnected.
package final class ControlSocket: Service {
    private static let atOnce = 8

    private let path: String
    private let actions: any ControlActions
    private let log: Log
    private let loop: EventLoop
    private let openSockets = SocketCount()
    private let shard = LoopLocal<ControlShard>()
    private let ending = AsyncStream<Never>.makeStream()

    package init(path: String, actions: any ControlActions, log: Log) throws {
        self.path = path
        self.actions = actions
        self.log = log
        loop = try EventLoop(index: 0, openSockets: openSockets)
    }

    package func run() async {
        await loop.start()
        do {
            try await loop.run { try self.listen(on: $0) }
            log.info("listening for operators' commands", ["path": .string(path)])
        } catch let error as SocketError where error.errno == ENOENT {
            log.info("operators' commands are unavailable: there is no state directory", ["path": .string(path)])
        } catch {
            // Usually a daemon with the same state directory and a different database uses the path.
            log.warning("operators' commands are unavailable", ["path": .string(path), "error": .string("\(error)")])
        }
        for await _ in ending.stream {}
    }

    package func stop(within limit: Duration) async {
        await loop.run { self.shard(on: $0).listener?.close() }
        // A running command gets at most one second, because it may wait for a part that has already stopped.
        _ = await openSockets.waitUntilZero(within: min(limit, .seconds(1)))
        await loop.stop()
        ending.continuation.finish()
    }

    // MARK: On the loop

    private func shard(on reactor: Reactor) -> ControlShard {
        shard.value(on: reactor) { ControlShard() }
    }

    private func listen(on reactor: Reactor) throws {
        let listener = try ListeningSocket(try SocketAddress(path: path), mode: 0o600)
        try listener.start(
            on: reactor, accepted: { [unowned self] detached, _ in accept(detached, on: reactor) }, rested: { _ in })
        shard(on: reactor).listener = listener
    }

    private func accept(_ detached: DetachedSocket, on reactor: Reactor) {
        guard let socket = try? StreamSocket(detached, on: reactor) else { return }
        let shard = shard(on: reactor)
        let connection = ControlConnection(socket, on: shard) { [unowned self] in perform($0, $1, for: $2) }
        if shard.connections.count > Self.atOnce { connection.end(failedBecause: "too many commands at once") }
    }

    /// Runs the order in a task. The task finds the connection again by its number.
    private func perform(_ order: ControlOrder, _ number: Int, for user: UInt32?) {
        let reply = ControlReply(
            write: { [loop, shard] bytes in
                loop.submit { shard.value(on: $0) { ControlShard() }.connections[number]?.write(bytes) }
            },
            isTaken: { [loop, shard] in
                await withCheckedContinuation { continuation in
                    loop.submit { reactor in
                        guard let connection = shard.value(on: reactor, make: { ControlShard() }).connections[number]
                        else {
                            return continuation.resume(returning: false)
                        }
                        connection.whenTaken { continuation.resume(returning: $0) }
                    }
                }
            })
        Task { [actions, log, loop, shard] in
            var failure: String?
            var count = 0
            // Logged before the command runs, because a drain can run until the daemon ends.
            log.info("operator's command received", order.logged(by: user, "received"))
            do {
                count = try await actions.perform(order, reply)
            } catch {
                failure = "\(error)"
            }
            log.info("operator's command ended", order.logged(by: user, failure ?? "done", count))
            loop.submit { [failure] in
                shard.value(on: $0) { ControlShard() }.connections[number]?.end(failedBecause: failure)
            }
        }
    }
}

/// The actions of the daemon for operators.
package protocol ControlActions: Sendable {
    /// - Returns: The number of connections or rows, for the log.
    /// - Throws: An error whose description is a sentence for the operator.
    func perform(_ order: ControlOrder, _ reply: ControlReply) async throws -> Int
}

/// The answer to a command. Each row is sent as soon as it is known.
package struct ControlReply: Sendable {
    let write: @Sendable ([UInt8]) -> Void
    /// Returns `true` when the command has read the whole answer so far, or `false` if it has disconnected.
    let isTaken: @Sendable () async -> Bool

    /// Waits until the command has read the answer so far. Used for long answers.
    func awaitTaking() async throws(ControlFailure) {
        guard await isTaken() else { throw ControlFailure("the command has disconnected") }
    }

    /// Sends a note for people. A note isn't a row.
    func note(_ sentence: String) { row { $0.member("note", sentence) } }

    func row(_ members: (inout JSONText) -> Void) {
        var json = JSONText()
        json.object(members)
        write(json.bytes)
    }
}

/// The running commands. Used on the loop only.
final class ControlShard {
    var listener: ListeningSocket?
    var connections: [Int: ControlConnection] = [:]
    var lastNumber = 0
}

extension ControlOrder {
    /// Returns the user and the command, for the log. Addresses and device ids are left out.
    ///
    /// - Parameter count: The number of connections or rows.
    func logged(by user: UInt32?, _ outcome: String, _ count: Int = 0) -> Log.Values {
        let uid = LogValue.int(user.map { Int($0) } ?? -1)
        let outcome = LogValue.string(outcome)
        let count = LogValue.int(count)
        switch self {
        case .connections, .kick:
            return ["command": .string(name.rawValue), "uid": uid, "outcome": outcome, "count": count]
        case .close(let room):
            return [
                "command": "close", "uid": uid, "outcome": outcome, "count": count, "room": .string(room.text),
            ]
        case .drain(let rate): return ["command": "drain", "uid": uid, "outcome": outcome, "rate": .int(rate)]
        case .export(let device):
            return ["command": "export", "uid": uid, "outcome": outcome, "count": count, "device": .device(device)]
        case .remind(let device), .erase(let device):
            return ["command": .string(name.rawValue), "uid": uid, "outcome": outcome, "device": .device(device)]
        }
    }
}
