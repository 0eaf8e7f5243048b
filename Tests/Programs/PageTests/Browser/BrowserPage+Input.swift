import TestSupport

/// Input by mouse and keyboard, as the browser gets it from a person.
extension BrowserPage {
    /// Clicks in the middle of an element. The element must be visible, enabled and not covered. If the page moves
    /// meanwhile and the click hits something else, clicks again. A `count` of 2 is a double click.
    func click(_ selector: String, count: Int = 1) async throws {
        for _ in 0..<5 {
            try await wait(
                until: """
                    (() => {
                        const element = document.querySelector(`\(selector)`)
                        element.scrollIntoView({ block: 'center' })
                        const box = element.getBoundingClientRect()
                        const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
                        return box.width > 0 && element.contains(top) && !element.matches(':disabled')
                    })()
                    """)
            let place = try await evaluate(
                """
                (() => {
                    window.clicked = false
                    // If the page has moved, the click must not reach another element.
                    const note = event => {
                        window.clicked ||= Boolean(event.target.closest(`\(selector)`))
                        if (window.clicked) return
                        event.preventDefault()
                        event.stopImmediatePropagation()
                    }
                    document.addEventListener('click', note, { capture: true, once: true })
                    window.endNoting = () => document.removeEventListener('click', note, true)
                    const box = document.querySelector(`\(selector)`).getBoundingClientRect()
                    return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
                })()
                """)
            for number in 1...count {
                for type in ["mousePressed", "mouseReleased"] {
                    try await call(
                        "Input.dispatchMouseEvent",
                        [
                            "type": .string(type), "x": place["x"], "y": place["y"], "button": "left",
                            "clickCount": .number(Double(number)),
                        ])
                }
            }
            // A new document doesn't have these variables, which means that the click opened it.
            if try await evaluate("(window.endNoting?.(), window.clicked)") != false { return }
        }
        throw ClientFailure.violation("clicks on \(selector) never reach it")
    }

    enum Key: String {
        case tab = "Tab"
        case enter = "Enter"
        case escape = "Escape"
        case space = " "
        case right = "ArrowRight"

        fileprivate var number: Double {
            switch self {
            case .tab: 9
            case .enter: 13
            case .escape: 27
            case .space: 32
            case .right: 39
            }
        }
        fileprivate var text: TestJSON {
            switch self {
            case .enter: "\r"
            case .space: " "
            case .tab, .escape, .right: .absent
            }
        }
    }

    func press(_ key: Key) async throws {
        let name: TestJSON = .string(key == .space ? "Space" : key.rawValue)
        for type in [key.text == .absent ? "rawKeyDown" : "keyDown", "keyUp"] {
            try await call(
                "Input.dispatchKeyEvent",
                [
                    "type": .string(type), "key": .string(key.rawValue), "code": name,
                    "windowsVirtualKeyCode": .number(key.number), "text": type == "keyUp" ? .absent : key.text,
                ])
        }
    }

    /// Types into the focused element.
    func type(_ text: String) async throws {
        try await call("Input.insertText", ["text": .string(text)])
    }

    /// Presses Tab until the focused element fulfils a condition on `element`.
    func tab(to condition: String) async throws {
        for _ in 0..<60 {
            if try await evaluate("(element => Boolean(\(condition)))(document.activeElement)") == true { return }
            try await press(.tab)
        }
        throw ClientFailure.violation("Tab does not lead to \(condition)")
    }
}
