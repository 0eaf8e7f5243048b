package import FoundationEssentials
package import Server
package import Wire

/// The pages about questions: those of a session, which are live, and those that work without JavaScript.
///
/// Made ready at the first request: a daemon that nobody visits by browser need not have OpenSSL and zlib in memory for them.
package actor LivePages {
    /// What of a session is on its pages from the start; the rest comes over the WebSocket.
    package struct Session: Sendable {
        let id: UUID
        let title: String
        let isOpen: Bool
        let isModerated: Bool

        package init(id: UUID, title: String, isOpen: Bool, isModerated: Bool) {
            self.id = id
            self.title = title
            self.isOpen = isOpen
            self.isModerated = isModerated
        }
    }

    private var ready: QuestionDocument?

    package init() {}

    /// The audience's page: asks, votes, sees answers.
    ///
    /// - Throws: ``CryptoError`` when there is no SHA-256; so do the others.
    package func audience(_ session: Session, to head: HTTPRequestHead) throws -> Response {
        try page(of: session, role: "audience", invitation: "", head)
    }

    /// The presenter's page: approves, dismisses, answers, reopens, announces, closes; and invites.
    ///
    /// - Parameter origin: Where people reach this server: `https://example.org`.
    package func presenter(_ session: Session, origin: String, to head: HTTPRequestHead) throws -> Response {
        let address = "\(origin)/questions/\(session.id.uuidString)"
        let image = QRCode(address).map { $0.svg(label: "QR code of \(address)") + "\n" } ?? ""
        let text = QuestionDocument.escape(address)
        return try page(
            of: session, role: "presenter", invitation: "\(image)<p>Join at <a href=\"\(text)\">\(text)</a></p>", head)
    }

    /// A page that the server makes whole.
    ///
    /// - Parameter content: HTML.
    package func plain(title: String, content: String, to head: HTTPRequestHead) throws -> Response {
        let document = try document()
        return document.response(document.plain(title: title, content: content), to: head)
    }

    private func page(
        of session: Session, role: String, invitation: String, _ head: HTTPRequestHead
    ) throws -> Response {
        let document = try document()
        let facts = [
            ("role", role), ("session", session.id.uuidString), ("state", session.isOpen ? "open" : "closed"),
            ("moderated", "\(session.isModerated)"),
        ]
        let html = document.live(
            title: session.title, list: "/questions/\(session.id.uuidString)/list", facts: facts,
            invitation: invitation)
        return document.response(html, to: head)
    }

    private func document() throws -> QuestionDocument {
        if let ready { return ready }
        let document = try QuestionDocument()
        ready = document
        return document
    }
}
