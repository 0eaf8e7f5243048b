import Foundation
import TestSupport
import Testing

/// A task that waits for an invited guest.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageInvitationTests {
    @Test("A guest who opens the host's link becomes the partner")
    func invitation() async throws {
        try await PageWorld.run { world in
            // Another user already waits in this slot.
            try await world.register("curl", "Nothing", at: PageWorld.hour(16))
            let ada = try await world.visit(
                .init(width: 320, height: 640, isDark: true, device: "ada"))
            try await ada.tab(to: "element.closest('[data-state=somebody]')")
            try await ada.press(.enter)
            try await ada.type("History")
            try await ada.tab(to: "element.id === 'invites'")
            try await ada.press(.space)
            try await ada.press(.enter)
            try await ada.wait(until: "document.querySelector('#invitation').open")
            try await ada.waitForState("own", at: "16:00")
            #expect(try await ada.faults() == [])
            #expect(try await ada.evaluate("document.activeElement.id") == "copy-invitation")
            let link = try #require(try await ada.evaluate("document.querySelector('#invitation-link').value").string)
            #expect(link.hasPrefix("\(world.address)#invitation/"))
            try await ada.press(.escape)
            // The link stays the same.
            try await ada.click("\(BrowserPage.row("16:00")) button")
            try await ada.click("#invites")
            try await ada.click("#swear")
            try await ada.wait(until: "document.querySelector('#invitation').open")
            #expect(try await ada.evaluate("document.querySelector('#invitation-link').value").string == link)
            try await ada.press(.escape)

            let fragment = String(link.dropFirst(world.address.count))
            let bob = try await world.open(
                fragment, .init(width: 320, isPhone: true, device: "bob"))
            try await bob.wait(until: "document.activeElement.id === 'guest-own'")
            #expect(try await bob.text(of: "#guest-what").contains("will start History on"))
            #expect(try await bob.text(of: "#guest-time") == "16:00")
            #expect(try await bob.faults() == [])
            try await bob.press(.enter)
            try await bob.wait(until: "document.querySelector('#guest-error').innerText.startsWith('Write what you')")
            try await bob.type("Maths")
            try await bob.press(.enter)
            try await bob.waitForState("partner", at: "16:00")
            try await ada.waitForState("partner", at: "16:00")
            try await bob.wait(until: "location.hash === ''")
            #expect(
                try await ada.text(of: "\(BrowserPage.row("16:00")) .detail")
                    == "History · your partner will start Maths")

            let eve = try await world.open(fragment, .init(device: "eve"), mayComplain: true)
            try await eve.wait(
                until:
                    "document.querySelector('#guest-what').innerText === 'Somebody else has already accepted this invitation.'"
            )
            #expect(try await eve.evaluate("document.querySelector('#guest-yes').hidden") == true)
            try await eve.press(.escape)
            try await eve.wait(until: "location.hash === ''")
        }
    }
}
