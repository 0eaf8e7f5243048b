package import Basics

extension BatchOutcome {
    /// - Parameter isDivisible: Whether half of a batch may be taken where the whole is not.
    package init(_ error: any Error, isDivisible: Bool) {
        guard let failure = error as? PostgresError else {
            self = .failed(error)
            return
        }
        if failure.isUnavailable {
            self = .unavailable(error)
        } else if isDivisible, case .server = failure.kind {
            self = .refused(error)
        } else {
            self = .failed(error)
        }
    }
}
