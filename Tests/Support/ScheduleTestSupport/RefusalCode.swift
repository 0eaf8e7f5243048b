import Domain

/// Returns the code with which a call is refused, or `nil` if it succeeds.
package func code(_ body: () async throws -> Void) async throws -> String? {
    do {
        try await body()
        return nil
    } catch let error as RequestError {
        return error.code
    }
}
