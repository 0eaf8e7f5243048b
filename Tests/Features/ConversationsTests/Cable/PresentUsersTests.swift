import Testing
import Wire

@testable import Conversations

/// The users of a conversation, as the extended protocol reports them.
@Suite struct PresentUsersTests {
    @Test("A client that asks before presence is known receives it once known")
    func askedEarly() {
        var users = PresentUsers(sendsJoins: true)
        #expect(users.take(.presence).isEmpty)
        #expect(users.update(["ada", "bob"]) == [.info(["ada", "bob"])])
        #expect(users.update(["carl", "ada"]) == [.join("carl"), .leave("bob")])
        #expect(users.update(["carl", "ada"]).isEmpty)
        #expect(users.take(.presence) == [.info(["carl", "ada"])])
    }

    @Test("A client that didn't ask for presence receives only the changes that it wants")
    func changes() {
        var users = PresentUsers(sendsJoins: false)
        #expect(users.update(["ada"]).isEmpty)
        #expect(users.update(["ada", "bob"]).isEmpty)
        #expect(users.take(.join).isEmpty)
        #expect(users.update(["bob"]) == [.leave("ada")])
        #expect(users.take(.leave).isEmpty)
        #expect(users.update([]).isEmpty)
        #expect(users.take(.presence) == [.info([])])
    }
}
