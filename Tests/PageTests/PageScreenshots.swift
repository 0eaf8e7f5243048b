import Foundation
import TestSupport
import Testing

private let screenshotDirectory = ProcessInfo.processInfo.environment["LETSSWITCH_SCREENSHOTS"]

/// The screenshots of the README: `make screenshots`.
@Suite(
    .enabled(if: screenshotDirectory != nil && Chromium.isInstalled, "LETSSWITCH_SCREENSHOTS names no directory"))
struct PageScreenshots {
    @Test("day, registration, waiting room and countdown, on a desk and on a phone")
    func screenshots() async throws {
        try await PageWorld.run { world in
            for (device, title, hour) in [
                ("ada", "History essay", 15), ("ada", "Water the plants", 18), ("bob", "Tidy the kitchen", 18),
                ("cleo", "Latin", 14), ("cleo", "Latin", 17), ("cleo", "Latin", 21),
            ] {
                try await world.register(device, title, at: PageWorld.hour(hour))
            }
            let desk = try await world.visit(
                .init(width: 1120, height: 860, timeZone: PageWorld.noonZone, device: "ada"))
            let phone = try await world.visit(
                .init(width: 390, height: 780, isPhone: true, isDark: true, timeZone: PageWorld.noonZone, device: "bob")
            )
            try await Self.keep(desk, "day-desktop")
            try await Self.keep(phone, "day-phone")
            for (page, name) in [(desk, "desktop"), (phone, "phone")] {
                try await page.click("\(BrowserPage.row("14:00")) button")
                try await page.type("Piano, slowly")
                try await Self.keep(page, "registration-\(name)")
                try await page.press(.escape)
            }
            // The full minute after the next.
            let now = Date.now.timeIntervalSince1970
            let start = Date(timeIntervalSince1970: ((now + 62) / 60).rounded(.up) * 60)
            try await world.register("ada", "History essay", at: start)
            try await world.register("bob", "Tidy the kitchen", at: start)
            for page in [desk, phone] {
                try await page.wait(until: "!document.querySelector('#next-enter').hidden", within: .seconds(130))
                try await page.click("#next-enter")
                try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            }
            for (page, name) in [(desk, "desktop"), (phone, "phone")] { try await Self.keep(page, "room-\(name)") }
            try await desk.wait(until: "document.querySelector('#count').innerText === '4'", within: .seconds(70))
            for page in [phone, phone, desk] { try await page.click("#ale") }
            try await desk.wait(until: "document.querySelector('#count').innerText === '3'")
            try await desk.wait(
                until: "document.querySelector('#count').getAnimations().every(a => a.currentTime > 600)")
            for (page, name) in [(desk, "desktop"), (phone, "phone")] { try await Self.keep(page, "countdown-\(name)") }
        }
    }

    private static func keep(_ page: BrowserPage, _ name: String) async throws {
        let image = try await page.screenshot(as: "webp")
        #expect(image.count > 2_000 && image.count < 40_000)
        try Data(image).write(
            to: URL(fileURLWithPath: screenshotDirectory ?? ".").appendingPathComponent("\(name).webp"))
    }
}
