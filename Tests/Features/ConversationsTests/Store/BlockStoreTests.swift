import Domain
import Features
import Foundation
import Postgres
import Reminders
import Schedule
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Blocks: their list, and their effect on conversations, matching and the day.
@Suite struct BlockStoreTests {
    private struct World {
        let database: ScheduleDatabase
        let blocks: BlockStore
        let conversations: ConversationStore

        init(_ database: ScheduleDatabase) {
            self.database = database
            blocks = BlockStore(database: database.client, storage: StorageQuota())
            conversations = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota())
        }

        func device(_ user: Int) -> DeviceID { DeviceID(stored: "d\(user)") }

        func name(_ users: ClosedRange<Int>) async throws {
            for user in users { _ = try await conversations.take(UserName("user\(user)"), for: device(user)) }
        }

        @discardableResult
        func block(_ user: Int, _ target: BlockRequest.Target) async throws -> (block: Block, isNew: Bool) {
            try await blocks.block(BlockRequest(device: device(user), target: target))
        }

        @discardableResult
        func block(_ user: Int, _ other: Int) async throws -> (block: Block, isNew: Bool) {
            try await block(user, .name(UserName("user\(other)")))
        }

        func register(_ user: Int, _ startsAt: String = "2026-11-22T11:00:00Z") async throws -> TaskResponse {
            try #require(try await database.register("d\(user)", startsAt).task)
        }

