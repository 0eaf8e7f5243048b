import Basics

/// Permission to add rows to a table, or the reason why they can't be added.
package struct StorageRoom: Sendable {
    let table: StoredTable
    let count: Int
    /// The client whose networks have paid for the rows.
    var requester: Requester?
    package var refusal: RequestError?

    package var isFree: Bool { refusal == nil }
}

extension StorageQuota {
    /// Reserves space for `count` new rows, from the table's limit and from the shares of the current requester's
    /// networks. The caller reports with ``added(_:)`` that it has used the space, or gives it back.
    package func room(for table: StoredTable, count: Int = 1) -> StorageRoom {
        guard !isFull(table) else { return StorageRoom(table: table, count: count, refusal: .storageFull(table)) }
        guard let requester = Requester.current else { return StorageRoom(table: table, count: count) }
        let wait = shares.withLock {
            $0.pay(
                count, for: table, of: requester, limit: limits[table], time: limits.retention(of: table), at: .now())
        }
        return StorageRoom(
            table: table, count: count, requester: wait == nil ? requester : nil,
            refusal: wait.map { .shareUsed(table, retryAfter: $0) })
    }

    /// Returns the result of `work`. Gives the space back if `work` throws.
    package func using<Value>(_ room: StorageRoom, _ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch {
            giveBack(room)
            throw error
        }
    }

    /// Gives back the space of rows that weren't added: all of them, or those beyond `used`.
    package func giveBack(_ room: StorageRoom, used: Int = 0) {
        guard let requester = room.requester, used < room.count else { return }
        shares.withLock {
            $0.giveBack(
                room.count - used, for: room.table, of: requester, limit: limits[room.table],
                time: limits.retention(of: room.table))
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
