import DoorTestSupport
import Foundation
import TestSupport
import Testing

/// A test's world: a daemon on a database of its own, and the browsers of the people who use it. At the end no browser may
/// have complained, nor have heard what isn't described.
final class PageWorld: Sendable {
    let conninfo: String
    private let people = EventRecorder<BrowserPage>()
    /// Those who may complain: of a server that goes away, say.
    private let guests = EventRecorder<BrowserPage>()
    private let daemons = EventRecorder<DaemonProcess>()
    private let flags: [String]
    /// How many times slower people are here.
    let pace: Double
    let endpoint: ClientEndpoint

    private init(conninfo: String, flags: [String], pace: Double, endpoint: ClientEndpoint, daemon: DaemonProcess) {
        self.conninfo = conninfo
        self.flags = flags
        self.pace = pace
        self.endpoint = endpoint
        daemons.append(daemon)
    }

    /// `paced` are flags of so many seconds at the usual pace. Where a machine that is busy with other things had people miss
    /// what they had to do by a certain moment (``before(_:_:)``), that says nothing of the page: they begin anew, in a new
    /// world, at half the pace.
    static func run(
        _ flags: [String] = [], paced: KeyValuePairs<String, Double> = [:],
        _ body: (PageWorld) async throws -> Void
    ) async throws {
        try await Places.browsers.hold {
            // A sanitizer holds everything up.
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
            try await ProductDoors.judged { try await body(world) }
            for page in world.people.all + world.guests.all { try page.judgeWhatIsHeard() }
            for page in world.people.all { #expect(page.complaints.filter { !Self.isKnock($0) } == []) }
            await world.end()
        } catch {
            await world.end()
            throw error
        }
    }

    /// Whether the browser complains of having been refused a room: the page knows the server's clock to half a second (an
    /// answer's `Date` has whole ones), so a click may come a moment before the room opens. It is let in a moment later. And
    /// whoever is alone asks first whether there is a room.
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
        let page = try await open("", settings, beside: other, after: script, mayComplain: mayComplain)
        try await page.waitUntilLive()
        return page
    }

    /// The same for any page below the daemon's address, without waiting for it.
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

    /// Who is there without a browser: registers a task.
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

    /// Takes a task back though somebody counts on it.
    func leave(_ device: String, _ task: TestJSON) async throws {
        let id = task["id"].string ?? ""
        let response = try await HTTPTestClient.request(
            at: endpoint, "DELETE", "/task/\(id)?deviceId=\(device)&leave=true")
        guard response.status == 200 else { throw ClientFailure.violation("\(response.status) \(response.text)") }
    }

    // MARK: Time

    /// Something had to be done by a moment, and wasn't.
    struct Late: Error {
        let moment: Date
    }

    /// Steps that mean something only before a moment: how they end after it is nobody's fault. What they wait for in a page they wait for
    /// no longer: it may never come.
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
