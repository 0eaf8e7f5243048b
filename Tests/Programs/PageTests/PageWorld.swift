import DoorTestSupport
import Foundation
import TestSupport
import Testing

/// The environment of a test: a daemon with its own database, and the browsers of its users. At the end no browser may
/// have reported an error or received a message that isn't described.
final class PageWorld: Sendable {
    let conninfo: String
    private let people = EventRecorder<BrowserPage>()
    /// Pages that may report errors, for example because the daemon stops.
    private let guests = EventRecorder<BrowserPage>()
    private let daemons = EventRecorder<DaemonProcess>()
    private let flags: [String]
    /// The factor by which users are slower than usual.
    let pace: Double
    let endpoint: ClientEndpoint

    private init(conninfo: String, flags: [String], pace: Double, endpoint: ClientEndpoint, daemon: DaemonProcess) {
        self.conninfo = conninfo
        self.flags = flags
        self.pace = pace
        self.endpoint = endpoint
        daemons.append(daemon)
    }

    /// Runs a test. `paced` has flags in seconds at the usual pace.
    ///
    /// On a busy machine users may miss the moment of a step (``before(_:_:)``), which says nothing about the page. The
    /// test is then repeated in a new environment at half the pace.
    static func run(
        _ flags: [String] = [], paced: KeyValuePairs<String, Double> = [:],
        _ body: (PageWorld) async throws -> Void
    ) async throws {
        try await Places.browsers.hold {
            // A sanitizer slows everything down.
            var pace = Double(min(3, TimeAllowance.factor))
            for attempt in 1...4 {
                do {
                    try await runOnce(flags + paced.flatMap { [$0.key, "\($0.value * pace)s"] }, pace, body)
                    break
                } catch is Late where attempt < 4 {
                    pace *= 2
                }
            }
        }
    }

    private static func runOnce(
        _ flags: [String], _ pace: Double, _ body: (PageWorld) async throws -> Void
    ) async throws {
        let conninfo = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await start("127.0.0.1:0", conninfo, flags)
        let world = PageWorld(conninfo: conninfo, flags: flags, pace: pace, endpoint: endpoint, daemon: daemon)
        do {
            try await Evidence.collect {
                Evidence.addLog(of: "the first daemon, process \(daemon.process.pid)") { daemon.process.lines }
                try await ProductDoors.judged { try await body(world) }
            }
            for page in world.people.all + world.guests.all { try page.judgeWhatIsHeard() }
            for page in world.people.all { #expect(page.complaints.filter { !Self.isKnock($0) } == []) }
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
    static func isKnock(_ complaint: String) -> Bool {
        complaint.contains("/socket?") && [" 403", " 404", " 426"].contains { complaint.contains($0) }
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
        if response.status == 409, response.text.contains("registration_closed") { throw Late(moment: start) }
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

    /// A step wasn't finished before its moment.
    struct Late: Error {
        let moment: Date
    }

    /// Runs steps that only make sense before a moment. Throws ``Late`` if they end after it, whatever their result.
    /// Waiting in a page ends at the moment, because the awaited state may never come.
    func before<Value>(_ moment: Date, _ steps: () async throws -> Value) async throws -> Value {
        do {
            let value = try await BrowserPage.$lastMoment.withValue(moment) { try await steps() }
            guard Date.now < moment else { throw Late(moment: moment) }
            return value
        } catch {
            guard Date.now < moment else { throw Late(moment: moment) }
            throw error
        }
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
