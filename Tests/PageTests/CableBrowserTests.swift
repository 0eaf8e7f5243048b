import Foundation
import Glibc
import TestSupport
import Testing

/// Rails' own client of Action Cable, its JavaScript unmodified, in a browser.
@Suite(.enabled(if: Chromium.isInstalled && RailsScript.isInstalled, "Chromium or Rails' actioncable is missing"))
struct CableBrowserTests {
    private static let program = """
        globalThis.heard = []
        globalThis.consumer = ActionCable.createConsumer("/cable?deviceId=ada")
        globalThis.subscribe = (name, parameters) => consumer.subscriptions.create(parameters, {
            connected() { heard.push(name + " connected") },
            disconnected(how) { heard.push(name + " disconnected " + how.willAttemptReconnect) },
            rejected() { heard.push(name + " rejected") },
            received(message) { heard.push(name + " " + message.type) }
        })
        0
        """

    private func wait(for words: String, times: Int = 1, on page: BrowserPage) async throws {
        try await page.wait(
            until: "heard.filter(words => words === '\(words)').length >= \(times)",
            within: Deadline.standard + .seconds(30))
    }

    @Test("A9: connects, is rejected, performs, hears, is cut off, comes again by itself, and leaves")
    func journey() async throws {
        try await PageWorld.run(["--open-rooms"]) { world in
            // It may complain of the server that goes away.
            let page = try await world.open("healthz", .init(), mayComplain: true)
            try await page.wait(until: "document.readyState === 'complete' && location.protocol === 'http:'")
            try await page.evaluate(try String(contentsOfFile: RailsScript.path, encoding: .utf8) + "\n;0")
            try await page.evaluate(Self.program)
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

            try await world.stopDaemon(SIGTERM)
            try await wait(for: "room disconnected true", on: page)
            try await world.startDaemon()
            // It waits for some seconds, and longer the more often it has tried.
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
}

private enum RailsScript {
    static let path = "/usr/share/nodejs/@rails/actioncable/app/assets/javascripts/action_cable.js"
    static let isInstalled = FileManager.default.fileExists(atPath: path)
}
