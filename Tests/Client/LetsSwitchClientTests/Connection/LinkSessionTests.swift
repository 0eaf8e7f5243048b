import TestSupport
import Testing

@testable import LetsSwitchClient

/// A session that reads from its link only as fast as its reader reads.
@Suite struct LinkSessionTests {
    private let clock = ManualTime()
    private let link = SimulatedLink { _, _ in }

    /// Returns a session that has taken four of 100 messages and has paused.
    private func heldBack() async throws -> LinkSession {
        for number in 0..<100 { link.deliver("\(number)") }
        let link = link
        let session = LinkSession(
            .default, silence: .seconds(45), holdsBack: true, capacity: 8, time: clock.time, connect: { _ in link })
        guard case .opened? = try await session.next() else { throw ClientFailure.violation("it isn't open") }
        try await link.taken(4)
        try await eventually("the link to be held back") { await session.isPaused }
        return session
    }

    @Test("A slow reader receives all messages, and its pauses don't count as silence")
    func slowReader() async throws {
        let session = try await heldBack()
        for number in 1...4 { try await clock.pass(.seconds(22.5) * number) }
        for number in 0..<100 {
            guard case .received(let event)? = try await session.next() else {
                Issue.record("\(number) isn't there")
                return
            }
            #expect(event == .message(.text, Array("\(number)".utf8)))
        }
        #expect(link.drops.all.isEmpty)
        await session.fail(.cancelled)
    }

    @Test("A closing session reads up to the close frame, even without a reader")
    func cancelled() async throws {
        let session = try await heldBack()
        link.close(.goingAway)
        await session.cancel(with: .goingAway)
        try await link.sent.next("a close frame") { $0 == .close(.goingAway) }
        var last: LinkSession.Event?
        while let event = try await session.next() { last = event }
        guard case .closed(.goingAway)? = last else { throw ClientFailure.violation("\(String(describing: last))") }
    }

    /// `@unchecked Sendable` is safe: the value is set before another task has it.
    private final class Reference: @unchecked Sendable {
        private(set) weak var session: LinkSession?
        init(_ session: LinkSession) { self.session = session }
    }

    @Test("A session that ends while reading is paused leaves nothing behind")
    func dropped() async throws {
        let reference: Reference
        do {
            let session = try await heldBack()
            reference = Reference(session)
            await session.fail(.sentAway("away"))
            await #expect(throws: ClientError.sentAway("away")) { while try await session.next() != nil {} }
        }
        // A sleeping task holds the session.
        clock.advance(to: .seconds(1000))
        try await eventually("the session to be gone") { reference.session == nil }
    }
}
