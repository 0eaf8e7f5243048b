import Foundation
import TestSupport
import Testing

/// Presence in conversations, the page without a server, and tickets.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct ConversationPresenceTests {
    @Test("The list and the conversation show the present users")
    func presence() async throws {
        try await PageWorld.run(["--presence-grace", "0s"]) { world in
            try await world.name("ada", "bob", "eve")
            let pair = try await world.conversation("ada", "bob")
            let group = try await world.conversation("ada", "bob", "eve")
            for conversation in [pair, group] { try await world.send("Hello", by: "bob", in: conversation) }
            let ada = try await world.converse("ada", in: pair, .init(isDark: true))
            let bob = try await world.converse("bob")
            try await ada.wait(until: "document.querySelector('#here').textContent === 'Is here'")
            try await ada.wait(until: "document.querySelectorAll('#talks .here').length === 2")
            #expect(
                try await ada.evaluate("\(BrowserPage.conversation("bob")).innerText.includes('(2 people, 1 here)')")
                    == true)
            #expect(try await ada.faults() == [])
            try await ada.evaluate("location.hash = '\(group)'")
            try await ada.wait(until: "document.querySelector('#here').textContent === '1 of 2 others here: bob'")
            try await bob.closeTab()
            try await ada.wait(until: "document.querySelector('#here').textContent === ''")

            try await world.post("/conversations/\(group)/leave", ["deviceId": "eve"])
            try await ada.wait(until: "document.querySelector('#title').textContent === 'bob'")
            try await ada.wait(until: "document.querySelector('#lines').lastElementChild.innerText === 'eve has left'")
            #expect(
                try await ada.evaluate("document.querySelector('#status').textContent")
                    == "eve has left the group with bob.")
            try await ada.evaluate("location.hash = '\(pair)'")
            try await world.post("/conversations/\(pair)/leave", ["deviceId": "bob"])
            try await ada.wait(until: "document.querySelector('#here').textContent.startsWith('Has left.')")
            #expect(try await ada.text(of: "#title") == "bob")
        }
    }

    @Test("Without a server, the page shows its cached data and keeps written messages")
    func offline() async throws {
        try await PageWorld.run { world in
            try await world.name("ada", "bob")
            let conversation = try await world.conversation("ada", "bob")
            for content in ["one", "two"] { try await world.send(content, by: "bob", in: conversation) }
            let page = try await world.converse("ada", in: conversation, .init(width: 320), mayComplain: true)
            try await page.waitForLines(["one", "two"])
            try await page.wait(until: "navigator.serviceWorker.controller && localStorage.shelf?.includes('two')")
            try await page.wait(
                until: "(caches.match('/conversations').then(page => window.isKept = Boolean(page)), window.isKept)")
            try await world.stopDaemon()
            try await page.call("Page.reload")
            try await page.waitForLines(["one", "two"])
            try await page.wait(until: "document.querySelector('#banner').innerText.includes('this browser has saved')")
            try await page.send("three")
            try await page.wait(until: "document.querySelectorAll('.line[data-state=waiting]').length === 1")
            try await page.call("Page.reload")
            try await page.waitForLines(["one", "two", "three"])
            #expect(try await page.faults() == [])
            try await world.startDaemon()
            try await page.wait(until: "document.querySelectorAll('.line[data-state=stored]').length === 3")
            try await page.wait(until: "document.querySelector('#banner').innerText === ''")
            #expect(try await world.messages(in: conversation, for: "bob").count == 3)
        }
    }

    @Test("Where the server requires tickets, one is taken from the link or by hand")
    func ticket() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "ticket-\(UUID().uuidString)")
        let secret = String(repeating: "s", count: 40)
        try secret.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        defer { try? FileManager.default.removeItem(at: file) }
        try await PageWorld.run(["--ticket-secret-file", file.path, "--require-tickets"]) { world in
            let page = try await world.open("conversations", .init(width: 320), mayComplain: true)
            try await page.wait(until: "document.activeElement.id === 'own-ticket'")
            #expect(try await page.faults() == [])
            try await page.type("none")
            try await page.press(.enter)
            try await page.wait(until: "document.querySelector('#ticket-error').innerText === 'This isn’t a ticket.'")
            // Makes a ticket like an operator's own site would.
            let ticket = """
                (async (lifetime) => {
                    const text = bytes => btoa(bytes).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '')
                    const signed = [{ alg: 'HS256' }, { sub: 'ada', exp: Date.now() / 1000 + lifetime }]
                        .map(part => text(JSON.stringify(part))).join('.')
                    const bytes = string => new TextEncoder().encode(string)
                    const key = await crypto.subtle.importKey(
                        'raw', bytes('\(secret)'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
                    const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(signed)))
                    return `${signed}.${text(String.fromCharCode(...signature))}`
                })
                """
            let over = try #require(try await page.evaluate("\(ticket)(-5)").string)
            let good = try #require(try await page.evaluate("\(ticket)(3600)").string)
            try await page.evaluate("document.querySelector('#own-ticket').value = ''")
            try await page.type(over)
            try await page.press(.enter)
            try await page.wait(
                until: "document.querySelector('#ticket-error').innerText === 'Your ticket has expired.'")
            try await page.evaluate("location.hash = 'token=\(good)'")
            try await page.wait(until: "document.activeElement.id === 'own-name'")
            #expect(try await page.evaluate("location.hash") == "")
            try await page.type("ada")
            try await page.press(.enter)
            try await page.wait(
                until: "document.body.dataset.view === 'list' && document.body.dataset.link === 'live'")
            #expect(try await page.text(of: "#me") == "You are ada")
        }
    }
}
