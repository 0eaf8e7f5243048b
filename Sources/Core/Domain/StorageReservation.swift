import Basics

/// A reservation of space for new rows in a table, or the reason why the rows can't be added.
package struct StorageReservation: Sendable {
    let table: StoredTable
    let count: Int
    /// The client whose networks were charged for the rows. `nil` if no network was charged.
    var requester: Requester?
    package var refusal: RequestError?

    package var isGranted: Bool { refusal == nil }
}

extension StorageQuota {
    /// Reserves space for `count` new rows of a table. Refuses if the table has reached its limit. Otherwise charges
    /// the rows to the shares of the current requester's networks. The caller reports each added row with
    /// ``added(_:)``, and gives back the space of rows that weren't added.
    package func reserve(in table: StoredTable, count: Int = 1) -> StorageReservation {
        guard !isFull(table) else {
            return StorageReservation(table: table, count: count, refusal: .storageFull(table))
        }
        guard let requester = Requester.current else { return StorageReservation(table: table, count: count) }
        let wait = shares.withLock {
            $0.pay(
                count, for: table, of: requester, limit: limits[table], time: limits.retention(of: table), at: .now())
        }
        return StorageReservation(
            table: table, count: count, requester: wait == nil ? requester : nil,
            refusal: wait.map { .shareUsed(table, retryAfter: $0) })
    }

    /// Returns the result of `work`. Gives back the reserved space if `work` throws.
    package func using<Value>(
        _ reservation: StorageReservation, _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch {
            giveBack(reservation)
            throw error
        }
    }

    /// Gives back the reserved space of rows that weren't added: the space of all rows except `used` of them.
    package func giveBack(_ reservation: StorageReservation, used: Int = 0) {
        guard let requester = reservation.requester, used < reservation.count else { return }
        shares.withLock {
            $0.giveBack(
                reservation.count - used, for: reservation.table, of: requester, limit: limits[reservation.table],
                time: limits.retention(of: reservation.table))
        }
    }
}

extension RequestError {
    /// The client's address has reached its daily limit of registrations.
    package static func tooManyRegistrations(retryAfter: Int) -> RequestError {
        RequestError(
            status: 429, code: "too_many_registrations",
            reason: "This address has reached its daily limit of registrations. Try again later.",
            retryAfter: retryAfter)
    }

    /// The requester's network has used up its share of the table's limit.
    static func shareUsed(_ table: StoredTable, retryAfter: Int) -> RequestError {
        let isMessaging = [StoredTable.questions, .votes, .messages].contains(table)
        return RequestError(
            status: 429, code: isMessaging ? "too_many_messages" : "too_many_registrations",
            reason:
                "This network has added its share of the \(table.rawValue) that this server keeps. Try again later.",
            retryAfter: retryAfter, quota: table.quota)
    }
}
