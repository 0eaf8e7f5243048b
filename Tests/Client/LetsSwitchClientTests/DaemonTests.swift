import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests of the library with a running daemon.
@Suite struct DaemonTests {
    @Test("Two users promise the same time, receive reminders, meet and cheer")
    func journey() async throws {
        try await RunningDaemon.with(["--reminder-lead", "1h"]) { server, _ in
            let ada = LetsSwitchClient(server, deviceID: "ada")
            let bob = LetsSwitchClient(server, deviceID: "bob")
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 3604).rounded())
            let first = try await ada.register("History", at: start, timeZone: "Europe/London")
            #expect(first.startsAt == start)
            #expect(!first.isPaired)
            let other = try await ada.register("Alone", at: start + 7200, timeZone: "UTC")
            try await ada.cancel(other)
            let second = try await bob.register("Maths", at: start, timeZone: "UTC")
            #expect(second.partnerTitle == "History")
            #expect(second.roomID == first.roomID)
            await #expect {
                try await bob.cancel(second)
            } throws: { error in
                guard case ClientError.refused(let refusal)? = error as? ClientError else { return false }
                return refusal.status == 409 && refusal.code == "has_partner" && refusal.reason != nil
            }
            var reminders = ada.reminders.makeAsyncIterator()
            let reminder = try #require(try await reminders.next())
            #expect(reminder.taskID == first.id)
            #expect(reminder.partnerTitle == "Maths")
            let room = try #require(reminder.roomID)
            let (adas, bobs) = (ada.room(room, task: first.id), bob.room(room, task: second.id))
            var events = bobs.events.makeAsyncIterator()
            #expect(try await events.next() == .entered)
            #expect(try await events.next() == .presence(Presence(count: 1, partner: .expected)))
            var others = adas.events.makeAsyncIterator()
            #expect(try await others.next() == .entered)
            #expect(try await events.next() == .presence(Presence(count: 2, partner: .here)))
            try await adas.cheer()
            #expect(try await events.next() == .ale(.plain))
            try await adas.cheer(.fire)
            #expect(try await events.next() == .ale(.fire))
            await adas.leave()
            // A lost member counts for a while, because it may return.
            #expect(try await events.next() == .presence(Presence(count: 2, partner: .away)))
            await bobs.leave()
            #expect(try await events.next() == .closed(.goingAway))
            #expect(try await events.next() == nil)
        }
    }

    @Test("Leaving a match cancels the task and removes the partner")
    func leave() async throws {
        try await RunningDaemon.with([]) { server, _ in
            let (ada, bob) = (LetsSwitchClient(server, deviceID: "ada"), LetsSwitchClient(server, deviceID: "bob"))
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 7200).rounded())
            let first = try await ada.register("History", at: start, timeZone: "Europe/London")
            _ = try await bob.register("Maths", at: start, timeZone: "UTC")
            let own = try #require(try await ada.task(.room(first.roomID)))
            #expect(own.id == first.id && own.startsAt == start && own.partnerTitle == "Maths")
            #expect(try await ada.task(.task(first.id)) == own)
            #expect(try await ada.task(.room(UUID())) == nil)
            let refusal = await #expect(throws: ClientError.self) { try await ada.markStarted(first) }
            guard case .refused(let refusal) = refusal else { throw ClientFailure.violation("\(refusal as Any)") }
            #expect(refusal.status == 409 && refusal.code == "not_started")
            try await ada.leave(first)
            #expect(try await ada.task(.task(first.id)) == nil)
            #expect(try await !bob.register("Maths", at: start, timeZone: "UTC").isPaired)
        }
    }

    @Test("An invited guest becomes the partner even if others wait")
    func withWhom() async throws {
        try await RunningDaemon.with([]) { server, _ in
            let (ada, bob) = (LetsSwitchClient(server, deviceID: "ada"), LetsSwitchClient(server, deviceID: "bob"))
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 7200).rounded())
            let host = try await ada.register("History", at: start, timeZone: "Europe/London", isInviting: true)
            let link = try #require(host.invitation)
            let cem = LetsSwitchClient(server, deviceID: "cem")
            #expect(try await !cem.register("Tea", at: start, timeZone: "UTC").isPaired)
            let guest = try await bob.accept(link, "Maths", timeZone: "Europe/Paris")
            #expect(guest.partnerTitle == "History" && guest.invitation == nil && guest.timeZone == "Europe/Paris")
            let again = try await ada.register("History", at: start, timeZone: "Europe/London")
            #expect(again.isPaired && again.invitation == nil)
            await #expect(throws: ClientError.invalidValue("an invitation without its 32-character secret")) {
                try await bob.accept("https://example.org/", "Maths")
            }
            let preference = try await bob.preferences.add(guest)
            #expect(preference.title == "History" && preference.startsAt == start)
            #expect(try await bob.preferences.list() == [preference])
            #expect(try await ada.preferences.list() == [])
            try await bob.preferences.remove(preference)
            #expect(try await bob.preferences.list() == [])
            await #expect {
                try await bob.preferences.remove(preference)
            } throws: { error in
                guard case ClientError.refused(let refusal)? = error as? ClientError else { return false }
                return refusal.code == "no_such_preference"
            }
        }
    }

    @Test("After a lost connection a participant receives the missed messages once")
    func conversations() async throws {
        try await RunningDaemon.with([]) { server, _ in
            let (ada, bob) = (
                LetsSwitchClient(server, deviceID: "ada").conversations,
                LetsSwitchClient(server, deviceID: "bob").conversations
            )
            try await ada.takeName("ada")
            try await bob.takeName("bob")
            #expect(try await ada.names(beginningWith: "b") == ["bob"])
            let tea = try await ada.open(with: ["bob"])
            #expect(tea.participants == ["ada", "bob"])
            var events = bob.events(after: [tea.id: 0]).makeAsyncIterator()
            #expect(try await events.next() == .entered("bob"))
            let id = UUID()
            let first = try await ada.send("Tea?", to: ["bob"], id: id)
            #expect(first.conversation == tea.id && first.offset == 1)
            #expect(try await ada.send("Tea?", to: ["bob"], id: id) == first)
            #expect(try await events.next() == .message(first))
            let second = try await bob.send("Yes.", in: tea.id)
            #expect(try await events.next() == .message(second))
            // This reader knows only the first message.
            var late = ada.events(after: [tea.id: 1]).makeAsyncIterator()
            #expect(try await late.next() == .entered("ada"))
            #expect(try await late.next() == .message(second))
            #expect(try await ada.history(of: tea.id, after: 0).messages == [first, second])
            #expect(try await ada.history(of: tea.id, limit: 1).messages == [second])
            #expect(try await bob.list().conversations.map(\.lastMessage) == [second])
        }
    }

    @Test("A reaction reaches the other participant and the history")
    func reactions() async throws {
        try await RunningDaemon.with([]) { server, _ in
            let (ada, bob) = (
                LetsSwitchClient(server, deviceID: "ada").conversations,
                LetsSwitchClient(server, deviceID: "bob").conversations
            )
            try await ada.takeName("ada")
            try await bob.takeName("bob")
            let message = try await ada.send("Tea?", to: ["bob"])
            #expect(message.reactions.isEmpty)
            var events = ada.events().makeAsyncIterator()
            #expect(try await events.next() == .entered("ada"))
            for _ in 0..<2 {
                let reacted = try await bob.react(to: message, with: "🎉")
                #expect(reacted.id == message.id)
                #expect(reacted.reactions.map(\.emoji) == ["🎉"])
                #expect(reacted.reactions.first?.count == 1 && reacted.reactions.first?.users == ["bob"])
                #expect(try await ada.history(of: message.conversation).messages == [reacted])
            }
            for _ in 0..<2 { #expect(try await bob.removeReaction("🎉", from: message) == message) }
            for isAdded in [true, false] {
                guard case .reaction(let change) = try await events.next() else {
                    throw ClientFailure.violation("no reaction")
                }
                #expect(change.conversation == message.conversation && change.messageID == message.id)
                #expect(change.offset == 1 && change.user == "bob" && change.emoji == "🎉")
                #expect(change.isAdded == isAdded)
            }
            let refusal = await #expect(throws: ClientError.self) { try await bob.react(to: message, with: "no") }
            guard case .refused(let refusal) = refusal else { throw ClientFailure.violation("\(refusal as Any)") }
            #expect(refusal.status == 400 && refusal.code == "invalid_request")
        }
    }

    @Test("Participants of a session receive their number after each change")
    func audience() async throws {
        try await RunningDaemon.with(["--presence-grace", "0"]) { server, _ in
            let session = try await RunningDaemon.makeSession(at: server)
            let (ada, bob) = (
                LetsSwitchClient(server, deviceID: "ada").questions(session),
                LetsSwitchClient(server, deviceID: "bob").questions(session)
            )
            func counts(_ questions: Questions) -> some AsyncSequence<Int, any Error> {
                questions.events.compactMap { if case .presence(let count) = $0 { count } else { nil } }
            }
            var adas = counts(ada).makeAsyncIterator()
            #expect(try await adas.next() == 1)
            var bobs = counts(bob).makeAsyncIterator()
            #expect(try await bobs.next() == 2)
            #expect(try await adas.next() == 2)
            await bob.leave()
            #expect(try await adas.next() == 1)
            await ada.leave()
        }
    }

    @Test("The audience asks, votes and receives answers")
    func questions() async throws {
        try await RunningDaemon.with([]) { server, _ in
            let session = try await RunningDaemon.makeSession(at: server)
            let ada = LetsSwitchClient(server, deviceID: "ada").questions(session)
            let id = try #require(try await ada.ask("Why tea?"))
            await #expect(throws: ClientError.self) { try await ada.ask(" ") }
            let bob = LetsSwitchClient(server, deviceID: "bob").questions(session)
            // Presence is sent when it is known.
            var events = bob.events.filter { if case .presence = $0 { false } else { true } }.makeAsyncIterator()
            #expect(try await events.next() == .entered)
            guard case .list(let list, hasMore: false)? = try await events.next() else {
                Issue.record("no list")
                return
            }
            #expect(list.map(\.id) == [id] && list.first?.votes == 0 && list.first?.content == "Why tea?")
            #expect(try await events.next() == .state(isOpen: true))
            try await bob.vote(for: id)
            var changed = try await events.next()
            // The event of the new question may arrive only now.
            if case .changed(let question)? = changed, question.votes == 0 { changed = try await events.next() }
            guard case .changed(let question)? = changed else {
                Issue.record("\(String(describing: changed)) is no change")
                return
            }
            #expect(question.id == id && question.votes == 1)
            try await bob.vote(for: UUID())
            let refused = try await events.next()
            guard case .refused? = refused else {
                Issue.record("\(String(describing: refused)) is no refusal")
                return
            }
            await bob.leave()
        }
    }

    @Test("A closed room reports when it opens, and an unknown one ends the events")
    func refusals() async throws {
        try await RunningDaemon.with([]) { server, _ in
            let client = LetsSwitchClient(server, deviceID: "ada")
            let promise = try await client.register("History", at: .now + 3600, timeZone: "UTC")
            _ = try await LetsSwitchClient(server, deviceID: "bob").register(
                "Maths", at: promise.startsAt, timeZone: "UTC")
            let room = client.room(promise.roomID)
            var events = room.events.makeAsyncIterator()
            guard case .waiting(let wait)? = try await events.next() else {
                Issue.record("no wait")
                return
            }
            #expect((3400...3600).contains(wait.components.seconds))
            await room.leave()
            var others = client.room(UUID()).events.makeAsyncIterator()
            await #expect {
                _ = try await others.next()
            } throws: { error in
                guard case ClientError.refused(let refusal)? = error as? ClientError else { return false }
                return refusal.status == 404 && refusal.code == "no_such_room"
            }
        }
    }

    @Test("The client waits for a daemon that restarts and enters the room again")
    func restart() async throws {
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let arguments = ["--database-url", database, "--log-format", "json", "--open-rooms", "--listen"]
        let (daemon, endpoint) = try await DaemonProcess.listening(arguments + ["127.0.0.1:0"])
        let room = LetsSwitchClient(try ValidatingTransport(to: endpoint), deviceID: "ada").room(UUID())
        var events = room.events.makeAsyncIterator()
        #expect(try await events.next() == .entered)
        #expect(try await events.next() == .presence(Presence(count: 1)))
        try await daemon.terminate()
        #expect(try await events.next() == .closed(.goingAway))
        let (again, _) = try await DaemonProcess.listening(arguments + ["\(endpoint)"])
        var event = try await events.next()
        while case .waiting? = event { event = try await events.next() }
        #expect(event == .entered)
        await room.leave()
        try await again.terminate()
    }

    @Test("The client accepts only a certificate of its authority")
    func tls() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue(hosts: "DNS:localhost,IP:127.0.0.1")
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--database-url", database, "--log-format", "json", "--open-rooms", "--listen", "tls:127.0.0.1:0",
            "--tls-certificate", identity.certificate, "--tls-key", identity.key,
        ])
        let server = try ServerAddress("https://\(endpoint)")
        var transport = SocketTransport(server: server, authorities: authority.file)
        let room = LetsSwitchClient(transport, deviceID: "ada").room(UUID())
        var events = room.events.makeAsyncIterator()
        #expect(try await events.next() == .entered)
        #expect(try await transport.exchange(ClientRequest(target: "/healthz")).status == 200)
        transport.authorities = nil
        await #expect {
            _ = try await transport.exchange(ClientRequest(target: "/healthz"))
        } throws: { error in
            guard case ClientError.untrusted? = error as? ClientError else { return false }
            return true
        }
        await room.leave()
        try await daemon.terminate()
        withExtendedLifetime(authority) {}
    }

    @Test("A port without a listener is unreachable")
    func unreachable() async throws {
        let client = LetsSwitchClient(try ServerAddress("127.0.0.1:1"), deviceID: "ada")
        await #expect {
            try await client.checkReachability()
        } throws: { error in
            guard case ClientError.unreachable? = error as? ClientError else { return false }
            return true
        }
    }
}
