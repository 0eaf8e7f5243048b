import Basics
import Foundation
import InterfaceTestSupport
import Postgres
import Reminders
import TestSupport
import Testing

/// A test's world: a daemon on a database of its own, and the browsers of the people who use it. At the end no browser may
/// have logged an error, or have received a message that isn't described.
///
/// The clocks of the database and of the pages run with the machine's until a test sets them (``advance(to:standing:)``). A test gives its
/// people minutes for what they have to do before a moment, and then sets the clocks to that moment: a busy machine fails no test.
final class PageWorld: Sendable {
    let conninfo: String
    private let people = EventRecorder<BrowserPage>()
    /// Pages that may report errors, for example because the daemon stops.
    private let guests = EventRecorder<BrowserPage>()
    private let daemons = EventRecorder<DaemonProcess>()
    private let flags: [String]
    /// JavaScript that sets the clock of a page that opens now.
    private let clockSetting = Locked("")
    let endpoint: ClientEndpoint

    private init(conninfo: String, flags: [String], endpoint: ClientEndpoint, daemon: DaemonProcess) {
        self.conninfo = conninfo
        self.flags = flags
        self.endpoint = endpoint
        daemons.append(daemon)
    }

    static func run(_ flags: [String] = [], _ body: (PageWorld) async throws -> Void) async throws {
        try await TestLimiter.browsers.hold { try await runInPlace(flags, body) }
    }

