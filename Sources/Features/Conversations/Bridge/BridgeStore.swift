import Domain
package import FoundationEssentials
package import Postgres

/// The outbox of messages for a broker. Every operation is one statement. Throws `PostgresError`.
package struct BridgeStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = [see, take, finish, release].map(\.name)

    private static let see = PostgresStatement(
        name: "touch_bridge", sql: "SELECT conversations.touch_bridge() AS waiting")
    private static let take = PostgresStatement(
        name: "lease_bridge_messages", sql: "SELECT * FROM conversations.lease_bridge_messages($1::uuid, $2, $3)")
    private static let finish = PostgresStatement(
        name: "finish_bridge_messages", sql: "SELECT conversations.finish_bridge_messages($1::bigint[])")
    private static let release = PostgresStatement(
        name: "release_bridge", sql: "SELECT conversations.release_bridge($1::uuid)")

    /// A message for the broker.
    package struct Outgoing: Sendable, Hashable {
        /// The message. `nil` if it or all its recipients were deleted.
        package let place: Int
        /// `nil` if the message or all its recipients were deleted.
        package let content: Content?

        package struct Content: Sendable, Hashable {
            package let message: ConversationMessage
            /// The names of the participants at the time of sending, in order, separated by dots.
            package let routingKey: String

            package init(message: ConversationMessage, routingKey: String) {
                self.message = message
                self.routingKey = routingKey
            }
        }

        package init(place: Int, content: Content?) {
            self.place = place
            self.content = content
        }
    }

    package struct Taken: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// The first messages, in order. At most the requested number.
            case messages([Outgoing])
            /// Another daemon publishes messages for at least this time.
            case held(for: Duration)
        }

        package let kind: Kind
        /// The number of waiting messages, counted up to 10,000.
        package let waiting: Int
    }

    private let database: PostgresClient
    private let daemon: UUID

    /// - Parameter daemon: This daemon's id.
    package init(database: PostgresClient, daemon: UUID) {
        self.database = database
        self.daemon = daemon
    }

    /// Records that a daemon has a broker. For a week after this, messages are written to the outbox.
    ///
    /// - Returns: The number of waiting messages, counted up to 10,000.
    @discardableResult
    package func see() async throws -> Int {
        try await database.query(Self.see, [])[0].integer("waiting")
    }

    /// Takes the first messages, and a lease. Other daemons get no messages until the lease ends.
    package func take(limit: Int, lease: Duration) async throws -> Taken {
        let rows = try await database.query(
            Self.take, [.text(daemon.text), .integer(limit), .double(lease / .seconds(1))])
        let first = rows[0]
        let waiting = try first.integer("waiting")
        if let seconds = try first.optionalDouble("held_for") {
            return Taken(kind: .held(for: .seconds(seconds)), waiting: waiting)
        }
        let messages = try rows.filter { try !$0.isNull("place") }.map { row in
            Outgoing(place: try row.integer("place"), content: try Self.content(row))
        }
        return Taken(kind: .messages(messages), waiting: waiting)
    }

    private static func content(_ row: PostgresRow) throws -> Outgoing.Content? {
        guard try !row.isNull("id"), try !row.isNull("author"), let key = try row.optionalString("routing_key") else {
            return nil
        }
        return Outgoing.Content(message: try ConversationMessage(row), routingKey: key)
    }

    /// Deletes messages that the broker has accepted, or that have no recipient any more.
    package func finish(_ messages: [Outgoing]) async throws {
        _ = try await database.query(Self.finish, [.integerArray(messages.map(\.place))])
    }

    /// Ends the lease, so that another daemon can take messages.
    package func release() async throws {
        _ = try await database.query(Self.release, [.text(daemon.text)])
    }
}
