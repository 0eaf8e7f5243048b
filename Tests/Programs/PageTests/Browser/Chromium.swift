import Foundation
import Glibc
import TestSupport

/// A headless Chromium for all tests of the process. Each page has its own storage, like the browser of another user.
actor Chromium {
    /// The headless shell if it is installed, because it takes less than half of the processor time. It shows no
    /// notifications. Debian's script for it isn't used: it waits for the browser, and leaves it running if the script
    /// is killed.
    static let shared = Chromium(["/usr/lib/chromium/chromium-headless-shell"] + browsers)
    /// The whole browser.
    static let whole = Chromium(browsers)

    /// A name for this machine that browsers don't trust, unlike localhost.
    static let untrustedName = "letsswitch.test"

    static var isInstalled: Bool { whole.executable != nil }
    private static let browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

    private let executable: String?
    private var starting: Task<(ChildProcess, DevTools), any Error>?

    private init(_ candidates: [String]) {
        executable = candidates.first { access($0, X_OK) == 0 }
    }

    func devTools() async throws -> DevTools { try await started().1 }

    /// The process that is killed when the tests end.
    func pid() async throws -> Int32 { try await started().0.pid }

    private func started() async throws -> (ChildProcess, DevTools) {
        guard let executable else { throw ClientFailure.misuse("there is no Chromium") }
        let task = starting ?? Task { try await Self.start(executable) }
        starting = task
        return try await task.value
    }

    private enum Sandbox {
        case its, none
    }

    /// Starts Chromium with its sandbox if that is possible.
    ///
    /// The sandbox refuses root. It needs unprivileged namespaces or a set-user-ID helper, and neither may be available
    /// in containers, in chroots or under AppArmor. Chromium then ends before it prints its address. The tests show
    /// only our own pages, so Chromium may run without the sandbox.
    private static func start(_ executable: String) async throws -> (ChildProcess, DevTools) {
        guard geteuid() != 0 else { return try await start(executable, .none) }
        do {
            return try await start(executable, .its)
        } catch ClientFailure.ended(_, let words) {
            do {
                let started = try await start(executable, .none)
                SkippedTests.report("Chromium's sandbox: none is usable here, so the tests of the page run it without")
                return started
            } catch {
                throw ClientFailure.violation("\(error); before, with its sandbox: \(words)")
            }
        }
    }

    private static func start(_ executable: String, _ sandbox: Sandbox) async throws -> (ChildProcess, DevTools) {
        // Removed when the process exits.
        let profile = TestClusterDirectories.shared.make()
        var arguments = [
            "--headless=new", "--remote-debugging-port=0", "--user-data-dir=\(profile)", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
            "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding", "--host-resolver-rules=MAP \(untrustedName) 127.0.0.1",
        ]
        if sandbox == .none { arguments.append("--no-sandbox") }
        let process = try await ChildProcess.start(
            executable, arguments + ["about:blank"],
            environment: DaemonProcess.cleanEnvironment().merging(["HOME": profile, "TMPDIR": profile]) { $1 })
        let prefix = "DevTools listening on ws://"
        let line = try await process.lines.next("Chromium's address") { $0.text.hasPrefix(prefix) }.text
        let address = line.dropFirst(prefix.count)
        guard let slash = address.firstIndex(of: "/"), let endpoint = ClientEndpoint(String(address[..<slash])) else {
            throw ClientFailure.violation("no address: \(line)")
        }
        return (process, try await DevTools.connect(to: endpoint, String(address[slash...])))
    }
}
