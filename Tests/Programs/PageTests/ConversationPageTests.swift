import Foundation
import TestSupport
import Testing

/// The conversations page in real browsers.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct ConversationPageTests {
    /// Opens the page as a new user, who takes a name by keyboard. The browser reports an error because the server asks
    /// for a name.
    private func arrive(
        _ person: String, in world: PageWorld, _ settings: BrowserPage.Settings
    ) async throws -> BrowserPage {
        let page = try await world.open("conversations", settings, mayComplain: true)
        try await page.wait(until: "document.activeElement.id === 'own-name'")
        try await page.type(person)
        try await page.press(.enter)
        return page
    }

    /// JavaScript: the messages that the browser stores until the server has them.
    private static let kept =
        "Object.entries(localStorage).filter(([key]) => key.startsWith('outbox/')).map(([, text]) => JSON.parse(text))"

    private func waitForList(_ page: BrowserPage) async throws {
        try await page.wait(until: "document.body.dataset.view === 'list'")
    }

    @Test(
        "Three users converse by the keyboard alone")
    func journey() async throws {
        try await PageWorld.run { world in
            let ada = try await arrive("ada", in: world, .init(width: 320, height: 640, isDark: true))
            try await waitForList(ada)
            let bob = try await arrive("ada", in: world, .init())
            try await bob.wait(until: "document.querySelector('#name-error').textContent.includes('Somebody else')")
            try await bob.evaluate("document.querySelector('#own-name').value = ''")
            try await bob.type("bob")
            try await bob.press(.enter)
            let eve = try await arrive("eve", in: world, .init(width: 390, height: 780, isPhone: true))
            for page in [bob, eve] { try await waitForList(page) }

            // Makes a pair with the suggested name.
            try await bob.tab(to: "element.id === 'new'")
            try await bob.press(.enter)
            try await bob.wait(until: "document.querySelectorAll('#found button').length === 2")
            try await bob.tab(to: "element.textContent === 'ada'")
            try await bob.press(.enter)
            try await bob.send("Tea? <b>Now</b> & here")
            try await ada.wait(until: "document.querySelector('.unread').ariaLabel === '1 unread'")
            #expect(try await ada.evaluate("document.title") == "(1) Conversations")
            #expect(
                try await ada.evaluate("document.querySelector('#status').textContent") == "bob: Tea? <b>Now</b> & here"
            )
            #expect(try await ada.evaluate("document.querySelectorAll('.sign svg').length") == 2)
            try await ada.tab(to: "element === \(BrowserPage.conversation("bob"))")
            try await ada.press(.enter)
            try await ada.waitForLines(["Tea? <b>Now</b> & here"])
            #expect(try await ada.evaluate("document.querySelectorAll('.line b').length") == 0)
            try await ada.send("Gladly.")
            try await bob.waitForLines(["Tea? <b>Now</b> & here", "Gladly."])
            #expect(
                try await bob.evaluate("[...document.querySelectorAll('.line')].map(line => line.matches('.own'))")
                    == [true, false])
            #expect(try await bob.evaluate("document.querySelector('.day').textContent") == "Today")
            #expect(try await bob.evaluate("document.querySelector('#messages').role") == "log")
            #expect(try await ada.faults() == [])

            // Makes a group.
            try await bob.tab(to: "element.id === 'new'")
            try await bob.press(.enter)
            try await bob.tab(to: "element.value === 'person'")
            try await bob.press(.right)
            try await bob.tab(to: "element.id === 'who'")
            for name in ["ada", "eve", ""] {
                try await bob.type(name)
                try await bob.press(.enter)
            }
            try await bob.send("Hello both")
            try await eve.wait(until: BrowserPage.conversation("ada, bob"))
            #expect(
                try await eve.evaluate(
                    "document.querySelector('.sign').textContent + document.querySelectorAll('.sign svg').length")
                    == "33")
            try await ada.press(.escape)
            try await waitForList(ada)
            try await ada.wait(until: BrowserPage.conversation("bob, eve"))
            #expect(try await ada.evaluate("document.activeElement === \(BrowserPage.conversation("bob"))") == true)

            // Sends one message to both conversations.
            try await bob.tab(to: "element.id === 'new'")
            try await bob.press(.enter)
            try await bob.tab(to: "element.value === 'person'")
            for _ in 0..<2 { try await bob.press(.right) }
            for title in ["ada", "ada, eve"] {
                try await bob.tab(to: "element.type === 'checkbox' && element.parentElement.textContent === '\(title)'")
                try await bob.press(.space)
            }
            try await bob.tab(to: "element.id === 'words'")
            try await bob.type("To all of you")
            #expect(try await bob.faults() == [])
            try await bob.tab(to: "element.id === 'do-make'")
            try await bob.press(.enter)
            try await ada.wait(
                until:
                    "[...document.querySelectorAll('.last')].filter(last => last.textContent.endsWith('To all of you')).length === 2"
            )
            try await eve.wait(until: "document.querySelector('.last').textContent === 'bob: To all of you'")
            for page in [ada, bob, eve] { #expect(try await page.faults() == []) }
            for page in [ada, bob, eve] { #expect(page.consoleErrors.filter { !$0.contains("409") } == []) }
        }
    }

    @Test("An opened conversation is marked as read")
    func reading() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob")
            let conversation = try await world.conversation("ada", "bob")
            for number in 1...3 { try await world.send("\(number)", by: "bob", in: conversation) }
            let page = try await world.converse("ada", mayComplain: true)
            try await page.wait(until: "document.querySelector('.unread').textContent === '3'")
            try await page.click("#talks a")
            try await page.waitForLines(["1", "2", "3"])
            try await eventually("what was shown is read") {
                try await world.participation(of: conversation, for: "ada")["readOffset"] == 3
            }
            try await page.emulate(offline: true)
            try await page.wait(until: "document.querySelector('#banner').textContent.startsWith('You are offline')")
            for number in 4...5 { try await world.send("\(number)", by: "bob", in: conversation) }
            try await page.emulate(offline: false)
            try await page.waitForLines(["1", "2", "3", "4", "5"])
            try await page.wait(until: "document.querySelector('#banner').textContent === ''")
        }
    }

    @Test("A message without a server waits and arrives once")
    func waiting() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob")
            let conversation = try await world.conversation("ada", "bob")
            let page = try await world.converse("ada", in: conversation, mayComplain: true)
            try await world.stopDaemon()
            try await page.wait(until: "document.body.dataset.link === 'lost'")
            for content in ["one", "two"] { try await page.send(content) }
            try await page.wait(until: "document.querySelectorAll('.line[data-state=waiting]').length === 2")
            #expect(try await page.text(of: ".line [data-part=state]").hasPrefix("Waiting"))
            // The messages are stored, so the page could be closed meanwhile.
            #expect(try await page.evaluate("\(Self.kept).length") == 2)
            try await world.startDaemon()
            try await page.wait(until: "document.querySelectorAll('.line[data-state=stored]').length === 2")
            #expect(
                try await world.messages(in: conversation, for: "bob").map { $0["content"].string } == ["one", "two"])
            #expect(try await page.evaluate("\(Self.kept).length") == 0)
        }
    }

    @Test("A message that the browser can't store is sent anyway")
    func fullStorage() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob")
            let conversation = try await world.conversation("ada", "bob")
            let page = try await world.converse("ada", in: conversation, mayComplain: true)
            try await page.wait(until: "document.activeElement.id === 'content'")
            try await page.emulate(offline: true)
            try await page.send("one")
            // Another tab stores a message meanwhile. Then the storage is full.
            try await page.evaluate(
                """
                (([conversation, place]) => {
                    const id = crypto.randomUUID().toUpperCase()
                    const entry = { id, number: 2, conversations: [conversation], content: 'two', at: Date.now() }
                    localStorage.setItem(place.replace(/[^/]*$/, id), JSON.stringify(entry))
                    Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }
                })(['\(conversation)', Object.keys(localStorage).find(key => key.startsWith('outbox/'))])
                """)
            try await page.send("three")
            try await page.wait(until: "document.querySelectorAll('.line[data-state=waiting]').length === 3")
            // The user can drop a message that isn't stored.
            try await page.click(".line:last-child [data-part=drop]")
            try await page.wait(until: "document.querySelectorAll('.line').length === 2")
            try await page.click("#content")
            try await page.send("four")
            try await page.emulate(offline: false)
            try await page.wait(until: "document.querySelectorAll('.line[data-state=stored]').length === 3")
            #expect(
                try await world.messages(in: conversation, for: "bob").map { $0["content"].string } == [
                    "one", "two", "four",
                ])
        }
    }

    @Test("Before the server has identified the user, all controls are disabled")
    func beginning() async throws {
        try await PageWorld.run { world in
            try await world.name("ada")
            let page = try await BrowserPage.open(.init(device: "ada"))
            try await page.hold("*deviceId=*")
            try await page.navigate(to: "\(world.address)conversations")
            try await page.answer("/conversations?", 503, with: #"{"code":"database_unavailable"}"#)
            try await page.wait(until: "document.querySelector('#banner').textContent.includes('can’t save this now')")
            #expect(try await page.evaluate("document.querySelector('#both').checkVisibility()") == false)
            try await page.release()
            try await page.wait(until: "document.querySelector('#both').checkVisibility()")
            try await page.close()
        }
    }

    @Test("A refused message shows the reason, and can be sent again or deleted")
    func refused() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob")
            let conversation = try await world.conversation("ada", "bob")
            let page = try await world.converse("ada", in: conversation, .init(width: 320), mayComplain: true)
            try await page.hold("*/messages")
            // Neither refusal is temporary, so the page doesn't repeat the message by itself.
            for (content, status, code) in [("one", 403, "blocked"), ("two", 429, "too_many_conversations")] {
                try await page.send(content)
                try await page.answer("/messages", status, with: #"{"code":"\#(code)","reason":"Not to them."}"#)
            }
            try await page.wait(until: "document.querySelectorAll('.line[data-state=failed]').length === 2")
            #expect(try await page.text(of: ".line [data-part=state]") == "Not sent: Not to them.")
            let id = try await page.evaluate("\(Self.kept).find(entry => entry.content === 'one').id")
            try await page.release()
            try await page.tab(to: "element.dataset.part === 'again'")
            try await page.press(.enter)
            try await page.wait(until: "document.querySelectorAll('.line[data-state=stored]').length === 1")
            try await page.tab(to: "element.dataset.part === 'drop'")
            try await page.press(.enter)
            try await page.waitForLines(["one"])
            #expect(try await world.messages(in: conversation, for: "bob").map { $0["id"] } == [id])
            #expect(try await page.evaluate("document.documentElement.scrollWidth <= 320") == true)
        }
    }

    @Test("Older messages load on scrolling up without moving the view")
    func history() async throws {
        try await PageWorld.run(["--device-message-rate", "1000"]) { world in
            try await world.name("ada", "bob")
            let conversation = try await world.conversation("ada", "bob")
            for number in 1...120 { try await world.send("\(number)", by: "bob", in: conversation) }
            let page = try await world.converse("ada", in: conversation)
            try await page.wait(until: "\(BrowserPage.lines).length === 50")
            let place =
                "[...document.querySelectorAll('.line [data-part=content]')].find(line => line.textContent === '71').getBoundingClientRect().top"
            let before = try await page.evaluate(
                "(document.querySelector('#messages').scrollTop = 150, \(place))")
            try await page.wait(until: "\(BrowserPage.lines).length === 100")
            #expect(try await page.evaluate("Math.abs(\(place) - \(before.number ?? 0)) < 2") == true)
            try await world.send("new", by: "bob", in: conversation)
            try await page.wait(until: "!document.querySelector('#newest').hidden")
            // The same by keyboard. Focusing the button scrolls to the top, so the page may already have loaded the
            // earlier messages and hidden the button.
            try await page.tab(to: "element.id === 'earlier' || document.querySelector('#earlier').hidden")
            try await page.press(.enter)
            try await page.wait(until: "\(BrowserPage.lines).length === 121")
            #expect(try await page.evaluate("document.querySelector('#earlier').hidden") == true)
            #expect(try await page.evaluate("document.activeElement.id") == "messages")
            try await page.click("#newest")
            try await page.wait(until: "document.querySelector('#newest').hidden")
            #expect(
                try await page.evaluate(
                    "\(BrowserPage.lines).join() === [...Array(120).keys()].map(n => n + 1).join() + ',new'") == true)
        }
    }

    @Test("A user adds and removes reactions by keyboard and by click")
    func reactions() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob")
            let conversation = try await world.conversation("ada", "bob")
            let message = try await world.send("Tea?", by: "bob", in: conversation)["messages"][0]["id"].string ?? ""
            let reactions = "/conversations/\(conversation)/messages/\(message)/reactions"
            try await world.post(reactions, ["deviceId": "bob", "emoji": "🎉"])
            let page = try await world.converse("ada", in: conversation)
            let buttons =
                "[...document.querySelectorAll('.reactions button')].map(one => one.textContent + one.ariaPressed).join()"
            try await page.wait(until: "\(buttons) === '🎉 1false'")
            #expect(try await page.evaluate("document.querySelector('.reactions button').ariaLabel") == "🎉 from bob")
            try await page.tab(to: "element.matches('.choices summary')")
            try await page.press(.enter)
            try await page.tab(to: "element.dataset.emoji === '❤️'")
            try await page.press(.enter)
            try await page.wait(until: "\(buttons) === '🎉 1false,❤️ 1true'")
            #expect(try await page.evaluate("document.activeElement.matches('.choices summary')") == true)
            #expect(try await page.evaluate("document.querySelector('.choices').open") == false)
            try await world.post(reactions, ["deviceId": "bob", "emoji": "❤️"])
            try await page.wait(until: "\(buttons) === '🎉 1false,❤️ 2true'")
            try await page.click(".reactions [aria-pressed=true]")
            try await page.wait(until: "\(buttons) === '🎉 1false,❤️ 1false'")
            try await page.click(".reactions button")
            try await page.wait(until: "\(buttons) === '🎉 2true,❤️ 1false'")
            #expect(try await page.faults() == [])
            let stored = try await world.messages(in: conversation, for: "bob")[0]["reactions"]
            #expect(stored[0]["users"] == ["bob", "ada"] && stored[1]["users"] == ["bob"])
        }
    }

    @Test("Only messages shown while the user looks are marked as read")
    func turnedAway() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob", "eve")
            let conversation = try await world.conversation("ada", "bob", "eve")
            try await world.send("before", by: "eve", in: conversation)
            let page = try await world.converse("ada")
            // The test decides when the page reports which messages were read.
            try await page.evaluate(
                """
                globalThis.held = [], globalThis.soon = setTimeout,
                globalThis.setTimeout = (call, delay, ...rest) => delay === 300 ? held.push(call) : soon(call, delay, ...rest), 0
                """)
            try await page.evaluate("location.hash = '\(conversation)'")
            try await page.waitForLines(["before"])
            try await page.wait(until: "held.length === 1")
            try await page.evaluate("location.hash = ''")
            try await page.wait(until: "document.body.dataset.view === 'list'")
            try await world.send("again", by: "bob", in: conversation)
            try await page.wait(until: "\(BrowserPage.conversation("bob, eve"))?.innerText.includes('again')")
            try await page.evaluate("(held.pop()(), 0)")
            try await page.wait(until: "document.querySelector('#talks .unread').textContent === '1'")
            #expect(try await world.participation(of: conversation, for: "ada")["readOffset"] == 1)
        }
    }

    @Test(
        "A muted conversation isn't counted as unread"
    )
    func leaving() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob", "eve")
            let (pair, group) = (
                try await world.conversation("ada", "bob"), try await world.conversation("ada", "bob", "eve")
            )
            try await world.send("before", by: "eve", in: group)
            let page = try await world.converse("ada", in: group)
            try await page.waitForLines(["before"])
            try await page.click("#mute")
            try await page.wait(until: "document.querySelector('#mute').ariaPressed === 'true'")
            try await page.evaluate("location.hash = ''")
            try await world.send("again", by: "bob", in: group)
            try await page.wait(until: "document.querySelector('.quiet .unread').textContent === '1'")
            #expect(try await page.evaluate("document.title") == "Conversations")
            try await page.evaluate("location.hash = '\(group)'")
            try await page.waitForLines(["before", "again"])
            try await page.click("#leave")
            try await page.wait(until: "document.querySelector('#sure').open")
            try await page.tab(to: "element.value === 'stay'")
            try await page.press(.enter)
            try await page.wait(until: "!document.querySelector('#sure').open")
            try await page.click("#leave")
            try await page.click("#do-leave")
            try await page.wait(until: "!document.querySelector('#gone').hidden")
            #expect(try await page.evaluate("document.querySelector('#say').hidden") == true)
            try await page.waitForLines(["before", "again"])

            try await page.evaluate("location.hash = '\(pair)'")
            try await page.wait(until: "document.querySelector('#title').textContent === 'bob'")
            try await page.click("#leave")
            try await page.click("#do-leave")
            try await page.wait(until: "document.querySelectorAll('#talks li').length === 1")
            try await world.send("Come back", by: "bob", in: pair)
            try await page.wait(until: "\(BrowserPage.conversation("bob"))?.innerText.includes('Come back')")
        }
    }
}
