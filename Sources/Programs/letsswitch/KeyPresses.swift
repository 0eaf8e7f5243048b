import Glibc

/// The terminal's original settings, for the signal handler. They are set once, before the handler is installed. A
/// global `termios` value would be too small: the compiler leaves out the trailing padding of a statically initialized
/// C structure.
private nonisolated(unsafe) var settingsBefore: UnsafeMutablePointer<termios>?

/// Reads single keys without echo. Ctrl-C and Ctrl-D end the streams instead of the process, because the terminal's
/// settings have to be restored first.
final class KeyPresses: @unchecked Sendable {
    // Unchecked, but safe: all properties are constants.

    let presses: AsyncStream<UInt8>
    /// Ends at Ctrl-C, Ctrl-D or the end of the input, even if earlier keys haven't been processed.
    let untilLeaving: AsyncStream<Void>
    private let before: termios

    /// - Returns: `nil` if the input isn't a terminal.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 else {
            return nil
        }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        Self.restoreOnSignals(before)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        // Keys beyond the newest 20 are dropped.
        let (presses, press) = AsyncStream<UInt8>.makeStream(bufferingPolicy: .bufferingNewest(20))
        self.presses = presses
        let (untilLeaving, leave) = AsyncStream<Void>.makeStream()
        self.untilLeaving = untilLeaving
        // The thread waits for keys until the process ends.
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

    /// Returns the first byte of each key. An arrow key has three bytes, and a character outside ASCII has several.
    static func keys(in bytes: some Collection<UInt8>) -> [UInt8] {
        var (keys, rest): ([UInt8], _) = ([], bytes[...])
        while let key = rest.popFirst() {
            if key & 0xC0 != 0x80 { keys.append(key) }
            guard key == 0x1B, let kind = rest.first, kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else {
                continue
            }
            rest.removeFirst()
            // Skips the parameters, up to the byte that ends the sequence (ECMA-48 §5.4).
            while let byte = rest.popFirst(), !(0x40...0x7E).contains(byte) {}
        }
        return keys
    }

    /// Restores the terminal's original settings.
    func restore() {
        var before = before
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// Installs handlers that restore the terminal's settings and then end the process by the same signal.
    private static func restoreOnSignals(_ before: termios) {
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        settings.initialize(to: before)
        settingsBefore = settings
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                // Uses only async-signal-safe calls. If this process is in the background, a different process group
                // uses the terminal.
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
        // The thread is never joined.
        pthread_detach(thread)
    }
}
