import Foundation
import TestSupport
import Testing

/// A test's world: a daemon on a database of its own, and the browsers of the people who use it. At the end no browser may
/// have complained.
final class PageWorld: Sendable {
    let conninfo: String
    private let people = EventRecorder<BrowserPage>()
    /// Those who may complain: of a server that goes away, say.
    private let guests = EventRecorder<BrowserPage>()
    private let daemons = EventRecorder<DaemonProcess>()
    private let flags: [String]
    let endpoint: ClientEndpoint

    private init(conninfo: String, flags: [String], endpoint: ClientEndpoint, daemon: DaemonProcess) {
        self.conninfo = conninfo
        self.flags = flags
        self.endpoint = endpoint
        daemons.append(daemon)
    }

    static func run(_ flags: [String] = [], _ body: (PageWorld) async throws -> Void) async throws {
        await PageLimit.shared.enter()
        do {
            let conninfo = try await TestCluster.shared.makeDatabase()
            let (daemon, endpoint) = try await start("127.0.0.1:0", conninfo, flags)
            let world = PageWorld(conninfo: conninfo, flags: flags, endpoint: endpoint, daemon: daemon)
            do {
                try await body(world)
                for page in world.people.all { #expect(page.complaints.isEmpty) }
                await world.end()
            } catch {
                await world.end()
                throw error
            }
            await PageLimit.shared.leave()
        } catch {
            await PageLimit.shared.leave()
            throw error
        }
    }

    private func end() async {
        for page in people.all + guests.all { try? await page.close() }
        _ = try? await daemons.all.last?.terminate()
    }

    // MARK: The daemon

    private static func start(
        _ address: String, _ conninfo: String, _ flags: [String]
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        try await DaemonProcess.listening(
            [
                "--listen", address, "--database-url", conninfo, "--close-timeout", "0.2s", "--drain-timeout", "2s",
                // A busy machine is no outage.
                "--database-wait", "30s", "--database-timeout", "30s",
            ] + flags)
    }

    /// Ends the daemon by a signal.
    func stopDaemon(_ signal: Int32 = SIGKILL) async throws {
        await daemons.all.last?.signal(signal)
        _ = try await daemons.all.last?.waitForExit()
    }

    /// Starts another in its place; of its flags, a later one counts.
    func startDaemon(_ more: [String] = []) async throws {
        daemons.append(try await Self.start(endpoint.description, conninfo, flags + more).daemon)
    }

    // MARK: People

    var address: String { "http://\(endpoint.authority)/" }

    /// Opens the page in a browser of its own, where a script runs first, and waits until it is live. What it is then to
    /// complain of fails the test, unless `mayComplain`.
    func visit(
        _ settings: BrowserPage.Settings = BrowserPage.Settings(), beside other: BrowserPage? = nil,
        after script: String = "", mayComplain: Bool = false
    ) async throws -> BrowserPage {
        let page = try await BrowserPage.open(settings, beside: other)
        try await page.runFirst(script)
        if mayComplain { guests.append(page) } else { people.append(page) }
        try await page.navigate(to: address)
        try await page.waitUntilLive()
        return page
    }

    /// Who is there without a browser: registers a task.
    @discardableResult
    func register(_ device: String, _ title: String, at start: Date) async throws -> TestJSON {
        let response = try await HTTPTestClient.request(
            at: endpoint, "POST", "/task",
            json: ["deviceId": .string(device), "title": .string(title), "startsAt": .string(Self.text(start))])
        guard response.status == 201 else { throw ClientFailure.violation("\(response.status) \(response.text)") }
        return try response.json()
    }

    func cancel(_ device: String, at start: Date) async throws {
        let response = try await HTTPTestClient.request(
            at: endpoint, "POST", "/task/delete",
            json: ["deviceId": .string(device), "startsAt": .string(Self.text(start))])
        guard response.status == 200 else { throw ClientFailure.violation("\(response.status) \(response.text)") }
    }

    // MARK: Time

    /// How many times slower people are here: a sanitizer holds everything up.
    static let pace = Double(min(3, TimeAllowance.factor))

    static func text(_ date: Date) -> String { date.formatted(.iso8601) }

    /// A whole second, so many after now.
    static func second(in seconds: Double) -> Date {
        Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + seconds).rounded(.up))
    }

    /// A zone in which it was noon or a little later when the tests began, so that the day has slots before and behind; and an
    /// hour of that day. From 14:00 on they are ahead for as long as the tests run, up to 12:00 behind.
    static let noonZone: String = {
        let offset = 12 - hours % 24
        return offset == 0 ? "UTC" : "Etc/GMT\(offset > 0 ? "-" : "+")\(abs(offset))"
    }()
    /// Read once: the hour may turn between the first look at the zone and the first at the noon.
    private static let hours = Int(Date.now.timeIntervalSince1970) / 3600
    private static let noon = Date(timeIntervalSince1970: Double(hours * 3600))
    static func hour(_ hour: Int) -> Date { noon.addingTimeInterval(Double(hour - 12) * 3600) }
}

extension BrowserPage {
    /// The day is there, and the stream that keeps it fresh.
    func waitUntilLive() async throws {
        try await wait(
            until: "document.body.dataset.link === 'live' && document.querySelector('.slot[data-state]')")
    }

    /// A slot's row, by what it says.
    static func row(_ time: String) -> String { ".slot[data-key=\"\(time)\"]" }

    func waitForState(_ state: String, at time: String) async throws {
        try await wait(until: "document.querySelector('\(Self.row(time))')?.dataset.state === '\(state)'")
    }
}
