package import FoundationEssentials
import Pages
package import Server
package import Wire

/// The pages of question sessions: live pages, and pages that work without JavaScript.
///
/// Created at the first request, so that a daemon without browsers doesn't load OpenSSL and zlib for the pages.
package actor LivePages {
    /// The data of a session that its pages contain. All other data comes through the WebSocket.
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

    /// Returns the audience's page, with which users ask, vote and read answers.
    ///
    /// - Throws: ``CryptoError`` if SHA-256 is unavailable. The other functions do, too.
    package func audience(_ session: Session, to head: HTTPRequestHead) throws -> Response {
        try page(of: session, role: "audience", invitation: "", head)
    }

    /// Returns the presenter's page, with which presenters moderate and answer questions, announce, close and invite.
    ///
    /// - Parameter origin: The address of this server, such as `https://example.org`.
    package func presenter(_ session: Session, origin: String, to head: HTTPRequestHead) throws -> Response {
        let address = "\(origin)/questions/\(session.id.uuidString)"
        let image = QRCode(address).map { $0.svg(label: "QR code of \(address)") + "\n" } ?? ""
        let text = HTMLText.escape(address)
        return try page(
            of: session, role: "presenter", invitation: "\(image)<p>Join at <a href=\"\(text)\">\(text)</a></p>", head)
    }

    /// Returns a page without a script.
    ///
    /// - Parameter content: The page's content as HTML.
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
