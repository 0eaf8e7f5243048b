package import Server
import Wire

/// The one drain of a daemon. A command that comes while another one drains takes its place, and its own rate holds.
package actor ConnectionDrain {
    private let application: Application
    private let watchers: Audience
    /// Of the command that drains; `nil` when none does.
    private var rate: Int?
    private var commands = 0

    /// - Parameter watchers: Those who watch the daemon: they go on watching it.
    package init(_ application: Application, keeping watchers: Audience) {
        self.application = application
        self.watchers = watchers
    }

    /// Lets go of so many connections a second, and says each second how many are left; returns when there are none. It goes on when
    /// nobody listens to that any more.
    ///
    /// - Throws: ``ControlFailure`` when another command goes on in its place.
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
