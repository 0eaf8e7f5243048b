import Server
import Wire

/// The one drain of a daemon. A command that comes while another one drains takes its place, and its own rate holds.
actor ConnectionDrain {
    private let application: Application
    /// Of the command that drains; `nil` when none does.
    private var rate: Int?
    private var commands = 0

    init(_ application: Application) {
        self.application = application
    }

    /// Lets go of so many connections a second, and says each second how many are left; returns when there are none. It goes on when
    /// nobody listens to that any more. Those who watch the daemon go on watching it.
    ///
    /// - Throws: ``ControlFailure`` when another command goes on in its place.
    func run(perSecond rate: Int, _ reply: ControlReply) async throws {
        commands += 1
        let own = commands
        if let before = self.rate { reply.note("this takes the place of a drain at \(before) a second") }
        self.rate = rate
        await application.beginDrain(keeping: .operators)
        while own == commands {
            let left = await application.endSome(rate, keeping: .operators)
            reply.row { $0.member("left", left) }
            guard left > 0 else {
                if own == commands { self.rate = nil }
                return
            }
            try await Task.sleep(for: .seconds(1))
        }
        throw ControlFailure("another command goes on with the drain, at its own rate")
    }
}
