package import Access
import Domain
import FoundationEssentials
import Server
import Sockets
import Wire

/// Finds the session that a request names, and checks what its sender may see and do there.
package struct SessionAccess: Sendable {
    let questions: Questions
    /// Whether ``QuestionSession/open`` exists.
    let hasOpenSession: Bool
    let identities: IdentityVerifier

    package init(questions: Questions, hasOpenSession: Bool, identities: IdentityVerifier) {
        self.questions = questions
        self.hasOpenSession = hasOpenSession
        self.identities = identities
    }

    // MARK: The session

    /// Returns the session that the path names.
    func session(of request: Request) throws(RequestError) -> UUID {
        guard let id = request.parameters["session"].flatMap(UUID.init(text:)) else {
            throw .invalid("The session in the path must be a UUID.")
        }
        guard hasOpenSession || id != QuestionSession.open.id else { throw .noSuchSession }
        return id
    }

    func entrance(of id: UUID) async throws -> SessionEntrance {
        guard let entrance = try await questions.feeds.look(at: id) else { throw RequestError.noSuchSession }
        return entrance
    }

    // MARK: The list of questions

    /// Returns the id of the last question that the client already has.
    func last(of request: Request) throws(RequestError) -> UUID? {
        guard let text = request.query("after") else { return nil }
        guard let last = UUID(text: text) else { throw .invalid("after", "must be the UUID of a question") }
        return last
    }

    /// Returns a page with all questions that the holder of these keys may see.
    func page(
        of id: UUID, after last: UUID?, keys: [PresenterKeyDigest]
    ) async throws -> (QuestionPage, isPresenter: Bool) {
        let isPresenter = try await entrance(of: id).isPresenter(keys)
        guard let page = try await questions.feeds.page(of: id, after: last, all: isPresenter, follows: false) else {
            throw RequestError.noSuchSession
        }
        return (page, isPresenter)
    }

    // MARK: The sender

    /// Returns the owner of a new session: the device in the body or in a ticket. A ticket must allow new sessions.
    func device(_ named: String?, of request: Request) throws -> DeviceID {
        var identity = try identities.identity(of: request.head)
        if named != nil || identity.device == nil {
            identity = try identities.identity(identity, naming: DeviceID(named))
        }
        try identity.check(.questions(UUID()))
        return try identity.device ?? DeviceID(nil)
    }

    /// Returns the member that wants to enter.
    func member(of entrance: SessionEntrance, _ request: Request) throws -> QuestionMember {
        let session = entrance.session.id
        // Cookies are accepted, because pages of other servers can't open a WebSocket here.
        let isPresenter = entrance.isPresenter(
            try PresenterCredentials(request, acceptsCookies: true).digests())
        // A presenter's `Authorization` contains the key. Other users may send a ticket there.
        let identity = try identities.identity(of: request.head, bearer: entrance.key == nil || !isPresenter)
        var isLive = false
        request.head.withQueryValue("live") { isLive = $0.elementsEqual("true".utf8) }
        return try questions.member(
            of: session, identity, isPresenter: isPresenter, holdsKey: isPresenter && entrance.key != nil,
            isLive: isLive)
    }
}

extension Questions {
    /// Returns a function that adds a WebSocket to the session as this member. If the session's feed is removed before
    /// the upgrade is complete, it is opened again.
    func enter(as member: QuestionMember, on loop: EventLoop) -> WebSocketRoute.OnUpgrade {
        { QuestionSocket($0, member, on: self.shard(on: $0.reactor, loop: loop)) }
    }
}
