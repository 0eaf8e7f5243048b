import Foundation
import TestSupport

/// A terminal in which the command runs, with its lines and its keys.
final class Terminal: Sendable {
    /// The pseudo-terminal between the command and the test.
    private static let program = "import pty, sys, os; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"

    private let process: ChildProcess
    private let connection: RawConnection
    private let received = EventRecorder<[UInt8]>(limit: 100_000)
    private let reading: Task<Void, Never>

    init(_ arguments: [String], state: String) async throws {
        let daemon = URL(fileURLWithPath: try DaemonProcess.executable())
        let command = daemon.deletingLastPathComponent().appendingPathComponent("letsswitch").path
        let environment = DaemonProcess.cleanEnvironment().merging(["XDG_STATE_HOME": state, "TZ": "UTC"]) { $1 }
        process = try await ChildProcess.start(
            "/usr/bin/python3", ["-c", Self.program, command] + arguments, environment: environment, converses: true)
        guard let conversation = process.conversation else { throw ClientFailure.misuse("no conversation") }
        connection = conversation
        reading = Task { [received, conversation] in
            while let bytes = try? await conversation.receive(upTo: 65_536, within: .seconds(600)), !bytes.isEmpty {
                received.append(bytes)
            }
            received.finish()
        }
    }

    deinit { reading.cancel() }

    /// The terminal's lines, including the status line.
    var lines: [String] {
        var lines = [""]
        // A line feed follows a carriage return. A carriage return alone means that the line is overwritten.
        let text = String(decoding: received.all.joined(), as: UTF8.self).replacing("\r\n", with: "\n")
        for part in text.split(separator: "\r\u{1B}[K", omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { lines[lines.count - 1] = "" }
            let new = part.element.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            lines[lines.count - 1] += new[0]
            lines += new.dropFirst()
        }
        return lines
    }

    /// Waits until a line contains a text.
    @discardableResult
    func shows(_ text: String) async throws -> String {
        var found: String?
        do {
            try await eventually("\(text) in a terminal") {
                found = lines.last { $0.contains(text) }
                return found != nil
            }
        } catch {
            throw ClientFailure.violation("\(text) isn't shown, but \(lines)")
        }
        return found ?? ""
    }

    func press(_ key: Character) async throws { try await connection.send(String(key)) }

    /// Waits for the command's end. After that, ``lines`` has all of its output.
    func end() async throws -> TestSupport.ExitStatus {
        let status = try await process.waitForExit()
        // The last output may arrive after the process has ended.
        await reading.value
        return status
    }
}
