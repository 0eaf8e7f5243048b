import DoorTestSupport
import Foundation
import TestSupport
import Testing

/// The messages that pages receive are checked at the end of each ``PageWorld``.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageHearingTests {
    @Test("Messages that a page receives by WebSocket and event stream are validated")
    func judged() async throws {
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
            try await eventually("a page hears by both") {
                let heard = EventRecorder<String>()
                try page.judgeWhatIsHeard { target in
                    { event, _ in heard.append("\(target.prefix { $0 != "?" }) \(event ?? "")") }
                }
                return Set(heard.all).isSuperset(of: ["/socket ", "/reminders schedule"])
            }
            // None of these messages is valid on another route.
            let complaints = EventRecorder<String>()
            let count = try page.judgeWhatIsHeard { _ in
                ProductDoors.judge("/conversations/socket") { complaints.append($0) }
            }
            #expect(complaints.all.count == count)
        }
    }
}
