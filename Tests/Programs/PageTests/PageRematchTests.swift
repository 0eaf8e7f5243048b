import Foundation
import TestSupport
import Testing

/// Partners who don't come, who close the laptop, and who come late.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageRematchTests {
    /// JavaScript: whether an element has exactly this text.
    private static func says(_ selector: String, _ text: String) -> String {
        "document.querySelector('\(selector)').textContent === '\(text)'"
    }

    private static let letDown = "Your partner isn’t coming. Somebody else may still join you."

    /// Ten minutes between the reminder and the start. Whoever isn't there five minutes after the start doesn't come.
    private static let flags = ["--reminder-lead", "600s", "--no-show-after", "300s", "--late-join", "1800s"]

    /// Waits until the daemon has written that these people are in their rooms.
    private func waitForPresence(of count: Int, in world: PageWorld) async throws {
        try await world.wait(
            untilDatabase: "(SELECT count(*) FROM core.attendance WHERE present > 0) = \(count)")
    }

    private func enter(_ page: BrowserPage) async throws {
        try await page.wait(until: "!document.querySelector('#next-enter').hidden")
        try await page.click("#next-enter")
        try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
    }

    @Test("Two users who are alone in their rooms are matched again")
    func rematched() async throws {
        try await PageWorld.run(Self.flags + ["--presence-grace", "1s"]) { world in
            let start = PageWorld.second(in: 1200)
            for (device, title) in [("ada", "History"), ("bob", "Maths"), ("cem", "Latin"), ("dan", "Art")] {
                try await world.register(device, title, at: start)
            }
            let ada = try await world.visit(.init(width: 320, height: 640, isPhone: true, device: "ada"))
            let bob = try await world.visit(.init(device: "bob"), mayComplain: true)
            let cem = try await world.visit(.init(isDark: true, device: "cem"))
            // Her page knows the slot, and doesn't learn that it has closed.
            let eve = try await world.visit(.init(device: "eve"), mayComplain: true)
            try await world.register("curl", "Nothing", at: start)
            try await eve.wait(until: "document.querySelector('[data-state=somebody]')")
            let key = try await eve.evaluate("document.querySelector('[data-state=somebody]').dataset.key").string
            let slot = BrowserPage.row(try #require(key))
            try await eve.hold("*/schedule?*")
            try await world.cancel("curl", at: start)

            try await world.advance(to: start - 590)
            for page in [ada, bob] { try await enter(page) }
            try await ada.wait(until: Self.says("#presence", "Is here"))
            try await bob.emulate(offline: true)
            try await ada.wait(until: Self.says("#presence", "Has left"))
            try await enter(cem)
            try await cem.wait(until: Self.says("#presence", "Hasn’t come yet"))
            try await waitForPresence(of: 2, in: world)
            try await world.advance(to: start + 301)
            let words = "Your partner didn’t come. Your new partner will start"
            try await ada.wait(until: Self.says("#news", "\(words) Latin."))
            try await cem.wait(until: Self.says("#news", "\(words) History."))
            for page in [ada, cem] { try await page.wait(until: Self.says("#presence", "Is here")) }
            #expect(try await ada.text(of: "#partner-title") == "Latin")
            #expect(try await ada.evaluate("document.querySelector('#news').getAttribute('role')") == "status")
            for page in [ada, cem] { #expect(try await page.faults() == []) }
            try await cem.tab(to: "element.dataset.kind === 'heart'")
            try await cem.press(.enter)
            try await ada.wait(until: Self.says("#received", "A heart for you!"))

            // The laptop is online again.
            try await bob.emulate(offline: false)
            try await bob.wait(until: Self.says("#news", Self.letDown))
            try await bob.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            // Just after a full hour the slot of that hour is open to late users, too, but without a waiting user. The
            // test therefore names the slot.
            try await eve.wait(until: "document.querySelector('\(slot)').dataset.state === 'late'")
            try await eve.tab(to: "element.closest('\(slot)')")
            try await eve.press(.enter)
            try await eve.type("Music")
            try await eve.release()
            // The server stores a moment after Bob's entry that he waits. Until then it refuses Eve's request, and the
            // test repeats it.
            let deadline = ContinuousClock.now + Deadline.standard
            while try await eve.evaluate("document.querySelector('#promise').open") == true {
                try #require(ContinuousClock.now < deadline)
                try await eve.evaluate("document.querySelector('#title-error').textContent = ''")
                try await eve.press(.enter)
                try await eve.wait(
                    until: """
                        !document.querySelector('#promise').open
                            || document.querySelector('#title-error').innerText.startsWith('Nobody waits at')
                        """)
            }
            try await bob.wait(until: Self.says("#news", "Somebody has joined you: they will start Music."))
            try await eve.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            #expect(try await eve.text(of: "#partner-title") == "Maths")
            for page in [bob, eve] { try await page.wait(until: Self.says("#presence", "Is here")) }
        }
    }

    @Test("A user whose partner was matched again gets the new room on return")
    func absent() async throws {
        try await PageWorld.run(Self.flags + ["--presence-grace", "0s"]) { world in
            let start = PageWorld.second(in: 1200)
            for (device, title) in [("ada", "History"), ("bob", "Maths"), ("cem", "Latin"), ("dan", "Art")] {
                try await world.register(device, title, at: start)
            }
            let ada = try await world.visit(.init(device: "ada"))
            let cem = try await world.visit(.init(device: "cem"))
            let bob = try await world.visit(.init(device: "bob"))
            try await world.advance(to: start - 590)
            for page in [ada, cem] { try await enter(page) }
            try await waitForPresence(of: 2, in: world)
            try await world.advance(to: start + 301)
            try await bob.wait(until: "document.querySelector('#note').innerText.startsWith('You weren’t in the room')")
            try await bob.click("#next-enter")
            try await bob.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            #expect(try await bob.text(of: "#partner-title") == "Nobody yet")
        }
    }

    @Test("A user leaves from the room after a confirmation")
    func leaving() async throws {
        try await PageWorld.run(Self.flags) { world in
            let start = PageWorld.second(in: 1200)
            for (device, title) in [("ada", "History"), ("bob", "Maths")] {
                try await world.register(device, title, at: start)
            }
            let ada = try await world.visit(.init(device: "ada"))
            let bob = try await world.visit(.init(device: "bob"))
            try await world.advance(to: start - 590)
            for page in [ada, bob] { try await enter(page) }
            try await ada.tab(to: "element.id === 'give-up'")
            try await ada.press(.enter)
            #expect(try await ada.text(of: "#give-up") == "Really cancel? Your partner is notified")
            try await ada.press(.enter)
            try await ada.wait(until: "document.body.dataset.view === 'day'")
            try await bob.wait(until: Self.says("#news", Self.letDown))
            try await bob.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            #expect(try await bob.evaluate("document.querySelector('#give-up').hidden") == true)
        }
    }

    @Test("A user without a partner asks from the room for another partner")
    func seeking() async throws {
        // Nobody counts as absent in this test.
        try await PageWorld.run(Self.flags + ["--no-show-after", "1500s"]) { world in
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            let task = try await world.register("bob", "Maths", at: start)
            try await world.register("cem", "Latin", at: start)
            let ada = try await world.visit(.init(device: "ada"))
            let cem = try await world.visit(
                .init(width: 320, height: 640, isPhone: true, device: "cem"), mayComplain: true)
            try await world.advance(to: start - 590)
            try await enter(ada)
            try await cem.wait(until: "!document.querySelector('#next-enter').hidden")
            try await cem.click("#next-enter")
            try await cem.wait(until: "document.querySelector('#link').dataset.state === 'none'")
            #expect(try await cem.evaluate("document.querySelector('#seek').hidden") == true)
            try await world.advance(to: start)
            try await cem.wait(until: "!document.querySelector('#seek').hidden")
            #expect(try await ada.evaluate("document.querySelector('#seek').hidden") == true)
            try await cem.tab(to: "element.id === 'seek'")
            try await cem.press(.enter)
            try await cem.wait(until: Self.says("#news", "Nobody is waiting now."))
            #expect(try await cem.faults() == [])

            try await world.leave("bob", task)
            try await ada.wait(until: Self.says("#news", Self.letDown))
            try await ada.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            #expect(try await ada.evaluate("document.querySelector('#seek').hidden") == true)
            #expect(try await cem.text(of: "#news") == "Nobody is waiting now.")
            try await cem.press(.enter)
            try await cem.wait(until: Self.says("#news", "Somebody has joined you: they will start History."))
            try await ada.wait(until: Self.says("#news", "Somebody has joined you: they will start Latin."))
            for page in [ada, cem] { try await page.wait(until: Self.says("#presence", "Is here")) }
            // The button is hidden, and the focus moves to the title.
            try await cem.wait(until: "document.querySelector('#seek').hidden")
            #expect(try await cem.evaluate("document.activeElement.id") == "room-title")
            let refused = cem.consoleErrors.filter { !PageWorld.isExpectedRefusal($0) }
            #expect(refused.count == 1 && refused[0].contains(" 409") && refused[0].hasSuffix("/task"))
        }
    }
}
