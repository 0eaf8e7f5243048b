import Foundation
import Testing

@testable import Observability

@Suite struct LogTests {
    private let time = LogTimestamp(seconds: 1_795_337_940, nanoseconds: 12_999_999)

    private func text(_ format: LogFormat, _ event: String, _ values: Log.Values, colours: Bool = false) -> String {
        let line = LogLine(format: format, colours: colours).encode(.warning, event, values, at: time)
        return String(decoding: line, as: UTF8.self)
    }

    /// Opens a pipe. The test reads its output.
    private func openPipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        // A child process that inherited the writing end would keep the reader waiting.
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        return (ends[0], ends[1])
    }

    private func readAll(_ descriptor: Int32) -> String {
        String(
            decoding: FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readDataToEndOfFile(), as: UTF8.self)
    }

    @Test("A text line is readable") func aLineOfTextIsForTheEye() {
        let values: Log.Values = [
            "task": "1C0A", "late_ms": 12, "ok": true, "why": "said \"no\"\n", "none": "", "share": .double(0.5),
        ]
        #expect(
            text(.text, "reminder", values)
                == "08:59:00.012 warning reminder task=1C0A late_ms=12 ok=true why=\"said \\\"no\\\"\\n\" none=\"\" share=0.5\n"
        )
    }

    @Test("Only terminals get colours") func coloursAreForTerminals() {
        #expect(text(.text, "e", [:], colours: true) == "08:59:00.012 \u{1B}[33mwarning\u{1B}[0m e\n")
    }

    @Test("A JSON line is an object with the time first") func jsonLineIsObjectWithTimeFirst() throws {
        #expect(
            text(.json, "reminder", ["late_ms": 12, "ratio": .double(.infinity), "a": "b"])
                == #"{"ts":"2026-11-22T08:59:00.012Z","level":"warning","msg":"reminder","late_ms":12,"ratio":null,"a":"b"}"#
                + "\n")
    }

    @Test("Every scalar survives JSON on one line") func everyScalarSurvivesJSONOnOneLine() throws {
        for range in [0...0x2FF, 0x2000...0x2040, 0x1F600...0x1F610] as [ClosedRange<UInt32>] {
            let original = String(String.UnicodeScalarView(range.compactMap(Unicode.Scalar.init)))
            let line = text(.json, original, ["key \"\n": .string(original)])
            #expect(line.unicodeScalars.filter { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) } == ["\n"])
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            #expect(object?["msg"] == original)
            #expect(object?["key \"\n"] == original)
        }
    }

    @Test("A terminal never gets a control sequence from a value") func terminalNeverGetsControlSequenceFromValue() {
        let line = text(.text, "e\u{1B}[2J", ["v": "\u{1B}]0;x\u{7}\r\u{9B}"])
        #expect(line == "08:59:00.012 warning e\\u001b[2J v=\"\\u001b]0;x\\u0007\\r\\u009b\"\n")
    }

    @Test("Invisible and direction-changing characters are escaped")
    func invisibleAndDirectionChangingCharactersAreEscaped() throws {
        let text = "a\u{202E}b\u{2069}\u{200B}\u{FEFF}\u{E0041}é語"
        let escaped = #"a\u202eb\u2069\u200b\ufeff\udb40\udc41é語"#
        #expect(self.text(.text, "e", ["v": .string(text)]).hasSuffix(" v=\"\(escaped)\"\n"))
        let line = self.text(.json, text, [:])
        #expect(line.contains(escaped))
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
        #expect(object?["msg"].map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test("A text of more than 1,024 scalars is cut") func aLongTextIsClipped() {
        let longest = String(repeating: "é", count: LogLine.maxScalars)
        #expect(text(.text, "e", ["v": .string(longest)]).hasSuffix(" v=\(longest)\n"))
        #expect(text(.text, "e", ["v": .string(longest + "xy")]).hasSuffix(" v=\(longest)…\n"))
    }

    @Test("Timestamps agree with Foundation's calendar") func timestampsAgreeWithFoundationsCalendar() {
        let formatter = ISO8601DateFormatter()
        for seconds in stride(from: Int64(-2_300_000_000), to: 8_000_000_000, by: 7_654_321) {
            var bytes: [UInt8] = []
            let time = LogTimestamp(seconds: seconds, nanoseconds: 0)
            time.appendDate(to: &bytes)
            bytes.append(UInt8(ascii: "T"))
            time.appendTime(to: &bytes)
            let expected = formatter.string(from: Date(timeIntervalSince1970: Double(seconds))).dropLast() + ".000"
            #expect(String(decoding: bytes, as: UTF8.self) == expected)
        }
    }

    @Test("A disabled level evaluates nothing, and enabled lines appear in order")
    func disabledLevelEvaluatesNothing() throws {
        let (read, write) = try openPipe()
        let log = Log(level: .info, line: LogLine(format: .text, colours: false), descriptor: write)
        var evaluated = 0
        func count() -> String {
            evaluated += 1
            return "x"
        }
        log.debug(count(), ["v": .string(count())])
        #expect(evaluated == 0)
        log.info("first")
        log.error(count(), ["v": .string(count())])
        #expect(evaluated == 2)
        #expect(log.flush())
        close(write)
        let lines = readAll(read).split(separator: "\n").map { $0.dropFirst("08:59:00.012 ".count) }
        #expect(lines == ["info    first", "error   x v=x"])
    }

    @Test("Lines from many threads arrive whole") func fromManyThreadsEveryLineArrivesWhole() throws {
        let (read, write) = try openPipe()
        let log = Log(level: .info, line: LogLine(format: .json, colours: false), descriptor: write)
        let lines = OutputCollector(descriptor: read)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<200 { log.info("line", ["thread": .int(thread), "number": .int(number)]) }
        }
        #expect(log.flush(within: .seconds(30)))
        close(write)
        let objects = lines.wait().split(separator: "\n").map {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(objects.count == 1600)
        #expect(objects.allSatisfy { $0?["msg"] as? String == "line" })
    }

    /// Writes to a pipe until it takes no more.
    private func fillWithLineBreaks(_ descriptor: Int32) {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let breaks = [UInt8](repeating: UInt8(ascii: "\n"), count: 4096)
        while Glibc.write(descriptor, breaks, breaks.count) > 0 {}
        while Glibc.write(descriptor, breaks, 1) > 0 {}
        _ = fcntl(descriptor, F_SETFL, flags)
    }

    @Test("A sleeping reader loses lines, and learns how many")
    func sleepingReaderCostsLinesInsteadOfTime() throws {
        let (read, write) = try openPipe()
        let log = Log(level: .info, line: LogLine(format: .text, colours: false), descriptor: write, limit: 4_096)
        // The pipe is full, and more lines are logged than may wait. The writer blocks, and the caller doesn't.
        fillWithLineBreaks(write)
        let padding = String(repeating: "x", count: 1_000)
        for _ in 0..<500 { log.info(padding) }
        #expect(!log.flush(within: .milliseconds(10)))
        let lines = OutputCollector(descriptor: read)
        #expect(log.flush(within: .seconds(30)))
        log.info("last")
        #expect(log.flush(within: .seconds(30)))
        close(write)
        let output = lines.wait().split(separator: "\n")
        let written = output.count { $0.hasSuffix(padding) }
        let dropped = output.compactMap { $0.split(separator: "log lines dropped count=").last.flatMap { Int($0) } }
            .reduce(0, +)
        #expect(written < 500)
        #expect(written + dropped == 500)
        #expect(output.last?.hasSuffix("last") == true)
    }

    @Test("Bytes that a slow reader has taken make room for others")
    func aSlowReaderMakesRoom() throws {
        let (read, write) = try openPipe()
        let writer = LogWriter(descriptor: write, limit: 262_144) { _ in Array("dropped\n".utf8) }
        writer.write([UInt8](repeating: UInt8(ascii: "x"), count: 200_000))
        var taken = [UInt8](repeating: 0, count: 131_072)
        var count = 0
        while count < taken.count {
            let more = taken.withUnsafeMutableBytes { Glibc.read(read, $0.baseAddress! + count, $0.count - count) }
            try #require(more > 0)
            count += more
        }
        // When the next bytes come, the earlier ones have been counted.
        var next = pollfd(fd: read, events: Int16(POLLIN), revents: 0)
        try #require(poll(&next, 1, -1) == 1)
        writer.write([UInt8](repeating: UInt8(ascii: "y"), count: 150_000))
        let rest = OutputCollector(descriptor: read)
        #expect(writer.flush(within: .seconds(30)))
        close(write)
        #expect(rest.wait().utf8.count == 350_000 - taken.count)
    }

    @Test("The number of dropped lines is reported later if the report itself was lost")
    func numberOfDroppedLinesIsReportedLater() throws {
        let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        let writer = LogWriter(descriptor: descriptor, limit: 64) { Array("dropped \($0)\n".utf8) }
        let tooLong = [UInt8](repeating: UInt8(ascii: "x"), count: 64) + [UInt8(ascii: "\n")]
        for _ in 0..<5 { writer.write(tooLong) }
        writer.write(Array("lost\n".utf8))
        #expect(writer.flush(within: .seconds(30)))
        // The disk has room again.
        let (read, write) = try openPipe()
        try #require(dup2(write, descriptor) == descriptor && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0)
        close(write)
        #expect(writer.flush(within: .seconds(30)))
        close(descriptor)
        #expect(readAll(read) == "dropped 6\n")
    }

    @Test("A closed pipe and a full disk don't stop the log") func closedPipeAndFullDiskDoNotStopLog() throws {
        signal(SIGPIPE, SIG_IGN)
        let (read, write) = try openPipe()
        close(read)
        let log = Log(level: .info, line: LogLine(format: .text, colours: false), descriptor: write)
        log.info("into the void")
        #expect(log.flush(within: .seconds(30)))
        close(write)

        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        let other = Log(level: .info, format: nil, descriptor: full)
        other.info("no space")
        #expect(other.flush(within: .seconds(30)))
    }
}

/// Reads a descriptor to its end on a thread of its own.
private final class OutputCollector: @unchecked Sendable {
    // Unchecked: `data` is written before `done` is signalled and read after it was awaited.
    private var data = Data()
    private let done = DispatchSemaphore(value: 0)

    init(descriptor: Int32) {
        Thread.detachNewThread { [self] in
            data = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readDataToEndOfFile()
            done.signal()
        }
    }

    func wait() -> String {
        done.wait()
        return String(decoding: data, as: UTF8.self)
    }
}
