import LetsSwitchClient

/// What the shell is told (sysexits.h).
enum ExitCode: Int32 {
    case done = 0
    /// The server said no.
    case refused = 1
    case usage = 64
    case unreachable = 69
    /// What was to be told couldn't be written.
    case output = 74

    /// Of what has ended in an error.
    init(_ error: any Error) {
        switch error {
        case is UsageError: self = .usage
        case is OutputFailure: self = .output
        case let error as ClientError:
            switch error {
            case .unreachable, .untrusted: self = .unreachable
            case .invalidAddress, .invalidValue: self = .usage
            case .refused, .garbled, .closed, .sentAway, .rejected, .bufferFull, .cancelled: self = .refused
            }
        default: self = .refused
        }
    }
}
