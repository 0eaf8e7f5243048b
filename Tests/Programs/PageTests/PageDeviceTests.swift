import Foundation
import TestSupport
import Testing

/// The device's secret, and reminders outside of the page.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageDeviceTests {
    @Test("The secret can be moved to another browser and deleted")
    func moving() async throws {
        try await PageWorld.run { world in
            let first = try await world.visit()
            let secret = try await first.evaluate("localStorage.device").string ?? ""
            #expect(UUID(uuidString: secret) != nil)
            try await world.register(secret, "History", at: PageWorld.hour(18))
            try await first.waitForState("own", at: "18:00")

            let second = try await world.visit()
            #expect(try await second.evaluate("localStorage.device").string != secret)
            try await second.waitForState("somebody", at: "18:00")
            try await second.click("#open-device")
            try await second.click("#other-id")
            try await second.type(" \(secret)\n")
            try await second.press(.enter)
            try await second.waitForState("own", at: "18:00")

            try await first.click("#open-device")
            #expect(try await first.evaluate("document.querySelector('#device-id').value").string == secret)
            // Erasing needs two clicks, because it can't be undone. A double click counts as one.
            try await first.click("#erase", count: 2)
            #expect(try await first.text(of: "#device-status").contains("erases all your data"))
            #expect(try await first.text(of: "#erase") == "Really erase my data")
            #expect(try await first.evaluate("localStorage.device").string == secret)
            try await first.click("#erase")
            try await first.waitForState("free", at: "18:00")
            try await second.waitForState("free", at: "18:00")
            #expect(try await first.evaluate("localStorage.device").string != secret)
        }
    }

    @Test("In an insecure context, the page works without notifications")
    func untrusted() async throws {
        try await PageWorld.run(["--hosts", Chromium.untrustedName]) { world in
            let page = try await world.visit()
            let port = world.address.split(separator: ":").last ?? ""
            try await page.navigate(to: "http://\(Chromium.untrustedName):\(port)")
            try await page.wait(until: "location.hostname === '\(Chromium.untrustedName)'")
            try await page.waitUntilLive()
            #expect(
                try await page.evaluate("isSecureContext || 'randomUUID' in crypto || 'serviceWorker' in navigator")
                    == false)
            let secret = try await page.evaluate("localStorage.device").string ?? ""
            #expect(UUID(uuidString: secret) != nil)
            #expect(try await page.text(of: "#alerts-status").contains("https only"))
            try await page.click("#open-device")
            try await page.click("#copy")
            try await page.wait(until: "document.querySelector('#device-status').innerText.startsWith('Copied.')")
        }
    }

    @Test("A push replaces the page's notification of the same reminder")
    func notifications() async throws {
        try await PageWorld.run(["--reminder-lead", "60s"]) { world in
            let page = try await BrowserPage.open(.init(device: "ada", showsNotifications: true))
            try await page.allowNotifications(of: String(world.address.dropLast()))
            // The page counts as hidden.
            try await page.runFirst("Object.defineProperty(document, 'hidden', { get: () => true })")
            // The test asks for notifications only after one is shown. If it asked earlier, Chromium could take the
            // notification for closed and drop it.
            try await page.runFirst(
                """
                const { showNotification } = ServiceWorkerRegistration.prototype
                ServiceWorkerRegistration.prototype.showNotification = function (...what) {
                    return showNotification.apply(this, what).then(() => { window.hasShown = true })
                }
                """)
            try await page.navigate(to: world.address)
            try await page.waitUntilLive()
            try await page.wait(until: "navigator.serviceWorker.controller")
            try await page.wait(
                until: "document.querySelector('#alerts-status').innerText.includes('notifications while')")
            try await page.call("ServiceWorker.enable")
            let version = try await page.events.next("the service worker") {
                $0.method == "ServiceWorker.workerVersionUpdated"
                    && $0.parameters["versions"].array?.contains { $0["status"] == "activated" } == true
            }
            let registration = version.parameters["versions"].array?.first { $0["status"] == "activated" }?[
                "registrationId"]

            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            try await world.advance(to: start - 59)
            try await page.wait(until: "window.hasShown")
            let look = """
                window.asking ??= navigator.serviceWorker.ready.then(worker => worker.getNotifications()).then(list => {
                    window.list = list.map(n => [n.title, n.body, n.tag].join('|'))
                    window.asking = null
                })
                """
            try await page.wait(until: "(\(look), window.list?.[0]?.startsWith('History at '))")
            let tag = try await page.evaluate("window.list[0].split('|')[2]").string ?? ""
            #expect(UUID(uuidString: tag) != nil)

            let push =
                #"{"id":"\#(tag)","title":"History","startsAt":"2026-11-22T09:00:00Z","startTime":"09:00","partnerTask":"Maths"}"#
            try await page.call(
                "ServiceWorker.deliverPushMessage",
                ["origin": .string(world.address), "registrationId": registration ?? .absent, "data": .string(push)])
            try await page.wait(
                until:
                    "(\(look), window.list?.[0] === 'History at 09:00|Your partner will start Maths. The waiting room is open.|\(tag)')"
            )
            #expect(try await page.evaluate("window.list.length") == 1)
            #expect(page.consoleErrors.isEmpty)
            try await page.close()
        }
    }

    /// A stand-in for the push service of the browser's maker, which tests don't use.
    private static let pushService = """
        let subscription = null
        const endpoint = 'https://push.example/1'
        PushManager.prototype.getSubscription = async () => subscription
        PushManager.prototype.subscribe = async options => {
            window.asked = new Uint8Array(options.applicationServerKey).join()
            return subscription ??= {
                endpoint, options,
                toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh: 'p', auth: 'a' } }),
                unsubscribe: async () => { subscription = null; window.hasUnsubscribed = true; return true },
            }
        }
        """
    private static let withPush = ["--web-push-contact", "mailto:ops@example.org"]

    @Test("Where the server offers Web Push, the browser subscribes and registers")
    func subscribing() async throws {
        try await PageWorld.run(Self.withPush) { world in
            let page = try await BrowserPage.open(.init(device: "ada", showsNotifications: true))
            try await page.runFirst(Self.pushService)
            try await page.navigate(to: world.address)
            try await page.waitUntilLive()
            try await page.wait(
                until: "!document.querySelector('#alerts').hidden && navigator.serviceWorker.controller")
            try await page.allowNotifications(of: String(world.address.dropLast()))
            try await page.hold("*/push/*")
            try await page.click("#alerts")
            let key = try await page.answer("/push/key", with: #"{"publicKey":"_-8"}"#)
            #expect(key["method"] == "GET")
            let subscription = try await page.answer("/push/subscription", with: "{}")
            let body = try TestJSON(parsing: Array((subscription["postData"].string ?? "").utf8))
            #expect(subscription["method"] == "POST")
            #expect(
                body == [
                    "deviceId": "ada",
                    "subscription": ["endpoint": "https://push.example/1", "keys": ["p256dh": "p", "auth": "a"]],
                ])
            #expect(try await page.evaluate("window.asked") == "255,239")
            try await page.wait(
                until: "document.querySelector('#alerts-status').innerText.includes('even when this page is closed')")
            #expect(try await page.evaluate("document.querySelector('#alerts').hidden") == true)
            #expect(page.consoleErrors.isEmpty)
            try await page.close()
        }
    }

    @Test(
        "A browser with earlier permission subscribes without asking"
    )
    func subscribingAgain() async throws {
        try await PageWorld.run(Self.withPush) { world in
            let page = try await BrowserPage.open(.init(device: "ada", showsNotifications: true))
            try await page.runFirst(Self.pushService)
            try await page.allowNotifications(of: String(world.address.dropLast()))
            try await page.hold("*/push/*")
            try await page.navigate(to: world.address)
            try await page.answer("/push/key", with: #"{"publicKey":"_-8"}"#)
            try await page.answer("/push/subscription", 503, with: #"{"code":"database_unavailable"}"#)
            try await page.wait(until: "window.hasUnsubscribed")
            try await page.wait(
                until: "document.querySelector('#alerts-status').innerText.includes('while this page is open')")

            // The next attempt succeeds. Then the browser changes to another device, which is subscribed as well.
            try await page.call("Page.reload")
            try await page.answer("/push/key", with: #"{"publicKey":"_-8"}"#)
            try await page.answer("/push/subscription", with: "{}")
            try await page.wait(
                until: "document.querySelector('#alerts-status').innerText.includes('even when this page is closed')")
            try await page.click("#open-device")
            try await page.click("#other-id")
            try await page.type("bob")
            try await page.press(.enter)
            let farewell = try await page.answer("/push/subscription?", with: "{}")
            #expect(farewell["method"] == "DELETE")
            try await page.answer("/push/key", with: #"{"publicKey":"_-8"}"#)
            let subscription = try await page.answer("/push/subscription", with: "{}")
            #expect(subscription["postData"].string?.contains(#""deviceId":"bob""#) == true)
            try await page.close()
        }
    }

    @Test("Without a service worker, notifications aren't offered")
    func withoutWorker() async throws {
        try await PageWorld.run(Self.withPush) { world in
            let page = try await world.visit(
                after: "ServiceWorkerContainer.prototype.register = async () => { throw new TypeError('no') }")
            try await page.wait(until: "document.querySelector('#alerts-status').innerText.includes('https only')")
            #expect(try await page.evaluate("document.querySelector('#alerts').hidden") == true)
        }
    }
}
