import Foundation
import InterfaceTestSupport
import TestSupport
import Testing

/// The messages that pages receive are checked at the end of each ``PageWorld``.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageValidationTests {
    @Test("Messages that a page receives by WebSocket and event stream are validated")
    func validating() async throws {
        try await PageWorld.run(["--open-rooms"]) { world in
            let page = try await world.visit()
            try await page.evaluate(
                """
                new Promise(done => {
                    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/socket?id=\(UUID())`)
                    socket.onmessage = () => done(0)
                })
                """)
            try await world.register("bob", "Maths", at: PageWorld.hour(15))
            try await eventually("a message by each of both") {
                let received = EventRecorder<String>()
                try page.validateReceivedMessages { target in
                    { event, _ in received.append("\(target.prefix { $0 != "?" }) \(event ?? "")") }
                }
                return Set(received.all).isSuperset(of: ["/socket ", "/reminders schedule"])
            }
            // None of these messages is valid on another route.
            let violations = EventRecorder<String>()
            let count = try page.validateReceivedMessages { _ in
                InterfaceValidation.validator("/conversations/socket") { violations.append($0) }
            }
            #expect(violations.all.count == count)
        }
    }
}
