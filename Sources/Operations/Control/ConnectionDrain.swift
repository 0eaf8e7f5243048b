package import Server
import Wire

/// The drain of a daemon. At most one drain runs. A new command replaces the running one and sets its own rate.
package actor ConnectionDrain {
    private let application: Application
    private let watchers: Audience
    /// The number of connections that the running command closes per second. `nil` when no drain runs.
    private var rate: Int?
    private var commands = 0

    /// - Parameter watchers: The clients that watch the daemon. Their connections stay open.
    package init(_ application: Application, keeping watchers: Audience) {
        self.application = application
        self.watchers = watchers
    }

    /// Closes `rate` connections per second and reports each second how many are left. Returns when none are left. The
    /// drain continues if the command's client disconnects.
    ///
    /// - Throws: ``ControlFailure`` when another command replaces this one.
    func run(perSecond rate: Int, _ reply: ControlReply) async throws {
        commands += 1
        let own = commands
        if let before = self.rate { reply.note("this replaces a drain at \(before) connections per second") }
        self.rate = rate
        await application.beginDrain(keeping: watchers)
        while own == commands {
            let left = await application.endSome(rate, keeping: watchers)
            reply.row { $0.member("left", left) }
            guard left > 0 else {
                if own == commands { self.rate = nil }
                return
            }
            try await Task.sleep(for: .seconds(1))
        }
        throw ControlFailure("another drain command has replaced this one")
    }
}
