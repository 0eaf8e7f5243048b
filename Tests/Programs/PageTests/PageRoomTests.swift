import Foundation
import TestSupport
import Testing

/// From the promise to the cheer.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageRoomTests {
    @Test("Two users register, meet and cheer until the room closes")
    func journey() async throws {
        try await PageWorld.run(["--reminder-lead", "600s", "--room-duration", "1200s"]) { world in
            let ada = try await world.visit(.init(device: "ada"))
            let bob = try await world.visit(
                .init(width: 390, height: 800, isPhone: true, isDark: true, reducesMotion: false, device: "bob"))
            // The hours are far. Somebody with curl opens a slot that is near, and leaves it to the two.
            let start = PageWorld.second(in: 1200)
            try await world.register("curl", "Nothing", at: start)
            try await ada.click("[data-state=somebody] button")
            try await world.cancel("curl", at: start)
            try await ada.type("History")
            try await ada.press(.enter)
            try await ada.wait(until: "document.querySelector('[data-state=own]')")
            try await bob.click("[data-state=somebody] button")
            try await bob.type("Maths")
            try await bob.press(.enter)
            for page in [ada, bob] {
                try await page.wait(until: "document.querySelector('[data-state=partner]')")
            }

            try await world.advance(to: start - 590)
            for page in [ada, bob] {
                try await page.wait(until: "!document.querySelector('#reminder').hidden")
                try await page.click("#reminder-enter")
                try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            }
            #expect(try await ada.text(of: "#own-title") == "History")
            #expect(try await ada.text(of: "#partner-title") == "Maths")
            #expect(try await bob.text(of: "#partner-title") == "History")

            try await bob.evaluate(
                """
                window.flown = 0
                new MutationObserver(() => { flown = Math.max(flown, document.querySelectorAll('.flying.in').length) })
                    .observe(document.body, { childList: true, subtree: true, attributes: true })
                """)
            try await ada.click("#ale")
            try await ada.click("#ale")
            try await bob.wait(until: "document.querySelector('#received-count').innerText === '2'")
            #expect(try await bob.evaluate("flown > 0") == true)
            #expect(try await bob.text(of: "#received") == "2 cheers for you!")
            #expect(try await ada.text(of: "#sent") == "You have sent 2 cheers.")
            #expect(try await ada.text(of: "#received-count") == "0")
            try await bob.click("#ale")
            try await ada.wait(until: "document.querySelector('#received-count').innerText === '1'")

            // Neither early nor late, by the half second to which a page knows the server's clock.
            for (moment, phase) in [(start - 0.6, "last"), (start + 0.6, "start")] {
                try await world.advance(to: moment, stopped: true)
                for page in [ada, bob] {
                    try await page.wait(until: "document.querySelector('#disc').dataset.phase === '\(phase)'")
                }
            }
            for page in [ada, bob] { #expect(try await page.text(of: "#count") == "Start!") }
            try await world.advance(to: start + 1200)
            // Close code 1000: nobody comes back.
            for page in [ada, bob] {
                try await page.wait(
                    until: "document.querySelector('#link').innerText === 'The room is closed. Well done.'")
                let sockets = page.events.all.count { $0.method == "Network.webSocketCreated" }
                #expect(sockets == 1)
            }
            try await ada.click("#leave")
            try await ada.wait(until: "document.body.dataset.view === 'day'")
        }
    }

    @Test("Without a partner the countdown is the same")
    func alone() async throws {
        try await PageWorld.run(["--reminder-lead", "600s"]) { world in
            let page = try await world.visit(.init(device: "ada"))
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            try await world.advance(to: start - 590)
            try await page.wait(until: "!document.querySelector('#next-enter').hidden")
            try await page.click("#next-enter")
            try await page.wait(until: "document.querySelector('#disc').dataset.phase === 'wait'")
            try await world.advance(to: start - 4, stopped: true)
            try await page.wait(until: "document.querySelector('#disc').dataset.phase === 'last'")
            try await page.wait(
                until: "document.querySelector('#link').innerText === 'You have no partner this time. Start anyway.'")
            #expect(try await page.evaluate("getComputedStyle(document.querySelector('.ales')).display") == "none")
            try await world.advance(to: start + 1, stopped: true)
            try await page.wait(until: "document.querySelector('#count').innerText === 'Start!'")
            #expect(try await page.evaluate("document.querySelector('#spoken').textContent") == "Start!")
            #expect(page.events.all.allSatisfy { $0.method != "Network.webSocketCreated" })
            // Long after, it is still true.
            try await world.advance(to: start + 125, stopped: true)
            try await page.wait(until: "document.querySelector('#count').innerText === '2 min'")
            #expect(try await page.text(of: "#link") == "You have no partner this time. Start anyway.")
            #expect(try await page.text(of: "#partner-title") == "Nobody")
        }
    }

    @Test("A reminder is removed when the task begins")
    func reminder() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"))
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            try await world.advance(to: start - 59, stopped: true)
            try await page.wait(until: "!document.querySelector('#reminder').hidden")
            #expect(try await page.text(of: "#reminder").contains("History at"))
            try await world.advance(to: start + 1, stopped: true)
            try await page.wait(until: "document.querySelector('#reminder').hidden")
        }
    }

    @Test("A notification's link finds its room, or says that there is none")
    func wayIn() async throws {
        try await PageWorld.run { world in
            try await world.register("ada", "History", at: PageWorld.hour(16))
            let page = try await world.visit(
                .init(device: "ada"), after: "AbortSignal.timeout = () => new AbortController().signal")
            // The last schedule knows it. The next one never comes, and no request is given up.
            try await page.hold("*/schedule?*")
            try await page.follow(PageWorld.hour(16))
            try await page.call("Page.reload")
            try await page.wait(until: "document.body.dataset.view === 'room'")
            try await page.release()
            try await page.click("#leave")
            try await page.waitUntilLive()

            // The task was registered elsewhere, so only the server knows it.
            try await page.hold("*/schedule?*")
            try await world.register("ada", "Art", at: PageWorld.hour(17))
            try await page.follow(PageWorld.hour(17))
            try await page.release()
            try await page.wait(until: "document.querySelector('#room-title').textContent === 'Art at 17:00'")
            #expect(try await page.evaluate("document.body.dataset.view") == "room")
            try await page.click("#leave")

            // The user leaves before the server answers.
            try await page.hold("*/schedule?*")
            try await world.register("ada", "Music", at: PageWorld.hour(18))
            try await page.follow(PageWorld.hour(18))
            try await page.evaluate("location.hash = ''")
            try await page.release()
            try await page.waitForState("own", at: "18:00")
            #expect(try await page.evaluate("document.body.dataset.view") == "day")

            // If there is no task, the page says so where the user sees it.
            try await page.follow(PageWorld.hour(19))
            try await page.wait(
                until: "document.querySelector('#note').innerText === 'You have no task at 19:00.'")
            #expect(try await page.evaluate("document.body.dataset.view + location.hash") == "day")
        }
    }

    @Test("A lost room is entered again by itself", arguments: [SIGKILL, SIGTERM])
    func reconnecting(_ signal: Int32) async throws {
        try await PageWorld.run(["--reminder-lead", "600s"]) { world in
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            try await world.register("bob", "Maths", at: start)
            let page = try await world.visit(.init(device: "ada"), mayComplain: true)
            try await world.advance(to: start - 590)
            try await page.wait(until: "!document.querySelector('#next-enter').hidden")
            try await page.click("#next-enter")
            try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            try await world.stopDaemon(signal)
            try await page.wait(until: "document.querySelector('#link').dataset.state === 'lost'")
            try await page.click("#ale")
            #expect(try await page.text(of: "#sent").contains("can’t be reached"))
            try await page.wait(until: "document.querySelector('#banner').innerText.includes('can’t be reached')")
            try await world.startDaemon()
            try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            try await page.click("#ale")
            try await page.wait(until: "document.querySelector('#sent').innerText === 'Your cheer is sent.'")
            try await page.wait(until: "document.querySelector('#banner').innerText === ''")
        }
    }
}

extension BrowserPage {
    /// Goes to the room of the task at that time, like the page after a click on a notification.
    fileprivate func follow(_ start: Date) async throws {
        try await evaluate("location.hash = '#room/\(PageWorld.text(start))'")
    }
}
