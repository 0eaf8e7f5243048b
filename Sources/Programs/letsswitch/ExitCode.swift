import LetsSwitchClient

/// The exit status. The numbers are those of sysexits.h.
enum ExitCode: Int32 {
    case done = 0
    /// The server refused the request.
    case refused = 1
    case usage = 64
    case unreachable = 69
    /// The output couldn't be written.
    case output = 74

    /// The status for an error.
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
