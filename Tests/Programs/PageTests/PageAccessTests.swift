import Foundation
import TestSupport
import Testing

/// The page for everybody: by keyboard alone, on small screens, in both colour schemes, and with a screen reader.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageAccessTests {
    @Test("All actions work by keyboard alone, with the expected focus")
    func keyboard() async throws {
        try await PageWorld.run(["--reminder-lead", "600s"]) { world in
            let page = try await world.visit(.init(device: "ada"))
            let start = PageWorld.second(in: 1500)
            try await world.register("bob", "Maths", at: start)
            try await page.wait(until: "document.querySelector('[data-state=somebody]')")
            try await page.tab(to: "element.closest('[data-state=somebody]')")
            try await page.press(.enter)
            #expect(try await page.evaluate("document.activeElement.id") == "title")
            try await page.type("History")
            try await page.press(.enter)
            try await page.wait(until: "!document.querySelector('#promise').open")
            #expect(try await page.evaluate("Boolean(document.activeElement.closest('.slot.own'))") == true)
            try await world.advance(to: start - 590)
            try await page.wait(until: "!document.querySelector('#next-enter').hidden")
            try await page.tab(to: "element.closest('[data-state=room]')")
            try await page.press(.enter)
            try await page.wait(until: "document.activeElement.id === 'room-title'")
            try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            try await page.tab(to: "element.id === 'ale'")
            try await page.press(.space)
            try await page.wait(until: "document.querySelector('#sent').innerText === 'Your cheer is sent.'")
            try await page.tab(to: "element.id === 'leave'")
            try await page.press(.enter)
            try await page.wait(until: "document.activeElement.closest('.slot.own')")
        }
    }

    @Test("Announcements use live regions outside of dialogs")
    func announcements() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"))
            let hidden = try await page.evaluate(
                """
                [...document.querySelectorAll('[role=status], [role=alert]')].filter(region =>
                    !region.closest('dialog, [hidden], #room') && getComputedStyle(region).display === 'none').map(region => region.id)
                """)
            #expect(hidden == [])
            try await page.evaluate(
                """
                window.announcements = []
                new MutationObserver(() => announcements.push(
                    document.querySelector('#status').textContent + (document.querySelector('dialog[open]') ? ', in a dialog' : ''))
                ).observe(document.querySelector('#status'), { childList: true })
                """)
            try await page.click("\(BrowserPage.row("16:00")) button")
            let described = try await page.evaluate(
                """
                document.querySelector('#promise').getAttribute('aria-describedby').split(' ')
                    .map(id => document.getElementById(id).innerText).join(' ')
                """)
            #expect(described.string?.contains("at 16:00.") == true)
            try await page.type("History")
            try await page.press(.enter)
            try await page.wait(until: "window.announcements.length === 1")
            try await world.register("bob", "Maths", at: PageWorld.hour(16))
            try await page.wait(until: "window.announcements.length === 2")
            #expect(
                try await page.evaluate("window.announcements")
                    == ["Promised: History at 16:00.", "You have a partner at 16:00: they will start Maths."])
        }
    }

    @Test("The focus isn't lost with its element")
    func focus() async throws {
        try await PageWorld.run(["--reminder-lead", "600s"]) { world in
            let page = try await world.visit(
                .init(device: "ada"), after: "window.ahead = 0; Date.now = (now => () => now() + ahead)(Date.now)")
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            try await world.advance(to: start - 590)
            try await page.wait(
                until: "[...document.querySelectorAll('#reminder, #next-enter')].every(element => !element.hidden)")
            try await page.tab(to: "element.id === 'reminder-close'")
            try await page.press(.enter)
            #expect(try await page.evaluate("document.activeElement.id") == "date")
            // From here only the test sets the clock, because all requests are held. The task is over, and then it
            // isn't.
            try await page.hold("*")
            try await page.tab(to: "element.id === 'next-enter'")
            try await page.evaluate("ahead = 1_300_000")
            try await page.wait(until: "document.querySelector('#next').hidden")
            #expect(try await page.evaluate("document.activeElement.id") == "date")
            try await page.evaluate("ahead = 0")
            try await page.wait(until: "!document.querySelector('#next').hidden")
            // Returns from a room whose slot can't be chosen any more.
            try await page.click("#next-enter")
            try await page.wait(until: "document.activeElement.id === 'room-title'")
            try await page.evaluate("ahead = 1_300_000")
            try await page.wait(until: "document.querySelector('.slot.own button').disabled")
            try await page.click("#leave")
            try await page.wait(until: "document.body.dataset.view === 'day'")
            #expect(try await page.evaluate("document.activeElement.id") == "date")
        }
    }

    @Test(
        "The page fits 320 pixels, has enough contrast and labels every control",
        arguments: [false, true])
    func appearance(_ isDark: Bool) async throws {
        try await PageWorld.run(["--reminder-lead", "600s"]) { world in
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History " + String(repeating: "mmm", count: 50), at: start)
            try await world.register("ada", "Art", at: PageWorld.hour(18))
            try await world.register("bob", "Maths", at: PageWorld.hour(18))
            try await world.register("bob", "Maths", at: PageWorld.hour(19))
            let page = try await world.visit(
                .init(
                    width: 320, height: 640, isPhone: true, isDark: isDark, device: "ada")
            )
            try await world.advance(to: start - 590)
            try await page.wait(until: "document.querySelector('[data-state=room]')")
            #expect(try await page.faults() == [])
            try await page.click("\(BrowserPage.row("16:00")) button")
            #expect(try await page.faults() == [])
            try await page.press(.escape)
            try await page.click("#open-device")
            #expect(try await page.faults() == [])
            try await page.press(.escape)
            try await page.click("#next-enter")
            try await page.wait(until: "document.body.dataset.view === 'room'")
            #expect(try await page.faults() == [])
        }
    }
}

