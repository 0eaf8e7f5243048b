import Foundation
import TestSupport
import Testing

@testable import Notifications

/// The types of events.
@Suite struct EventTypeTests {
    private static let sources = Checkout.url("Sources/Features")
    private static let all = Set(EventType.allCases.map(\.rawValue))

    @Test("The webhook's page lists every event type, and no other")
    func page() throws {
        let page = try String(contentsOf: Self.sources.appending(path: "Notifications/WEBHOOK.md"), encoding: .utf8)
        let paragraphs = page.split(separator: "\n\n")
        try #require(paragraphs.count > 1)
        let named = paragraphs[1].matches(of: /`([a-z.]+)`/).map { String($0.output.1) }
        #expect(Set(named) == Self.all.union([Delivery.reminder, Delivery.messages]))
    }

    @Test("The database writes every event type, and no other")
    func functions() throws {
        var written: Set<String> = []
        let features = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path).map {
            Self.sources.appending(path: "\($0)/SQL")
        }
        for folder in features + [Checkout.url("Sources/Core/Features/SQL")] {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                for type in text.matches(of: /'((?:task|match|room|device)\.[a-z]+)'/) {
                    written.insert(String(type.output.1))
                }
            }
        }
        #expect(written == Self.all)
    }
}
