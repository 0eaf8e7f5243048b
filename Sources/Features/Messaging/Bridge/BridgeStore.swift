import Domain
package import FoundationEssentials
package import Postgres

/// The outbox of what goes to a broker. Every operation is one statement. Throws `PostgresError`.
package struct BridgeStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = [see, take, finish, release].map(\.name)

    private static let see = PostgresStatement(name: "see_bridge", sql: "SELECT letsswitch.see_bridge() AS waiting")
    private static let take = PostgresStatement(
        name: "take_bridge_messages", sql: "SELECT * FROM letsswitch.take_bridge_messages($1::uuid, $2, $3)")
    private static let finish = PostgresStatement(
        name: "finish_bridge_messages", sql: "SELECT letsswitch.finish_bridge_messages($1::bigint[])")
    private static let release = PostgresStatement(
        name: "release_bridge", sql: "SELECT letsswitch.release_bridge($1::uuid)")

    /// A message on its way out.
    package struct Outgoing: Sendable, Hashable {
        /// In the outbox.
        package let place: Int
        /// `nil`: nothing is left of it, or of those it was for.
        package let content: Content?

        package struct Content: Sendable, Hashable {
            package let message: ConversationMessage
            /// The names of those who were inside when it was said, in order, with dots between them.
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
            /// In order, as many as were asked for, or all.
            case messages([Outgoing])
            /// Another daemon sends, for so long at least.
            case held(for: Duration)
        }

        package let kind: Kind
        /// How many wait, counted to 10,000.
        package let waiting: Int
    }

    private let database: PostgresClient
    private let daemon: UUID

    /// - Parameter daemon: Who takes, and is known by it to the others.
    package init(database: PostgresClient, daemon: UUID) {
        self.database = database
        self.daemon = daemon
    }

    /// Says that there is a daemon with a broker: from then on, for a week, what is said goes into the outbox.
    ///
    /// - Returns: How many messages wait, counted to 10,000.
    @discardableResult
    package func see() async throws -> Int {
        try await database.query(Self.see, [])[0].integer("waiting")
    }

    /// What is to go out first. As long as the lease lasts, nobody else gets anything.
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

    /// The broker has them, or nobody is to get them.
    package func finish(_ messages: [Outgoing]) async throws {
        _ = try await database.query(Self.finish, [.integerArray(messages.map(\.place))])
    }

    /// Another daemon may take.
    package func release() async throws {
        _ = try await database.query(Self.release, [.text(daemon.text)])
    }
}
