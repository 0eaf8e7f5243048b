import Foundation
import Glibc
import TestSupport
import Testing

/// Rails' own client of Action Cable in a browser, with its JavaScript unmodified.
@Suite(.enabled(if: Chromium.isInstalled && RailsScript.isInstalled, "Chromium or Rails' actioncable is missing"))
struct CableBrowserTests {
    private static let program = """
        globalThis.events = []
        globalThis.subscriptions = {}
        globalThis.subscribe = (name, parameters) => subscriptions[name] = consumer.subscriptions.create(parameters, {
            connected() { events.push(name + " connected") },
            disconnected(how) { events.push(name + " disconnected " + how.willAttemptReconnect) },
            rejected() { events.push(name + " rejected") },
            received(message) { events.push(name + " " + message.type) }
        })
        0
        """

    private func wait(for words: String, times: Int = 1, on page: BrowserPage) async throws {
        try await page.wait(
            until: "events.filter(words => words === '\(words)').length >= \(times)",
            within: Deadline.standard + .seconds(30))
    }

    /// Opens a page of the daemon that has a client.
    ///
    /// - Parameter query: The query of the address `/cable`.
    private func open(_ query: String, in world: PageWorld) async throws -> BrowserPage {
        // The browser may report errors when the daemon stops.
        let page = try await world.open("healthz", .init(), mayComplain: true)
        try await page.wait(until: "document.readyState === 'complete' && location.protocol === 'http:'")
        try await page.evaluate(try String(contentsOfFile: RailsScript.path, encoding: .utf8) + "\n;0")
        try await page.evaluate("globalThis.consumer = ActionCable.createConsumer('/cable\(query)'); 0")
        try await page.evaluate(Self.program)
        return page
    }

    @Test(
        "A browser uses a channel and reconnects by itself",
        arguments: [SIGTERM, SIGKILL])
    func journey(signal: Int32) async throws {
        try await PageWorld.run(["--open-rooms"]) { world in
            let page = try await open("?deviceId=ada", in: world)
            let room = UUID().uuidString
            try await page.evaluate("globalThis.room = subscribe('room', {channel: 'RoomChannel', id: '\(room)'}); 0")
            try await wait(for: "room connected", on: page)
            try await page.evaluate("subscribe('nowhere', {channel: 'RoomChannel'}); 0")
            try await wait(for: "nowhere rejected", on: page)

            let peer = try await WebSocketTestClient.connect(to: world.endpoint, "/socket?id=\(room)")
            #expect(try await peer.nextMessage().json()["type"] == "handshake")
            try await page.evaluate("room.perform('ale')")
            #expect(try await peer.nextMessage().json()["type"] == "aleResponse")
            try await peer.send(json: ["type": "ale", "id": .string(room)])
            try await wait(for: "room aleResponse", on: page)

            try await world.stopDaemon(signal)
            try await wait(for: "room disconnected true", on: page)
            try await world.startDaemon()
            // The client waits for some seconds before it reconnects, and longer after each failure.
            try await wait(for: "room connected", times: 2, on: page)
            let again = try await WebSocketTestClient.connect(to: world.endpoint, "/socket?id=\(room)")
            #expect(try await again.nextMessage().json()["type"] == "handshake")
            try await page.evaluate("room.unsubscribe(); 0")
            try await eventually("it has left") {
                try await HTTPTestClient.request(at: world.endpoint, "GET", "/metrics").text
                    .contains("\nletsswitch_room_members 1\n")
            }
        }
    }

    @Test("A refused browser doesn't reconnect")
    func unauthorized() async throws {
        let flags = ["--require-tickets", "--ticket-secret", String(repeating: "s", count: 40)]
        try await PageWorld.run(flags) { world in
            let page = try await open("?token=ada", in: world)
            try await page.evaluate("subscribe('reminders', {channel: 'RemindersChannel'}); 0")
            try await wait(for: "reminders disconnected false", on: page)
            // After this time the client would have tried again.
            try await page.evaluate(
                """
                const monitor = consumer.connection.monitor
                setTimeout(() => { globalThis.isRested = true },
                    1000 * monitor.constructor.staleThreshold + 2 * monitor.getPollInterval())
                """)
            try await page.wait(until: "globalThis.isRested", within: Deadline.standard + .seconds(30))
            #expect(try await page.evaluate("events.length") == 1)
            let metrics = try await HTTPTestClient.request(at: world.endpoint, "GET", "/metrics").text
            #expect(metrics.contains("\nletsswitch_cable_disconnects_total{reason=\"unauthorized\"} 1\n"))
        }
    }

    @Test("A browser receives and sends on each channel of a device, a session and a conversation")
    func channels() async throws {
        try await PageWorld.run(["--reminder-lead", "30s"]) { world in
            func post(_ target: String, _ json: TestJSON) async throws -> String {
                let made = try await HTTPTestClient.request(at: world.endpoint, "POST", target, json: json)
                guard made.status == 201 else { throw ClientFailure.violation("\(made.status) \(made.text)") }
                return try made.json()["id"].string ?? ""
            }
            for name in ["ada", "bob"] as [TestJSON] { _ = try await post("/users", ["deviceId": name, "name": name]) }
            let pair = try await post("/conversations", ["deviceId": "ada", "participants": ["bob"]])
            let session = try await post("/questions/sessions", ["deviceId": "bob", "title": "Tea"])
            let page = try await open("?deviceId=ada", in: world)
            for (name, parameters) in [
                ("reminders", "channel: 'RemindersChannel'"), ("notifications", "channel: 'NotificationsChannel'"),
                ("pair", "channel: 'ConversationChannel', id: '\(pair)'"),
                ("questions", "channel: 'QuestionsChannel', session: '\(session)'"),
            ] {
                try await page.evaluate("subscribe('\(name)', {\(parameters)}); 0")
                try await wait(for: "\(name) connected", on: page)
            }
            try await wait(for: "questions session", on: page)
            try await page.evaluate("subscriptions.questions.perform('ask', {content: 'Why?'}); 0")
            for type in ["questionResponse", "question"] { try await wait(for: "questions \(type)", on: page) }
            try await page.evaluate("subscriptions.pair.perform('speak', {content: 'Tea?'}); 0")
            try await wait(for: "pair message", on: page)
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "Maths", at: start)
            try await wait(for: "notifications schedule", on: page)
            try await world.advance(to: start - 29)
            for name in ["reminders", "notifications"] { try await wait(for: "\(name) reminder", on: page) }
            #expect(try await page.evaluate("events.some(words => / (rejected|error)/.test(words))") == false)
        }
    }
}

private enum RailsScript {
    static let path = "/usr/share/nodejs/@rails/actioncable/app/assets/javascripts/action_cable.js"
    static let isInstalled = FileManager.default.fileExists(atPath: path)
}