        func send(_ user: Int, to other: Int) async throws {
            _ = try await conversations.send(
                OutgoingMessage(content: "x", target: .participants([UserName("user\(other)")]), id: nil),
                by: device(user))
        }
    }

    private func with(_ body: (World) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z") { try await body(World($0)) }
    }

    @Test("A blocked user can't write to the blocker alone until the block is undone")
    func conversations() async throws {
        try await with { world in
            try await world.name(1...4)
            try await world.send(2, to: 1)
            let group = try await world.conversations.make(
                NewConversationRequest(
                    device: world.device(1), participants: [UserName("user2"), UserName("user3")], id: nil))
            let (block, isNew) = try await world.block(1, 2)
            #expect(isNew && block.label == .name("user2"))
            let again = try await world.block(1, 2)
            #expect(!again.isNew && again.block == block)
            #expect(try await code { try await world.send(2, to: 1) } == "blocked")
            #expect(try await code { try await world.send(1, to: 2) } == "blocked")
            let several = NewConversationRequest(
                device: world.device(2), participants: [try UserName("user1"), try UserName("user4")], id: nil)
            #expect(try await code { _ = try await world.conversations.make(several) } == "blocked")
            _ = try await world.conversations.send(
                OutgoingMessage(content: "to all", target: .conversation(group.conversation.id), id: nil),
                by: world.device(2))
            #expect(try await code { try await world.blocks.unblock(block.id, by: world.device(2)) } == "no_such_block")
            try await world.blocks.unblock(block.id, by: world.device(1))
            try await world.send(2, to: 1)
            for (user, other, refusal) in [(1, 9, "no_such_user"), (1, 1, "no_such_user"), (9, 1, "name_required")] {
                #expect(try await code { try await world.block(user, other) } == refusal)
            }
        }
    }

    @Test("A block in either direction prevents matching and joining")
    func pairing() async throws {
        try await with { world in
            let mine = try await world.register(1)
            #expect(try await code { try await world.block(1, .partner(task: mine.id)) } == "no_partner")
            _ = try await world.register(2)
            #expect(try await code { try await world.block(3, .partner(task: mine.id)) } == "no_such_task")
            let (block, isNew) = try await world.block(1, .partner(task: mine.id))
            #expect(isNew && block.label == .partner(title: "History", startsAt: mine.startsAt))
            let noon = "2026-11-22T12:00:00Z"
            #expect(try await !world.register(1, noon).isPaired)
            let day = { (user: Int) in
                try await world.database.run(
                    """
                    SELECT has_somebody_else AS there FROM schedule.day_schedule(
                        'd\(user)', 'UTC', NULL, \(Self.day), false) WHERE key = '12:00'
                    """)[0].boolean("there")
            }
            #expect(try await !day(2))
            #expect(try await day(3))
            #expect(try await !world.register(2, noon).isPaired)
            // Both wait. A third user is matched with the one that has waited longest.
            let third = try await world.register(3, noon)
            #expect(third.isPaired)
            #expect(try await world.register(4, noon).isPaired)
            try await world.blocks.unblock(block.id, by: world.device(1))
            _ = try await world.register(1, "2026-11-22T13:00:00Z")
            #expect(try await world.register(2, "2026-11-22T13:00:00Z").isPaired)
        }
    }

    @Test(
        "Two waiting users are matched after both blocks are undone"
    )
    func undone() async throws {
        try await with { world in
            try await world.name(1...2)
            let (block, _) = try await world.block(1, 2)
            let (mutual, _) = try await world.block(2, 1)
            let starts = ["2026-11-22T11:00:00Z", "2026-11-22T12:00:00Z", "2026-11-22T13:00:00Z"]
            for start in starts {
                for user in 1...2 { #expect(try await !world.register(user, start).isPaired) }
            }
            // At eleven o'clock's start the lead has passed. At one o'clock's start d1 waits for an invited guest.
            try await world.database.setClock("2026-11-22 10:59:10Z")
            _ = try await world.database.reminders.claimDue(limit: 10)
            try await world.database.run(
                """
                UPDATE schedule.task SET invites_until = starts_at - interval '5 minutes'
                WHERE device_id = 'd1' AND starts_at = '\(starts[2])'
                """)
            try await world.blocks.unblock(block.id, by: world.device(1))
            #expect(try await world.database.count("schedule.task WHERE partner_id IS NOT NULL") == 0)
            try await world.blocks.unblock(mutual.id, by: world.device(2))
            let pairs = try await world.database.run(
                """
                SELECT count(*) FILTER (WHERE starts_at < '\(starts[2])') AS paired, count(*) AS n,
                    count(DISTINCT room_id) AS rooms, min(room_id::text) FILTER (WHERE starts_at = '\(starts[0])') AS open,
                    count(*) FILTER (WHERE rematched_at IS NOT NULL AND starts_at = '\(starts[0])') AS notified
                FROM schedule.task WHERE partner_id IS NOT NULL
                """)[0]
            #expect(try pairs.integer("paired") == 4 && pairs.integer("n") == 4 && pairs.integer("rooms") == 2)
            #expect(try pairs.integer("notified") == 2)
            let room = try pairs.string("open")
            let found = try await world.database.run("SELECT state FROM schedule.find_room('\(room)')")[0]
            #expect(try found.string("state") == "open")
            _ = try await world.database.reminders.claimDue(limit: 10)
            #expect(try await world.register(1, starts[0]).isPaired)
            #expect(try await code { try await world.blocks.unblock(block.id, by: world.device(1)) } == "no_such_block")
        }
    }

    @Test(
        "Two users who register while their block is being undone are matched")
    func undoneMeanwhile() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z", connections: 4) { database in
            let world = World(database)
            try await world.name(1...2)
            let (block, _) = try await world.block(1, 2)
            let holder = try await PostgresSession.connect(database.configuration)
            try await holder.execute("BEGIN; SELECT FROM core.block FOR UPDATE")
            // The statement has found no waiting task, and waits for the block's row. It runs on its own connection, so
            // that no other statement waits behind it.
            let other = PostgresClient(configuration: database.configuration)
            let undoing = Task {
                try await BlockStore(database: other).unblock(block.id, by: world.device(1))
                await other.shutdown()
            }
            try await eventually("the undoing to wait for the row") {
                try await database.run(
                    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                ).count == 1
            }
            for user in 1...2 { #expect(try await !world.register(user).isPaired) }
            try await holder.execute("COMMIT")
            await holder.close()
            try await undoing.value
            #expect(try await database.count("schedule.task WHERE partner_id IS NOT NULL") == 2)
        }
    }

    @Test("A user whose partner left isn't matched again with a blocked user")
    func pairingAnew() async throws {
        try await with { world in
            try await world.name(1...4)
            let first = try await world.register(1)
            _ = try await world.register(2)
            try await world.block(2, 3)
            #expect(try await !world.register(3).isPaired)
            let left = try await world.database.run(
                "SELECT code, is_paired FROM schedule.leave_task('d1', '\(first.id)', 300)")
            #expect(try left.map { try $0.string("code") } == ["left", "stayed"])
            #expect(try !left[1].boolean("is_paired"))
            // A new user is matched with the one that has waited longest.
            #expect(try await world.register(4).isPaired)
        }
    }

    /// 2026-11-22, in days since 1970.
    private static let day = 20_779

    @Test("A device's list of blocks has pages and a limit")
    func listing() async throws {
        try await with { world in
            try await world.name(1...3)
            try await world.database.run(
                """
                INSERT INTO core.block (id, device_id, blocked_id, name, blocked_at)
                SELECT gen_random_uuid(), 'd1', 'x' || n, 'x' || n, core.clock() - make_interval(secs => n)
                FROM generate_series(1, 999) AS n
                """)
            try await world.block(1, 2)
            #expect(try await !world.block(1, 2).isNew)
            #expect(try await code { try await world.block(1, 3) } == "too_many_blocks")
            var limits = StorageLimits()
            limits.blocks = 1
            let full = BlockStore(database: world.database.client, storage: StorageQuota(limits))
            func ask(_ user: Int, _ other: Int) throws -> BlockRequest {
                BlockRequest(device: world.device(user), target: .name(try UserName("user\(other)")))
            }
            #expect(try await full.block(ask(3, 2)).isNew)
            #expect(try await !full.block(ask(3, 2)).isNew)
            #expect(try await code { _ = try await full.block(ask(3, 1)) } == "storage_full")
            var (names, last): ([Block.Label], UUID?) = ([], nil)
            while true {
                let (blocks, hasMore) = try await world.blocks.blocks(of: world.device(1), before: last)
                names += blocks.map(\.label)
                last = blocks.last?.id
                if !hasMore { break }
            }
            #expect(names == [.name("user2")] + (1...999).map { .name("x\($0)") })
            #expect(try await world.blocks.blocks(of: world.device(2)).blocks.isEmpty)
        }
    }

    @Test("An erased device's blocks are deleted in both directions")
    func erasing() async throws {
        try await with { world in
            try await world.name(1...3)
            for (user, other) in [(1, 2), (2, 3), (3, 1)] { try await world.block(user, other) }
            var hasMore = try await world.database.erasures.erase(world.device(2))
            while hasMore { hasMore = try await world.database.erasures.eraseMore(limit: 1) }
            #expect(try await world.blocks.blocks(of: world.device(1)).blocks.isEmpty)
            #expect(try await world.blocks.blocks(of: world.device(3)).blocks.count == 1)
            #expect(try await world.database.count("core.block") == 1)
            #expect(try await world.database.count("core.erasure") == 0)
        }
    }
}
