import Foundation
import TestSupport
import Testing

/// A question session in real browsers, with two users in the audience and a presenter.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct QuestionPageTests {
    private static let isLive = "document.querySelector('#link').textContent === 'Live'"

    /// Makes a session. Returns its id and the presenter's path.
    private func makeSession(
        in world: PageWorld, isModerated: Bool
    ) async throws -> (id: String, presenter: String) {
        let response = try await HTTPTestClient.request(
            at: world.endpoint, "POST", "/questions/sessions",
            json: ["deviceId": "grace", "title": "Who’s <b>next</b>?", "moderated": .bool(isModerated)])
        try #require(response.status == 201, "\(response.text)")
        let json = try response.json()
        let (id, key) = (try #require(json["id"].string), try #require(json["presenterKey"].string))
        return (id, "questions/\(id)/presenter?key=\(key)")
    }

    private func visit(
        _ path: String, in world: PageWorld, _ settings: BrowserPage.Settings
    ) async throws -> BrowserPage {
        let page = try await world.open(path, settings)
        try await page.wait(until: Self.isLive)
        return page
    }

    private func row(_ text: String) -> String {
        "[...document.querySelectorAll('[data-question]')].find(row => row.innerText.includes('\(text)'))"
    }

    @Test("Two users and a presenter use a session by keyboard")
    func journey() async throws {
        try await PageWorld.run { world in
            let session = try await makeSession(in: world, isModerated: true)
            let ada = try await visit(
                "questions/\(session.id)", in: world, .init(width: 320, isDark: true, device: "ada"))
            let bob = try await visit("questions/\(session.id)", in: world, .init(width: 390, device: "bob"))
            let presenter = try await visit(session.presenter, in: world, .init())
            #expect(try await presenter.evaluate("location.search") == "")
            try await presenter.wait(until: "document.querySelector('#here').textContent === '3 here'")
            #expect(try await ada.text(of: "h1") == "Who’s <b>next</b>?")

            try await ada.tab(to: "element.id === 'content'")
            try await ada.type("What is <i>next</i>?")
            try await ada.press(.tab)
            try await ada.press(.enter)
            try await ada.wait(until: "document.querySelector('#ask-note').textContent.includes('approved')")
            try await presenter.wait(until: row("What is <i>next</i>?"))
            #expect(try await bob.evaluate("document.querySelectorAll('[data-question]').length") == 0)

            try await presenter.tab(to: "element.textContent === 'Approve'")
            try await presenter.press(.enter)
            try await bob.wait(until: row("What is <i>next</i>?"))
            try await ada.wait(until: "document.querySelector('.tags').textContent === 'Your question'")

            try await bob.tab(to: "element.matches('.vote')")
            try await bob.press(.enter)
            for page in [ada, bob, presenter] {
                try await page.wait(until: "document.querySelector('.vote b').textContent === '1'")
            }
            #expect(try await bob.evaluate("document.activeElement.ariaPressed") == "true")

            try await presenter.tab(to: "element.textContent === 'Answer'")
            try await presenter.press(.enter)
            try await presenter.type("Ale & tea.")
            for _ in 0..<2 { try await presenter.press(.tab) }
            try await presenter.press(.enter)
            for page in [ada, bob] {
                try await page.wait(until: "document.querySelector('.answer').textContent === 'Ale & tea.'")
            }
            try await ada.wait(until: "document.querySelector('#status').textContent === 'Your question was answered.'")

            try await presenter.tab(to: "element.id === 'words'")
            try await presenter.type("Coffee!")
            try await presenter.press(.tab)
            try await presenter.press(.enter)
            try await bob.wait(until: "document.querySelector('#announcement p').textContent === 'Coffee!'")
            #expect(try await ada.evaluate("document.documentElement.scrollWidth <= 320") == true)
        }
    }

    @Test("A vote counts once, even if the daemon was killed")
    func restart() async throws {
        try await PageWorld.run { world in
            let session = try await makeSession(in: world, isModerated: false)
            let page = try await world.open("questions/\(session.id)", .init(device: "ada"), mayComplain: true)
            try await page.wait(until: Self.isLive)
            try await page.click("#content")
            try await page.type("Kept?")
            try await page.click("#ask button")
            try await page.wait(until: row("Kept?"))
            try await page.click(".vote")
            try await page.wait(until: "document.querySelector('.vote b').textContent === '1'")
            try await world.stopDaemon()
            try await page.wait(until: "!(\(Self.isLive))")
            try await world.startDaemon()
            try await page.wait(until: Self.isLive)
            #expect(try await page.text(of: ".vote b") == "1")
            try await page.click(".vote")
            try await page.wait(until: "document.querySelector('.vote b').textContent === '0'")
        }
    }

    /// Asks a question on a page, and waits until it can be voted for.
    private func ask(_ text: String, on page: BrowserPage) async throws {
        try await page.click("#content")
        try await page.type(text)
        try await page.click("#ask button")
        try await page.wait(until: "\(row(text)).querySelector('.vote').matches(':enabled')")
    }

    @Test("A refused vote is undone on the page and can be given again")
    func refusedVote() async throws {
        try await PageWorld.run(["--max-stored-votes", "1"]) { world in
            let session = try await makeSession(in: world, isModerated: false)
            let ada = try await visit("questions/\(session.id)", in: world, .init(device: "ada"))
            let bob = try await visit("questions/\(session.id)", in: world, .init(device: "bob"))
            try await ask("Why?", on: ada)
            try await ada.click(".vote")
            try await bob.wait(until: "document.querySelector('.vote b').textContent === '1'")
            for _ in 0..<2 {
                try await bob.evaluate("document.querySelector('#ask-note').textContent = ''")
                try await bob.click(".vote")
                try await bob.wait(until: "document.querySelector('#ask-note').textContent !== ''")
                try await bob.wait(until: "document.querySelector('.vote').ariaPressed === 'false'")
            }
            #expect(try await bob.evaluate("localStorage.getItem('votes:\(session.id)')") == "[]")
            #expect(try await ada.evaluate("document.querySelector('.vote').ariaPressed") == "true")
        }
    }

    @Test("A vote that was lost with its connection is sent again")
    func lostVote() async throws {
        try await PageWorld.run { world in
            let session = try await makeSession(in: world, isModerated: false)
            let page = try await world.open(
                "questions/\(session.id)", .init(device: "ada"),
                after: """
                    {
                        const send = WebSocket.prototype.send
                        WebSocket.prototype.send = function (message) { if (!window.isCutOff) send.call(this, message) }
                    }
                    """)
            try await page.wait(until: Self.isLive)
            try await ask("Why?", on: page)
            for (count, isPressed) in [("1", true), ("0", false)] {
                try await page.evaluate("window.isCutOff = true")
                try await page.click(".vote")
                try await page.wait(until: "document.querySelector('.vote').ariaPressed === '\(isPressed)'")
                try await page.evaluate("window.isCutOff = false; dispatchEvent(new Event('offline'))")
                try await page.wait(until: "document.querySelector('.vote b').textContent === '\(count)'")
                try await page.wait(until: Self.isLive)
                #expect(
                    try await page.evaluate("document.querySelector('.vote').ariaPressed === '\(isPressed)'") == true)
            }
        }
    }

    @Test(
        "A closed session accepts no changes until it is opened again")
    func closing() async throws {
        try await PageWorld.run { world in
            let session = try await makeSession(in: world, isModerated: false)
            let ada = try await visit("questions/\(session.id)", in: world, .init(device: "ada"))
            let presenter = try await visit(session.presenter, in: world, .init())
            try await ada.click("#content")
            try await ada.type("Why?")
            try await ada.click("#ask button")
            try await presenter.wait(until: row("Why?"))
            try await presenter.click(".do .plain")
            try await ada.wait(until: "!(\(row("Why?")))")
            try await presenter.wait(until: "document.querySelector('.do button').textContent === 'Reopen'")
            try await presenter.click(".do button")
            try await ada.wait(until: row("Why?"))
            try await presenter.click("#toggle")
            try await ada.wait(until: "document.querySelector('#content').disabled")
            try await presenter.wait(until: "document.querySelector('#toggle').textContent === 'Reopen the session'")
            try await presenter.click("#toggle")
            try await ada.wait(until: "!document.querySelector('#content').disabled")
            #expect(try await presenter.text(of: "#join").contains("/questions/\(session.id)"))
        }
    }

    @Test(
        "The pages fit 320 pixels, have enough contrast and label every control",
        arguments: [false, true])
    func appearance(_ isDark: Bool) async throws {
        try await PageWorld.run { world in
            let session = try await makeSession(in: world, isModerated: true)
            func visit(_ path: String, _ device: String) async throws -> BrowserPage {
                try await self.visit(
                    path, in: world,
                    .init(width: 320, height: 640, isPhone: true, isDark: isDark, device: device))
            }
            let ada = try await visit("questions/\(session.id)", "ada")
            let presenter = try await visit(session.presenter, "grace")
            for page in [ada, presenter] { #expect(try await page.faults() == []) }
            try await ada.click("#content")
            try await ada.type("Why " + String(repeating: "m", count: 150) + "?")
            try await ada.click("#ask button")
            try await presenter.wait(until: row("Why"))
            for page in [ada, presenter] { #expect(try await page.faults() == []) }
            try await presenter.click(".do .primary")
            try await ada.wait(until: "document.querySelector('.vote:enabled')")
            try await ada.click(".vote")
            for page in [ada, presenter] {
                try await page.wait(until: "document.querySelector('.vote b').textContent === '1'")
                #expect(try await page.faults() == [])
            }
            try await presenter.click("#words")
            try await presenter.type(String(repeating: "Tea! ", count: 30))
            try await presenter.click("#announce button")
            try await ada.wait(until: "!document.querySelector('#announcement').hidden")
            for page in [ada, presenter] { #expect(try await page.faults() == []) }
            try await presenter.click("#toggle")
            try await ada.wait(until: "document.querySelector('#content').disabled")
            for page in [ada, presenter] { #expect(try await page.faults() == []) }
        }
    }

    @Test("The open session's table works without a script")
    func withoutScript() async throws {
        try await PageWorld.run(["--open-questions"]) { world in
            let asker = try await WebSocketTestClient.connect(to: world.endpoint, "/socket")
            let id = try await asker.nextMessage().json()["id"]
            try await asker.send(json: ["type": "newQuestion", "id": id, "content": "What <b>now</b>?"])
            #expect(try await asker.nextMessage().json()["success"] == true)
            let page = try await world.open("healthz", .init(width: 320))
            try await page.call("Emulation.setScriptExecutionDisabled", ["value": true])
            try await page.navigate(to: world.address + "questions")
            // Without scripts the page has no timers either. A question to a document that is being replaced may stay
            // unanswered.
            func wait(until condition: String) async throws {
                do {
                    try await eventually(condition) {
                        (try? await page.evaluate("Boolean(\(condition))", within: .seconds(5))) == true
                    }
                } catch {
                    let text = try await page.evaluate("location.href + ': ' + document.body?.innerText")
                    throw ClientFailure.violation("\(error): \(text) \(page.consoleErrors)")
                }
            }
            try await wait(until: "document.querySelector('td')?.textContent === 'What <b>now</b>?'")
            #expect(try await page.faults() == [])
            try await page.evaluate("document.querySelector('td button').focus()")
            try await page.press(.enter)
            #expect(try await asker.nextMessage().json()["type"] == "questionAnswer")
            try await wait(until: "document.querySelector('td') && !document.querySelector('td button')")
            #expect(try await page.faults() == [])
        }
    }
}
