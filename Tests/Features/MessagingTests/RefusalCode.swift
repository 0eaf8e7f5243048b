import Domain

/// The code with which a call is refused, or nil when it isn't.
func code(_ body: () async throws -> Void) async throws -> String? {
    do {
        try await body()
        return nil
    } catch let error as RequestError {
        return error.code
    }
}
