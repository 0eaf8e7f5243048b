import Foundation
import TestSupport
import Testing

/// Partners who continue in a conversation, from the day or from the room.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PagePartnerTests {
    @Test("A request for a conversation appears on the partner's page at once")
    func talk() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob")
            for (device, title) in [("ada", "History"), ("bob", "Dishes")] {
                try await world.register(device, title, at: PageWorld.hour(16))
            }
            let ada = try await world.visit(.init(width: 320, device: "ada"))
            let bob = try await world.visit(.init(device: "bob"))
            try await ada.tab(to: "element.closest('#next-talk') && element.textContent === 'Ask for a conversation'")
            try await ada.press(.enter)
            try await ada.wait(until: "document.querySelector('#next-talk').innerText.includes('You have asked')")
            try await bob.wait(
                until: "document.querySelector('#next-talk').innerText.includes('Your partner has asked')")

            try await bob.evaluate("location.hash = '#room/\(PageWorld.text(PageWorld.hour(16)))'")
            try await bob.wait(until: "document.querySelector('#room-talk button').offsetParent")
            try await bob.click("#room-talk button")
            for (page, place) in [(ada, "#next-talk"), (bob, "#room-talk")] {
                try await page.wait(
                    until: "document.querySelector('\(place) a').innerText === 'Go to your conversation'")
            }
            #expect(try await ada.evaluate("document.documentElement.scrollWidth <= 320") == true)
            let path = try #require(try await ada.evaluate("document.querySelector('#next-talk a').hash").string)
            let talk = try await world.converse("ada", in: String(path.dropFirst()))
            try await talk.wait(until: "document.querySelector('#title').textContent === 'bob'")
        }
    }

    @Test("A user without a name is asked to choose one")
    func nameless() async throws {
        try await PageWorld.run { world in
            try await world.register("ada", "History", at: PageWorld.hour(16))
            let page = try await world.visit(.init(device: "ada"), mayComplain: true)
            #expect(try await page.evaluate("document.querySelector('#next-talk').innerText") == "")
            try await world.register("bob", "Dishes", at: PageWorld.hour(16))
            try await page.click("#next-talk button")
            try await page.wait(until: "document.querySelector('#next-talk').innerText.includes('You need a name')")
            #expect(try await page.evaluate("document.querySelector('#next-talk a').pathname") == "/conversations")
        }
    }
}
