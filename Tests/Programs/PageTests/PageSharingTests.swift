import TestSupport
import Testing

/// The stream that the tabs of a browser share.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageSharingTests {
    @Test("The tabs of a browser share one stream")
    func tabs() async throws {
        try await PageWorld.run { world in
            let first = try await world.visit(.init(device: "ada"))
            let second = try await world.visit(beside: first)
            try await world.register("ada", "History", at: PageWorld.hour(16))
            for page in [first, second] { try await page.waitForState("own", at: "16:00") }
            #expect(first.streams == 1 && second.streams == 0)
            try await first.closeTab()
            _ = try await second.events.next("a stream of its own") {
                $0.method == "Network.responseReceived" && $0.isStream
            }
            try await world.register("ada", "Art", at: PageWorld.hour(17))
            try await second.waitForState("own", at: "17:00")
        }
    }

    @Test(
        "Where the browser stores nothing for the site, each tab has its own stream",
        arguments: [
            "LockManager.prototype.request = async () => { throw new DOMException('no', 'SecurityError') }",
            "BroadcastChannel = class { constructor() { throw new DOMException('no', 'SecurityError') } }",
        ])
    func alone(_ refusal: String) async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"), after: refusal)
            try await world.register("ada", "History", at: PageWorld.hour(16))
            try await page.waitForState("own", at: "16:00")
        }
    }

    /// Simulates two tabs in a document without the real page. `seen` records the events of each tab's stream and
    /// listener.
    ///
    /// Time advances only in `pass`, after which every tab checks whether the stream is frozen. A busy machine
    /// therefore can't look like a frozen stream.
    private static let twoTabs = """
        let now = Date.now()
        const looks = []
        Date.now = () => now
        window.setInterval = look => looks.push(look)
        const pass = time => {
            now += time
            for (const look of looks) look()
        }
        const { shareStream } = await import('/page/share.js')
        const seen = [], streams = {}
        const open = name => shareStream(handlers => streams[name] = {
            handlers,
            run: () => new Promise(done => {
                seen.push(name + ' runs')
                streams[name].stop = () => { seen.push(name + ' stops'); done() }
            }),
        }, {
            live: () => seen.push(name + ' is live'), lost: () => seen.push(name + ' is lost'),
            beat: () => seen.push(name + ' receives a beat'), event: what => seen.push(name + ' receives ' + what),
        }, 400)
        const count = what => seen.filter(one => one === what).length
        const until = async is => { while (!is()) await new Promise(done => setTimeout(done, 5)) }
        open('A')
        await until(() => streams.A?.stop)
        streams.A.handlers.live()
        open('B')
        await until(() => count('B is live'))
        """

    private static func run(_ script: String) async throws -> TestJSON {
        var value: TestJSON = .absent
        try await PageWorld.run { world in
            let page = try await BrowserPage.open()
            try await page.navigate(to: world.address + "healthz")
            try await page.wait(until: "location.pathname === '/healthz' && document.readyState === 'complete'")
            value = try await page.evaluate("(async () => { \(Self.twoTabs); \(script); return seen })()")
            try await page.close()
        }
        return value
    }

    @Test("A frozen tab loses the stream to another tab")
    func sleeping() async throws {
        let seen = try await Self.run(
            """
            pass(399)
            pass(1)
            await until(() => count('B runs') && count('A stops'))
            streams.B.handlers.event('this')
            await until(() => count('A receives this'))
            pass(400)
            await until(() => count('A runs') === 2 && count('B stops'))
            streams.A.handlers.event('that')
            await until(() => count('B receives that'))
            """)
        #expect(
            (seen.array ?? []).compactMap(\.string).sorted() == [
                "A is live", "A receives that", "A receives this", "A runs", "A runs", "A stops", "B is live",
                "B receives that", "B receives this", "B runs", "B stops",
            ])
    }

    @Test("A tab whose stream is alive keeps it")
    func beating() async throws {
        let seen = try await Self.run(
            """
            for (let beat = 1; beat <= 20; beat++) {
                pass(399)
                streams.A.handlers.beat()
                await until(() => count('B receives a beat') === beat)
            }
            seen.push('silence')
            pass(400)
            await until(() => count('B runs'))
            """)
        let entries = (seen.array ?? []).compactMap(\.string).filter { !$0.hasSuffix("receives a beat") }
        #expect(entries.prefix(4) == ["A runs", "A is live", "B is live", "silence"])
    }
}

extension DevTools.Event {
    fileprivate var isStream: Bool {
        (parameters["request"]["url"].string ?? parameters["response"]["url"].string)?.contains("/reminders?") == true
    }
}

extension BrowserPage {
    /// The number of event streams that the page has requested.
    fileprivate var streams: Int {
        events.all.count { $0.method == "Network.requestWillBeSent" && $0.isStream }
    }
}
