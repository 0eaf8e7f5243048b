import Foundation
import Testing

@testable import LetsSwitchClient
@testable import letsswitch

/// The terminal's text about a room.
@Suite struct RoomViewTests {
    private let start = Date(timeIntervalSince1970: 1_795_338_000)

    private func task(_ partner: String? = "Maths") throws -> RoomTask {
        let room = UUID()
        let partner = partner.map { #","partnerTask":"\#($0)""# } ?? ""
        let day = """
            {"schedule":{"08:00":{"id":"\(UUID())","title":"","hasOwnTask":false,"hasSomebodyElse":false},\
            "09:00":{"id":"\(UUID())","title":"History","hasOwnTask":true,"hasSomebodyElse":true,"roomId":"\(room)"\(partner)}}}
            """
        let midnight = Date(timeIntervalSince1970: 1_795_305_600)
        #expect(RoomTask(.room(UUID()), Array(day.utf8), beginning: midnight) == nil)
        return try #require(RoomTask(.room(room), Array(day.utf8), beginning: midnight))
    }

    @Test("The status line shows the remaining time and the people in the room")
    func status() throws {
        var view = RoomView(try task())
        #expect(view.status(at: start - 3_661) == "1:01:01 to go · not in the room")
        #expect(view.receive(.entered)?.hasPrefix("You are in the room.") == true)
        #expect(view.status(at: start - 60) == "1:00 to go")
        #expect(view.receive(.presence(Presence(count: 1, partner: .expected))) == nil)
        #expect(view.status(at: start - 41.5) == "42 s to go · your partner (Maths) isn't here yet · only you are here")
        #expect(view.countsDown(at: start - 1))
        #expect(view.receive(.presence(Presence(count: 2, partner: .here))) == "Your partner (Maths) is here.")
        // The line isn't repeated.
        #expect(view.receive(.presence(Presence(count: 3, partner: .here))) == nil)
        #expect(view.status(at: start) == "it has started · your partner (Maths) is here · 3 people are here")
        #expect(!view.countsDown(at: start))
        let lost = view.receive(.presence(Presence(count: 2, partner: .away)))
        #expect(lost == "Your partner (Maths) has lost the connection.")
        #expect(view.status(at: start) == "it has started · your partner (Maths) has lost the connection")
        #expect(view.receive(.presence(Presence(count: 1, partner: .left))) == "Your partner (Maths) has left.")
        #expect(view.receive(.waiting(.milliseconds(2_500))) == "Not in the room. Trying again in 3 s.")
        #expect(view.status(at: start) == "it has started · not in the room")
        #expect(view.receive(.closed(.normal)) == "The room is closed.")
    }

    @Test("A rematch is shown instead of the end of the room")
    func rematched() throws {
        let task = try task()
        var view = RoomView(task)
        #expect(view.receive(.entered)?.contains("Press s when you have started.") == true)
        let (room, own) = (UUID(), task.id)
        let somebody = Room.Rematch(roomID: room, taskID: own, partnerTitle: "Latin")
        #expect(view.receive(.rematched(somebody)) == "Your new partner starts Latin. You are moving to a new room.")
        #expect(view.receive(.closed(.normal)) == nil)
        var next = RoomView(task, isFirst: false)
        #expect(next.receive(.entered) == "You are in the new room.")
        let alone = next.receive(.rematched(Room.Rematch(roomID: room, taskID: own, partnerTitle: nil)))
        #expect(alone?.hasPrefix("Your partner was matched with somebody else.") == true)
    }

    @Test("A task is found by its room or its id")
    func keys() throws {
        let (task, room, midnight) = (UUID(), UUID(), Date(timeIntervalSince1970: 1_795_305_600))
        func day(_ own: Bool) -> [UInt8] {
            let slot = #"{"id":"\#(task)","title":"","hasOwnTask":\#(own),"hasSomebodyElse":false,"roomId":"\#(room)"}"#
            return Array(#"{"schedule":{"09:00:30":\#(slot)}}"#.utf8)
        }
        for key in [RoomTask.Key.room(room), .task(task)] {
            let found = try #require(RoomTask(key, day(true), beginning: midnight))
            #expect(found.id == task && found.roomID == room && found.partnerTitle == nil)
            #expect(found.startsAt == midnight + 9 * 3600 + 30)
            #expect(RoomTask(key, day(false), beginning: midnight) == nil)
        }
        #expect(RoomTask(.task(room), day(true), beginning: midnight) == nil)
    }

    @Test("The view omits a missing time and a missing partner's title")
    func others() throws {
        var view = RoomView(nil)
        #expect(view.status(at: start) == "not in the room")
        #expect(view.receive(.entered)?.contains("started") == false)
        _ = view.receive(.presence(Presence(count: 7)))
        #expect(view.status(at: start) == "7 people are here")
        #expect(!view.countsDown(at: start - 10))
        var alone = RoomView(try task(nil))
        #expect(alone.receive(.presence(Presence(count: 2, partner: .here))) == "Your partner is here.")
    }

    @Test("A partner's title with several lines is shown on one line")
    func titleWithLines() throws {
        var view = RoomView(try task(#"Maths\r\nYou are in.\u2028"#))
        #expect(
            view.receive(.presence(Presence(count: 2, partner: .here))) == "Your partner (Maths You are in. ) is here.")
        let rematch = Room.Rematch(roomID: UUID(), taskID: UUID(), partnerTitle: "Art\r\nbye")
        #expect(view.receive(.rematched(rematch)) == "Your new partner starts Art bye. You are moving to a new room.")
    }

    @Test("Each kind of cheer has its own text", arguments: Cheer.allCases)
    func cheers(cheer: Cheer) {
        var view = RoomView(nil)
        let line = view.receive(.ale(cheer))
        #expect(line?.hasSuffix("!") == true)
        #expect((line == "Cheers!") == (cheer == .plain))
        #expect(Cheer(named: cheer.name) == cheer)
    }

    @Test("An unknown kind is a plain cheer")
    func unknown() {
        #expect(Cheer(named: "dance") == .plain && Cheer(named: nil) == .plain && Cheer.plain.name == nil)
    }
}
