import Basics
import Dispatch
import FoundationEssentials
import Glibc
import TestSupport
import Wire

/// Whole requests to two daemons on one database, and notifications on their channels. Each request gets a documented
/// answer, and the daemons stay alive.
enum ScheduleProperties {
    /// The documented statuses. `429`: a limit of a device or address was exceeded.
    private static let statuses: Set<Int> = [
        200, 201, 204, 304, 400, 401, 403, 404, 405, 409, 410, 413, 414, 415, 421, 426, 429, 431, 501,
    ]
    /// The pause between two rounds in which one daemon notifies the other.
    private static let noticePause = Duration.milliseconds(120)
    /// The time limit for one answer.
    private static let patience = Duration.seconds(60)

    /// Blocks the calling thread, which must not be one that tasks run on.
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let done = DispatchSemaphore(value: 0)
        let outcome = Locked<Result<Void, BrokenProperty>>(.success(()))
        Task.detached {
            do {
                try await ScheduleWorld.get().alone { try await run(input, in: $0) }
            } catch {
                outcome.withLock { $0 = .failure(error as? BrokenProperty ?? BrokenProperty("\(error)")) }
            }
            done.signal()
        }
        done.wait()
        try outcome.withLock { $0 }.get()
    }

    private static func run(_ input: FuzzInput, in world: ScheduleWorld) async throws {
        var names = ScheduleNames(firstHour: (time(nil) / 3600 + 2) * 3600)
        var streams: [HTTPTestClient] = []
        var clients: [Int: HTTPTestClient] = [:]
        var tells = false
        for (number, step) in ScheduleScript(input.content).steps.enumerated() {
            // The daemon that gets the request.
            let place = input.option(0) ? number % world.endpoints.count : 0
            switch step {
            case .notify(let channel, let payload):
                try await world.notify(channel, payload)
            case .request(let method, let target, let body):
                let kept = clients.removeValue(forKey: place)
                let client =
                    if let kept { kept } else { try await HTTPTestClient.connect(to: world.endpoints[place]) }
                let answer = try await ask(
                    client, method, Self.target(names.fill(target)), names.fill(body), streams: &streams)
                guard let answer else { continue }
                try check(answer, to: method)
                learn(from: answer, &names)
                tells = tells || (method != "GET" && answer.status < 300)
                if answer.keepsConnection { clients[place] = client } else { await client.close() }
            }
        }
        // Waits, so that a notification to another daemon arrives while its cause is known.
        if tells { try await Task.sleep(for: noticePause) }
        for client in streams + clients.values { await client.close() }
        for endpoint in world.endpoints {
            let answer = try await HTTPTestClient.request(at: endpoint, "GET", "/healthz", within: patience)
            try require(answer.status == 200, "a daemon that isn't healthy: \(answer.status)")
        }
    }

    /// Returns `nil` if the answer is a stream, which stays open.
    private static func ask(
        _ client: HTTPTestClient, _ method: String, _ target: String, _ body: [UInt8],
        streams: inout [HTTPTestClient]
    ) async throws -> TestResponse? {
        guard method == "GET", target.hasPrefix("/reminders") else {
            return try await client.request(method, target, body: body.isEmpty ? nil : body, within: patience)
        }
        try await client.sendRequest(method, target, within: patience)
        let head = try await client.readHead(within: patience)
        try require(statuses.contains(head.status), "a stream answered \(head.status)")
        if head.status == 200 { streams.append(client) } else { await client.close() }
        return nil
    }

    /// Escapes everything that isn't allowed in a target; the target parser has its own fuzz target.
    private static func target(_ bytes: [UInt8]) -> String {
        var target = ""
        for byte in bytes {
            if (0x21..<0x7F).contains(byte) {
                target.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                target += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return target
    }

    private static func check(_ answer: TestResponse, to method: String) throws(BrokenProperty) {
        try require(statuses.contains(answer.status), "\(answer.status) \(answer.text)")
        guard method != "HEAD", answer.headers["Content-Type"] == "application/json" else { return }
        try require(answer.body.withUnsafeBytes { JSONSyntax.isValid($0) }, "no JSON: \(answer.text)")
        guard answer.status >= 400, let tree = PlainJSON(answer.body, depth: 8) else { return }
        try require(tree.text("code").text?.isEmpty == false, "a refusal without a code: \(answer.text)")
        try require(tree.text("reason").text?.isEmpty == false, "a refusal without a reason: \(answer.text)")
    }

    /// Stores names that later steps can use.
    private static func learn(from answer: TestResponse, _ names: inout ScheduleNames) {
        guard answer.status < 300, let tree = PlainJSON(answer.body, depth: 8) else { return }
        if let id = tree.text("id").text { names.id = Array(id.utf8) }
        if let link = tree.text("invitation").text, link.hasPrefix("/#") {
            names.invitation = Array("/invitations\(link.dropFirst(12))".utf8)
        }
        if let url = tree.text("url").text, url.hasSuffix(".ics") { names.calendar = Array(url.utf8) }
    }
}
