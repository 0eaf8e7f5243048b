import Domain
import Foundation
import ScheduleTestSupport
import Testing

@testable import Questions

/// A store with one session, and the key of its presenter.
struct QuestionSessionFixture {
    /// The time of the database's clock.
    static let now = "2026-11-22T10:00:00Z"

    let store: QuestionStore
    let session: QuestionSession
    let keys: [PresenterKeyDigest]

    init(
        _ database: ScheduleDatabase, moderated: Bool = false, settings: QuestionSettings = QuestionSettings(),
        storage: StorageLimits = StorageLimits()
    ) async throws {
        store = QuestionStore(database: database.client, settings: settings, storage: StorageQuota(storage))
        let key = try PresenterKey.random()
        session = try await store.makeSession(
            SessionRequest(device: DeviceID("speaker"), title: "Tea", isModerated: moderated), key: key)
        keys = [try key.digest()]
    }

    func ask(
        _ content: String, _ asker: UUID = UUID(), device: String? = nil, present: Duration = .zero
    ) async throws -> UUID {
        try await store.ask(
            content, in: session.id, asker: asker, device: device.map { try DeviceID($0) }, present: present
        ).id
    }

    func changed(after version: Int) async throws -> ChangedQuestions {
        try #require(try await store.changed(in: session.id, after: version))
    }

    func changes(after version: Int) async throws -> QuestionChanges.Part {
        try await store.changes(try await changed(after: version).marks).0
    }

    func announce(_ content: String = "Tea!", to recipients: Recipients = .all) async throws {
        _ = try await store.announce(
            AnnouncementRequest(content: content, recipients: recipients), in: session.id, keys: keys)
    }

    func moderate(_ question: UUID, _ action: QuestionAction, answer: String? = nil) async throws -> Question {
        try await store.moderate(question, action, answer: answer, keys: keys, opensAll: false).question
    }

    func vote(_ question: UUID, _ voter: UUID, isFor: Bool = true) async throws -> QuestionStore.VoteOutcome {
        try await store.count([Vote(session: session.id, question: question, voter: voter, isFor: isFor)])[0]
    }

    func page(after last: UUID? = nil, all: Bool = true) async throws -> QuestionPage {
        try #require(try await store.page(of: session.id, after: last, all: all))
    }
}
