import Basics
import Domain
import FoundationEssentials
import Glibc
package import Observability
package import Settings
import Sockets
import Wire

/// Where operators' commands are heard: a Unix socket that the daemon's own user and root may use, with an event loop of its own.
///
/// ```
/// connect ─► {"command":"kick","target":"…"} ─► rows, an object a line … ─► {"end":"done"}
///                                           ─► {"note":"…"}, for people  or {"end":"failed","reason":"…"}
/// ```
///
/// A request a connection. Whoever takes too long to ask, or asks for too much, is cut off.
package final class ControlSocket: Service {
    private static let atOnce = 8

    private let path: String
    private let actions: any ControlActions
    private let log: Log
    private let loop: EventLoop
    private let openSockets = SocketCount()
    private let desk = LoopLocal<ControlDesk>()
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
            // Mostly another daemon's, with the same state directory and a database elsewhere.
            log.warning("operators' commands are unavailable", ["path": .string(path), "error": .string("\(error)")])
        }
        for await _ in ending.stream {}
    }

    package func stop(within limit: Duration) async {
        await loop.run { self.desk(on: $0).listener?.close() }
        // A command that goes on has to be cut off: it may wait for what has ended.
        _ = await openSockets.waitUntilZero(within: min(limit, .seconds(1)))
        await loop.stop()
        ending.continuation.finish()
    }

    // MARK: On the loop

    private func desk(on reactor: Reactor) -> ControlDesk {
        desk.value(on: reactor) { ControlDesk() }
    }

    private func listen(on reactor: Reactor) throws {
        let listener = try ListeningSocket(try SocketAddress(path: path), mode: 0o600)
        try listener.start(
            on: reactor, accepted: { [unowned self] detached, _ in accept(detached, on: reactor) }, rested: { _ in })
        desk(on: reactor).listener = listener
    }

    private func accept(_ detached: DetachedSocket, on reactor: Reactor) {
        guard let socket = try? StreamSocket(detached, on: reactor) else { return }
        let desk = desk(on: reactor)
        let connection = ControlConnection(socket, at: desk) { [unowned self] in perform($0, $1, for: $2) }
        if desk.connections.count > Self.atOnce { connection.end(failedBecause: "too many commands at once") }
    }

    /// Has the command done in a task, which knows the connection's number.
    private func perform(_ order: ControlOrder, _ number: Int, for user: UInt32?) {
        let reply = ControlReply(
            write: { [loop, desk] bytes in
                loop.submit { desk.value(on: $0) { ControlDesk() }.connections[number]?.write(bytes) }
            },
            isTaken: { [loop, desk] in
                await withCheckedContinuation { continuation in
                    loop.submit { reactor in
                        guard let connection = desk.value(on: reactor, make: { ControlDesk() }).connections[number]
                        else {
                            return continuation.resume(returning: false)
                        }
                        connection.whenTaken { continuation.resume(returning: $0) }
                    }
                }
            })
        Task { [actions, log, loop, desk] in
            var failure: String?
            var count = 0
            // Before, too: a drain may outlast the daemon.
            log.info("operator's command received", order.logged(by: user, "received"))
            do {
                count = try await actions.perform(order, reply)
            } catch {
                failure = "\(error)"
            }
            log.info("operator's command ended", order.logged(by: user, failure ?? "done", count))
            loop.submit { [failure] in
                desk.value(on: $0) { ControlDesk() }.connections[number]?.end(failedBecause: failure)
            }
        }
    }
}

/// What the daemon does for operators.
package protocol ControlActions: Sendable {
    /// - Returns: Of how many connections or rows, for the log.
    /// - Throws: What is to be told; its description is a sentence.
    func perform(_ order: ControlOrder, _ reply: ControlReply) async throws -> Int
}

/// Where a command's rows go, each as soon as it is known.
package struct ControlReply: Sendable {
    let write: @Sendable ([UInt8]) -> Void
    /// Whether the command has taken all that was written; false when it has gone.
    let isTaken: @Sendable () async -> Bool

    /// Returns when the command has taken what was written: for answers that are long.
    func awaitTaking() async throws(ControlFailure) {
        guard await isTaken() else { throw ControlFailure("the command has disconnected") }
    }

    /// Something for people, beside the rows.
    func note(_ sentence: String) { row { $0.member("note", sentence) } }

    func row(_ members: (inout JSONText) -> Void) {
        var json = JSONText()
        json.object(members)
        write(json.bytes)
    }
}

/// The commands that are under way. On the loop.
final class ControlDesk {
    var listener: ListeningSocket?
    var connections: [Int: ControlConnection] = [:]
    var lastNumber = 0
}

extension ControlOrder {
    /// Who did what. An address or a device is for nobody who reads the log.
    ///
    /// - Parameter count: Of how many connections, or rows.
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
