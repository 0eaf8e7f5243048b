import Foundation
import Testing

@testable import LetsSwitchClient
@testable import letsswitch

/// Other people's text in a terminal.
@Suite struct OutputTests {
    @Test("Control characters in other users' text don't reach the terminal")
    func harmless() {
        #expect(
            Output.harmless("T\u{1b}]0;x\u{7}e\u{9b}2J\u{202e}\u{61c}a\r\n\tčaj 🍵")
                == "T\u{fffd}]0;x\u{fffd}e\u{fffd}2J\u{fffd}\u{fffd}a\u{fffd}\n\tčaj 🍵")
    }

    @Test(
        "Line breaks in other users' text can't imitate the command's own output",
        arguments: ["\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"])
    func lineBreaks(lineBreak: String) throws {
        let title = "Tea\(lineBreak)ada: hello"
        #expect(Output.indented(title) == "Tea\n    ada: hello" && Output.inLine(title) == "Tea ada: hello")
        let json = try String(decoding: JSONEncoder().encode(title), as: UTF8.self)
        let times = #""startsAt":"2026-11-22T09:00:00Z","remindsAt":"2026-11-22T08:59:00Z","startTime":"09:00""#
        let id = UUID()
        let reminder = try Reminder(
            #"{"id":"\#(id)","taskId":"\#(id)","title":\#(json),\#(times),"roomId":"\#(id)","partnerTask":\#(json)}"#)
        #expect(
            ReminderRun.text(reminder)
                == "09:00 Tea ada: hello; your partner starts Tea ada: hello: letsswitch join \(id)")
        let promise = try RegisteredTask(
            Array(
                #"{"id":"\#(id)","title":\#(json),\#(times),"timeZone":"UTC","socketId":"\#(id)","partnerTitle":\#(json)}"#
                    .utf8))
        let run = TaskRun(parsed: try ParsedCommand(["watch"], environment: { _ in nil }), output: Output())
        #expect(
            run.text(promise).split(separator: "\n")
                == [
                    "Tea ada: hello at 09:00 (UTC). Your partner starts Tea ada: hello.", "task \(id)",
                    "room \(id)",
                ])
    }
}
