import Foundation
import TestSupport
import Testing

@testable import letsswitch

/// Tests of the shell completions and the manual page.
@Suite struct CompletionTests {
    private static let directory = Checkout.url("Sources/Programs/letsswitch")

    /// The commands, which are the first words of the help's lines.
    private static let commands = Set(
        Help.text.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            return line.hasPrefix("  letsswitch ") ? words.dropFirst().first.map(String.init) : nil
        })

    private static func offered(_ words: String...) async throws -> Set<String> {
        let program = """
            . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _letsswitch "$1"; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let script = directory.appendingPathComponent("completions/letsswitch.bash").path
        let bash = try await ChildProcess.start(
            "/bin/bash", ["-c", program, "bash", script, "letsswitch"] + words,
            environment: DaemonProcess.cleanEnvironment())
        #expect(try await bash.waitForExit() == .exited(0))
        return Set(bash.text(of: .output).split(separator: "\n").map(String.init))
    }

    @Test("bash completes every command of the help, and each command's options")
    func bash() async throws {
        #expect(try await Self.offered("") == Self.commands.union(["help"]))
        #expect(try await Self.offered("cheer", "R", "--k") == ["--kind"])
        #expect(try await Self.offered("cheer", "R", "--kind", "c") == ["clap"])
        #expect(try await Self.offered("promise", "--").isSuperset(of: ["--at", "--zone", "--server", "--device"]))
        #expect(try await Self.offered("promise", "T", "--i") == ["--invite"])
        #expect(try await Self.offered("pref") == ["prefer", "preferences"])
    }

    @Test(
        "The manual page and the completions of zsh and fish have every command",
        arguments: [
            "letsswitch.1", "completions/_letsswitch", "completions/letsswitch.fish",
        ])
    func others(file: String) throws {
        let text = try String(contentsOf: Self.directory.appendingPathComponent(file), encoding: .utf8)
        #expect(Self.commands.count > 10)
        for command in Self.commands { #expect(text.contains(command), "\(command)") }
        #expect(text.contains("kind"))
    }
}
