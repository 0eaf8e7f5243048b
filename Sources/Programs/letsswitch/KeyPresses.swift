import Glibc

/// The terminal's settings before, for a signal's handler. Set before there is one, and never again. A `termios` in itself would have too
/// little memory: the compiler leaves out the padding of a C structure that it makes before the program runs.
private nonisolated(unsafe) var settingsBefore: UnsafeMutablePointer<termios>?

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
        Self.restoreOnSignals(before)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        // More keys than can be sent are no more cheers.
        let (presses, press) = AsyncStream<UInt8>.makeStream(bufferingPolicy: .bufferingNewest(20))
        self.presses = presses
        let (untilLeaving, leave) = AsyncStream<Void>.makeStream()
        self.untilLeaving = untilLeaving
        // A thread of its own, which waits for the next key until the process ends.
        Self.startThread {
            var bytes = [UInt8](repeating: 0, count: 256)
            reading: while true {
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                guard count > 0 else { break }
                for key in Self.keys(in: bytes[..<count]) {
                    if key == 3 || key == 4 { break reading }
                    press.yield(key)
                }
            }
            press.finish()
            leave.finish()
        }
    }

    /// The first byte of each key: an arrow has three, as a letter beyond ASCII has some.
    static func keys(in bytes: some Collection<UInt8>) -> [UInt8] {
        var (keys, rest): ([UInt8], _) = ([], bytes[...])
        while let key = rest.popFirst() {
            if key & 0xC0 != 0x80 { keys.append(key) }
            guard key == 0x1B, let kind = rest.first, kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else {
                continue
            }
            rest.removeFirst()
            // Parameters, up to the byte that ends the sequence (ECMA-48 §5.4).
            while let byte = rest.popFirst(), !(0x40...0x7E).contains(byte) {}
        }
        return keys
    }

    /// Leaves the terminal as it was.
    func restore() {
        var before = before
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// Who is ended from outside leaves the terminal as it was, too, and dies of the signal all the same.
    private static func restoreOnSignals(_ before: termios) {
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        settings.initialize(to: before)
        settingsBefore = settings
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                // Nothing here but what a handler may do. In the background the terminal is somebody else's.
                if let settingsBefore, tcgetpgrp(STDIN_FILENO) == getpgrp() {
                    tcsetattr(STDIN_FILENO, TCSANOW, settingsBefore)
                }
                signal(number, SIG_DFL)
                raise(number)
            }
        }
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
