import Foundation
import TestSupport
import Testing

/// The day, as a user sees and changes it.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageDayTests {
    @Test("Each state of a slot is shown by text and by shape")
    func states() async throws {
        try await PageWorld.run { world in
            try await world.register("ada", "History", at: PageWorld.hour(18))
            try await world.register("ada", "Art", at: PageWorld.hour(19))
            try await world.register("bob", "Maths", at: PageWorld.hour(19))
            try await world.register("bob", "Maths", at: PageWorld.hour(17))
            let soon = PageWorld.second(in: 1200)
            try await world.register("ada", "Music", at: soon)
            let page = try await world.visit(.init(device: "ada"))

            let words = [
                "08:00": "Past", "16:00": "Free", "17:00": "Somebody waits for a partner", "18:00": "You have a task",
                "19:00": "You have a partner",
            ]
            for (time, text) in words {
                #expect(try await page.text(of: "\(BrowserPage.row(time)) .state") == text)
            }
            #expect(try await page.text(of: "\(BrowserPage.row("18:00")) .detail") == "History")
            #expect(
                try await page.text(of: "\(BrowserPage.row("19:00")) .detail") == "Art · your partner will start Maths")
            // A minute before the start, without an event of the server.
            try await world.advance(to: soon - 59, stopped: true)
            try await page.wait(
                until: "document.querySelector('[data-state=room] .state').innerText === 'Enter the waiting room'")
            #expect(try await page.text(of: "#next-title").hasPrefix("Music at"))

            // No two states look the same without colour: they differ in the outlines and fillings of the halves, or in
            // the background.
            let shapes = try await page.evaluate(
                """
                [...new Set([...document.querySelectorAll('.slot')].map(row => {
                    const style = getComputedStyle(row.querySelector('.glyph'))
                    const isThere = value => value !== '' && value !== 'transparent' ? 'x' : '-'
                    return row.dataset.state + ' ' + ['--lf', '--rf'].map(n => isThere(style.getPropertyValue(n))).join('')
                        + [...['--ld', '--rd', '--ly']].map(n => style.getPropertyValue(n)) + style.backgroundImage.slice(0, 20)
                }))]
                """)
            let seen = (shapes.array ?? []).compactMap(\.string).map { $0.split(separator: " ", maxSplits: 1) }
            // In the last minute of an hour the next slot is closed, and in the first minutes of an hour its slot can
            // be joined late.
            #expect(Set(seen.map(\.first)).subtracting(["closed", "late"]).count == 6)
            #expect(Set(seen.map(\.last)).count == Set(seen.map(\.first)).count)
        }
    }

    @Test("Within the lead, registration is closed")
    func closed() async throws {
        try await PageWorld.run(["--reminder-lead", "13h"]) { world in
            let page = try await world.visit()
            try await page.waitForState("past", at: "11:00")
            for time in ["14:00", "23:00"] {
                #expect(try await page.text(of: "\(BrowserPage.row(time)) .state") == "Registration closed")
                #expect(
                    try await page.evaluate("document.querySelector('\(BrowserPage.row(time)) button').disabled")
                        == true)
            }
        }
    }

    @Test("A task is registered, changed and cancelled, and other users see it")
    func promise() async throws {
        try await PageWorld.run { world in
            let ada = try await world.visit(.init(device: "ada"))
            let bob = try await world.visit(.init(width: 390, height: 800, device: "bob"))
            try await ada.click("\(BrowserPage.row("16:00")) button")
            #expect(try await ada.text(of: "#task-form").contains("I promise to start"))
            try await ada.click("#swear")
            #expect(try await ada.text(of: "#title-error") == "Write what you will start. One word is enough.")
            #expect(
                try await ada.evaluate("document.activeElement.id + document.activeElement.ariaInvalid") == "titletrue")
            try await ada.type("History")
            try await ada.press(.enter)
            try await ada.waitForState("own", at: "16:00")
            try await bob.waitForState("somebody", at: "16:00")
            try await ada.wait(until: "document.activeElement.closest('.slot').dataset.key === '16:00'")

            try await ada.click("\(BrowserPage.row("16:00")) button")
            try await ada.type("Art")
            try await ada.click("#swear")
            try await ada.wait(
                until: "document.querySelector('\(BrowserPage.row("16:00")) .detail').innerText === 'Art'")
            try await ada.click("\(BrowserPage.row("16:00")) button")
            try await ada.click("#take-back")
            try await ada.waitForState("free", at: "16:00")
            try await bob.waitForState("free", at: "16:00")

            // A matched task can't simply be taken back.
            try await world.register("cleo", "Maths", at: PageWorld.hour(20))
            try await ada.waitForState("somebody", at: "20:00")
            try await ada.click("\(BrowserPage.row("20:00")) button")
            try await ada.type("Latin")
            try await ada.press(.enter)
            try await ada.waitForState("partner", at: "20:00")
            try await ada.click("\(BrowserPage.row("20:00")) button")
            #expect(try await ada.text(of: "#task-form-note").hasPrefix("Your partner will start Maths and"))
            #expect(try await ada.evaluate("document.querySelector('#take-back').hidden") == true)
        }
    }

    @Test("A refusal is shown beside its field")
    func refusals() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(mayComplain: true)
            let reminders = try await EventStreamTestClient.connect(to: world.endpoint, "/reminders?deviceId=bob")
            let start = PageWorld.second(in: 1200)
            try await world.register("bob", "Maths", at: start)
            try await page.click("[data-state=somebody] button")
            // Registration closes while the dialog is open: at the reminder, by the server's clock.
            try await world.advance(to: start - 59)
            while try await reminders.nextEvent().event != "reminder" {}
            await reminders.close()
            try await page.type("History")
            try await page.press(.enter)
            try await page.wait(
                until: "document.querySelector('#title-error').innerText.startsWith('It is too late to promise')")
            try await page.press(.escape)
            try await page.wait(until: "!document.querySelector('#promise').open")
        }
    }

    @Test("Other days are one click away")
    func days() async throws {
        try await PageWorld.run { world in
            try await world.register("ada", "History", at: PageWorld.hour(9 + 24))
            let page = try await world.visit(.init(device: "ada"))
            try await page.click("#days li:nth-child(2) button")
            try await page.waitForState("own", at: "09:00")
            #expect(try await page.text(of: "#date") == "Tomorrow")
            #expect(try await page.evaluate("document.querySelectorAll('.slot').length") == 16)
            try await page.click("#days li:first-child button")
            try await page.waitForState("past", at: "09:00")
        }
    }

    @Test("The day is the server's, even if the browser's clock is a day ahead")
    func wrongClock() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(
                after: "Date.now = (now => () => now() + 86_400_000)(Date.now)")
            try await page.waitForState("past", at: "08:00")
            #expect(try await page.text(of: "#date") == "Today")
        }
    }

    @Test("After a change of time zone the hours are local")
    func flight() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(timeZone: "Europe/Prague", device: "ada"))
            #expect(try await page.text(of: "#zone") == "Europe/Prague")
            try await page.call("Emulation.setTimezoneOverride", ["timezoneId": "America/New_York"])
            try await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            try await page.wait(until: "document.querySelector('#zone').innerText === 'America/New York'")
            try await page.waitUntilLive()
        }
    }

    @Test("A task is for the day on which its dialog was opened")
    func promisedDay() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"))
            try await page.click("\(BrowserPage.row("16:00")) button")
            // The page shows another day, as it does at midnight or after a notification about another day's task.
            try await page.evaluate("document.querySelector('#days li:nth-child(2) button').click()")
            try await page.waitForState("free", at: "08:00")
            try await page.type("History")
            try await page.press(.enter)
            try await page.wait(
                until: "document.querySelector('#status').textContent === 'Promised: History at 16:00.'")
            try await page.waitForState("free", at: "16:00")
            try await page.click("#days li:first-child button")
            try await page.waitForState("own", at: "16:00")
        }
    }

    @Test("The result of a request isn't taken for that of the next one", arguments: [false, true])
    func lateOutcome(_ isRefused: Bool) async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"), mayComplain: isRefused)
            try await page.hold("*/task")
            try await page.click("\(BrowserPage.row("16:00")) button")
            try await page.type("History")
            try await page.press(.enter)
            let paused = try await page.events.next("a promise") { $0.method == "Fetch.requestPaused" }
            try await page.press(.escape)
            try await page.click("\(BrowserPage.row("17:00")) button")
            try await page.call(
                isRefused ? "Fetch.failRequest" : "Fetch.continueRequest",
                ["requestId": paused.parameters["requestId"], "errorReason": isRefused ? "Failed" : .absent])
            if isRefused {
                try await page.wait(until: "document.querySelector('#note').textContent.includes('be reached')")
            } else {
                try await page.wait(
                    until: "document.querySelector('#status').textContent === 'Promised: History at 16:00.'")
            }
            #expect(try await page.evaluate("document.querySelector('#promise').open") == true)
            #expect(try await page.text(of: "#task-form-time") == "17:00")
            #expect(try await page.text(of: "#title-error") == "")
            #expect(try await page.evaluate("document.querySelector('#promise').ariaBusy") == "false")
        }
    }
}
