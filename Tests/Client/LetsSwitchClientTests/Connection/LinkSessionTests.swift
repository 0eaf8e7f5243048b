import TestSupport
import Testing

@testable import LetsSwitchClient

/// A session whose link is read no faster than its reader reads.
@Suite struct LinkSessionTests {
    private let clock = ManualTime()
    private let link = PlayedLink { _, _ in }

    /// One for which a hundred messages wait, of which it takes four.
    private func heldBack() async throws -> LinkSession {
        for number in 0..<100 { link.say("\(number)") }
        let link = link
        let session = LinkSession(
            .default, silence: .seconds(45), holdsBack: true, capacity: 8, time: clock.time, connect: { _ in link })
        guard case .opened? = try await session.next() else { throw ClientFailure.violation("it isn't open") }
        try await link.taken(4)
        try await eventually("the link to be held back") { await session.isPaused }
        return session
    }

    @Test("A reader that takes its time has all that was said, and the server's silence is none meanwhile")
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

    @Test("Who says goodbye reads on up to the answer, though nobody takes what comes before it")
    func cancelled() async throws {
        let session = try await heldBack()
        link.close(.goingAway)
        await session.cancel(with: .goingAway)
        try await link.sent.next("a close frame") { $0 == .close(.goingAway) }
        var last: LinkSession.Event?
        while let event = try await session.next() { last = event }
        guard case .closed(.goingAway)? = last else { throw ClientFailure.violation("\(String(describing: last))") }
    }

    /// `@unchecked Sendable`: it is set before anybody else has it.
    private final class Reference: @unchecked Sendable {
        private(set) weak var session: LinkSession?
        init(_ session: LinkSession) { self.session = session }
    }

    @Test("Where it ends while the link isn't read, nothing is left of it")
    func dropped() async throws {
        let reference: Reference
        do {
            let session = try await heldBack()
            reference = Reference(session)
            await session.fail(.sentAway("away"))
            await #expect(throws: ClientError.sentAway("away")) { while try await session.next() != nil {} }
        }
        // Whoever sleeps holds it.
        clock.advance(to: .seconds(1000))
        try await eventually("the session to be gone") { reference.session == nil }
    }
}