extension BrowserPage {
    /// Returns the faults of the visible page: text with too little contrast (WCAG 2.2, 1.4.3), controls without a name
    /// or too small to hit (2.5.8), and content that makes the page scroll sideways (1.4.10).
    func faults() async throws -> [String] {
        let found = try await evaluate(
            #"""
            (() => {
                const faults = []
                if (document.documentElement.scrollWidth > innerWidth) faults.push('scrolls sideways')
                const channels = text => text.match(/[\d.]+/g).map(Number)
                const luminance = color => {
                    const [r, g, b] = color.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b
                }
                const backdrop = element => {
                    for (; element; element = element.parentElement) {
                        const color = channels(getComputedStyle(element).backgroundColor)
                        if (color[3] !== 0) return color
                    }
                    return [255, 255, 255]
                }
                const scope = document.querySelector('dialog[open]') ?? document.body
                for (const element of scope.querySelectorAll('*')) {
                    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest('.visually-hidden, .number')) continue
                    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())
                    if (own || element.matches('input')) {
                        const style = getComputedStyle(element)
                        const [a, b] = [luminance(channels(style.color).slice(0, 3)), luminance(backdrop(element).slice(0, 3))]
                        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
                        const size = parseFloat(style.fontSize)
                        if (ratio < (size >= 24 ? 3 : 4.5)) faults.push(`${element.textContent.slice(0, 30)}: ${ratio.toFixed(2)}`)
                    }
                    if (element.matches('button, input, a[href]')) {
                        const box = element.getBoundingClientRect()
                        if (box.width < 24 || box.height < 24) faults.push(`${element.outerHTML.slice(0, 80)} is too small`)
                        const labelled = element.getAttribute('aria-label') || element.innerText?.trim() || element.labels?.length
                        if (!labelled) faults.push(`${element.outerHTML.slice(0, 80)} has no name`)
                    }
                }
                // Checks the contrast on both halves of the disc.
                const ink = luminance([0x22, 0x1B, 0x13])
                for (const half of document.querySelectorAll('.half')) {
                    const color = channels(getComputedStyle(half).backgroundColor)
                    if (color[3] !== 0 && (luminance(color.slice(0, 3)) + 0.05) / (ink + 0.05) < 4.5) faults.push('the disc')
                }
                return faults
            })()
            """#)
        return (found.array ?? []).compactMap(\.string)
    }
}