    private static func runInPlace(_ flags: [String], _ body: (PageWorld) async throws -> Void) async throws {
        let conninfo = try await TestCluster.shared.makeDaemonDatabase()
        for statement in ShiftedClock.install { try await TestCluster.execute(statement, conninfo) }
        // Some tests start another daemon on the port of one that has ended.
        let (daemon, endpoint) = try await start("127.0.0.1:\(try FreePort.find())", conninfo, flags)
        let world = PageWorld(conninfo: conninfo, flags: flags, endpoint: endpoint, daemon: daemon)
        do {
            try await Evidence.collect {
                Evidence.addSlow { await world.clockReport() }
                Evidence.addLog(of: "the first daemon, process \(daemon.process.pid)") { daemon.process.lines }
                try await InterfaceValidation.validating { try await body(world) }
            }
            for page in world.people.all + world.guests.all { try page.validateReceivedMessages() }
            for page in world.people.all { #expect(page.consoleErrors.filter { !Self.isExpectedRefusal($0) } == []) }
            await world.end()
        } catch {
            await world.end()
            throw error
        }
    }

    /// Returns whether the error is a refused room that is expected.
    ///
    /// An answer's `Date` has whole seconds, so the page knows the server's clock only to half a second. A click may
    /// come a moment before the room opens, and the page tries again a moment later. The page of a user without a
    /// partner first asks whether there is a room.
    static func isExpectedRefusal(_ error: String) -> Bool {
        error.contains("/socket?") && [" 403", " 404", " 426"].contains { error.contains($0) }
    }

    private func end() async {
        for page in people.all + guests.all { try? await page.close() }
        _ = try? await daemons.all.last?.terminate()
        await TestCluster.shared.remove(conninfo)
    }

    // MARK: The daemon

    private static func start(
        _ address: String, _ conninfo: String, _ flags: [String]
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        try await DaemonProcess.ready(
            [
                "--listen", address, "--database-url", conninfo, "--close-timeout", "0.2s", "--drain-timeout", "2s",
                // A busy machine must not count as a database outage.
                "--database-wait", "30s", "--database-timeout", "30s",
            ] + flags)
    }

    /// Stops the daemon with a signal.
    func stopDaemon(_ signal: Int32 = SIGKILL) async throws {
        await daemons.all.last?.signal(signal)
        _ = try await daemons.all.last?.waitForExit()
    }

    /// Starts another daemon at the same address. Of repeated flags the last counts.
    func startDaemon(_ more: [String] = []) async throws {
        daemons.append(try await Self.start(endpoint.description, conninfo, flags + more).daemon)
    }

    // MARK: Users

    var address: String { "http://\(endpoint.authority)/" }

    /// Opens the day's page in a browser of its own, with a script that runs first, and waits until the page is live.
    /// Later errors in the browser fail the test unless `mayComplain`.
    func visit(
        _ settings: BrowserPage.Settings = BrowserPage.Settings(), beside other: BrowserPage? = nil,
        after script: String = "", mayComplain: Bool = false
    ) async throws -> BrowserPage {
        let page = try await open("", settings, beside: other, after: script, mayComplain: mayComplain)
        try await page.waitUntilLive()
        return page
    }

    /// Opens any page below the daemon's address without waiting for it.
    func open(
        _ path: String, _ settings: BrowserPage.Settings, beside other: BrowserPage? = nil, after script: String = "",
        mayComplain: Bool = false
    ) async throws -> BrowserPage {
        let page = try await BrowserPage.open(settings, beside: other)
        try await page.runFirst(PageClock.script + clockSetting.withLock { $0 })
        try await page.runFirst(script)
        if mayComplain { guests.append(page) } else { people.append(page) }
        try await page.navigate(to: address + path)
        return page
    }

    /// Registers a task of a user without a browser.
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

    /// Cancels a matched task.
    func leave(_ device: String, _ task: TestJSON) async throws {
        let id = task["id"].string ?? ""
        let response = try await HTTPTestClient.request(
            at: endpoint, "DELETE", "/task/\(id)?deviceId=\(device)&leave=true")
        guard response.status == 200 else { throw ClientFailure.violation("\(response.status) \(response.text)") }
    }

    // MARK: Time

    /// Sets the clocks of the database and of all pages to a moment. They run on from there, or the pages' clocks stand.
    func advance(to moment: Date, stopped: Bool = false) async throws {
        let seconds = moment.timeIntervalSince1970
        try await TestCluster.execute(ShiftedClock.advance(toSeconds: seconds), conninfo)
        // An instant before every known one has the daemon look and read the clock.
        try await TestCluster.execute("SELECT pg_notify('\(ReminderStore.dueChannel)', '0')", conninfo)
        let setting = PageClock.setting(to: moment, stopped: stopped)
        clockSetting.withLock { $0 = setting }
        for page in people.all + guests.all {
            try await page.runFirst(setting)
            try await page.evaluate(setting)
        }
    }

    /// Waits until a condition on the database is true.
    func wait(untilDatabase condition: String) async throws {
        try await eventually(condition) {
            try await TestCluster.execute("SELECT WHERE \(condition)", conninfo)?.count == 1
        }
    }

    private func clockReport() async -> String {
        let query = "SELECT (core.clock() AT TIME ZONE 'UTC')::text AS clock"
        let text = try? await TestCluster.execute(query, conninfo)?.first?.string("clock")
        return "The test's clock: \(text ?? "unknown") (UTC)"
    }

    static func text(_ date: Date) -> String { date.formatted(.iso8601) }

    /// Returns the first whole second after this many seconds.
    static func second(in seconds: Double) -> Date {
        Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + seconds).rounded(.up))
    }

    /// A zone in which it was between 12:00 and 13:00 when the tests began, so that the day has past and future slots.
    /// As long as the tests run, slots from 14:00 on are in the future and slots until 12:00 are past.
    static let noonZone: String = {
        let offset = 12 - hours % 24
        return offset == 0 ? "UTC" : "Etc/GMT\(offset > 0 ? "-" : "+")\(abs(offset))"
    }()
    /// Read once, because the hour may change between the first use of the zone and the first use of noon.
    private static let hours = Int(Date.now.timeIntervalSince1970) / 3600
    private static let noon = Date(timeIntervalSince1970: Double(hours * 3600))
    static func hour(_ hour: Int) -> Date { noon.addingTimeInterval(Double(hour - 12) * 3600) }
}

extension BrowserPage {
    /// Waits until the day is loaded and its stream is open.
    func waitUntilLive() async throws {
        try await wait(
            until: "document.body.dataset.link === 'live' && document.querySelector('.slot[data-state]')")
    }

    /// The selector of a slot's row, by its time.
    static func row(_ time: String) -> String { ".slot[data-key=\"\(time)\"]" }

    func waitForState(_ state: String, at time: String) async throws {
        try await wait(until: "document.querySelector('\(Self.row(time))')?.dataset.state === '\(state)'")
    }
}
