import Testing

@testable import Conversations

/// The changes of subscribers that are written to the database.
@Suite struct ConnectedUserChangesTests {
    private func take(_ changes: inout ConnectedUserChanges, _ here: Set<String>) -> ConnectedUserChanges.Batch {
        changes.take { here.contains($0) }
    }

    @Test("A subscriber that entered and left between two writes isn't written")
    func flicker() {
        var changes = ConnectedUserChanges()
        for user in ["ada", "bob"] { changes.add(user) }
        let first = take(&changes, ["ada"])
        #expect(first == .init(came: ["ada"], left: []))
        changes.wrote(first)
        changes.add("ada")
        #expect(take(&changes, ["ada"]).isEmpty && changes.isEmpty)
        changes.add("ada")
        let second = take(&changes, [])
        #expect(second == .init(came: [], left: ["ada"]))
        changes.wrote(second)
        changes.add("ada")
        #expect(take(&changes, []).isEmpty)
    }

    @Test("A change with an unknown outcome is written with its current state", arguments: [true, false])
    func failure(_ isHereLater: Bool) {
        var changes = ConnectedUserChanges()
        changes.add("ada")
        changes.failed(take(&changes, ["ada"]))
        #expect(!changes.isEmpty)
        let again = take(&changes, isHereLater ? ["ada"] : [])
        #expect(again == .init(came: isHereLater ? ["ada"] : [], left: isHereLater ? [] : ["ada"]))
        changes.wrote(again)
        changes.add("ada")
        #expect(take(&changes, isHereLater ? ["ada"] : []).isEmpty)
    }

    @Test("State that the database may have removed is written again")
    func forgotten() {
        var changes = ConnectedUserChanges()
        for user in ["ada", "bob"] { changes.add(user) }
        changes.wrote(take(&changes, ["ada", "bob"]))
        changes.repeatAll()
        let again = take(&changes, ["ada"])
        #expect(again == .init(came: ["ada"], left: ["bob"]))
        changes.wrote(again)
        changes.add("ada")
        #expect(take(&changes, ["ada"]).isEmpty)
    }
}
