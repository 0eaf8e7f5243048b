import Glibc

/// Keys, one by one and unseen, while this is held. They end with Ctrl-C or Ctrl-D, which therefore are keys like others: the
/// terminal has to be left as it was.
final class KeyPresses: @unchecked Sendable {
    // Sendable holds: nothing of it changes.

    let presses: AsyncStream<UInt8>
    /// Ends when a key says so, whatever becomes of those before it.
    let untilLeaving: AsyncStream<Void>
    private let before: termios

    /// - Returns: `nil` when the input is no terminal.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 else {
            return nil
        }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        // More keys than can be sent are no more cheers.
        let (presses, press) = AsyncStream<UInt8>.makeStream(bufferingPolicy: .bufferingNewest(20))
        self.presses = presses
        let (untilLeaving, leave) = AsyncStream<Void>.makeStream()
        self.untilLeaving = untilLeaving
        // A thread of its own, which waits for the next key until the process ends.
        Self.startThread {
            var key: UInt8 = 0
            while read(STDIN_FILENO, &key, 1) == 1, key != 3, key != 4 { press.yield(key) }
            press.finish()
            leave.finish()
        }
    }

    /// Leaves the terminal as it was.
    func restore() {
        var before = before
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        guard code == 0 else { return Unmanaged<Body>.fromOpaque(context).release() }
        // Nobody waits for it.
        pthread_detach(thread)
    }
}
