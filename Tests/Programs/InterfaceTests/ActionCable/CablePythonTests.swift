import Foundation
import InterfaceTestSupport
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// Python's clients of Action Cable, from PyPI, unmodified.
@Suite(
    .enabled(if: TestBroker.isWanted, "they are of the long tests: make interop-cable"),
    .enabled(if: PythonPackages.ofCable.areInstalled, "\(PythonPackages.ofCable.hint)"))
struct CablePythonTests {
    enum Library: String, CaseIterable {
        case aioactioncable, actioncable

        /// Enters a room, sends an ale, and waits for one. Then is rejected by another room. The program follows its
        /// library's own example.
        var roomProgram: String {
            switch self {
            case .aioactioncable:
                """
                import asyncio, json, aioactioncable
                # A busy machine has longer.
                aioactioncable.connect.CONNECT_TIMEOUT = aioactioncable.connect.SUBSCRIPTION_TIMEOUT = 120
                async def main():
                    given = json.loads(input())
                    async with aioactioncable.connect(given["url"]) as socket:
                        room = await socket.subscribe(given["room"])
                        await room.send({"action": "ale"})
                        received = [json.loads(await room.recv()) for _ in range(2)]
                        await room.unsubscribe()
                    print(json.dumps({"received": received}), flush=True)
                asyncio.run(main())
                """
            case .actioncable:
                """
                import json, queue
                from actioncable_client.connection import Connection
                from actioncable_client.message import Message
                from actioncable_client.subscription import Subscription
                given = json.loads(input())
                received = queue.Queue()
                connection = Connection(given["url"])
                room = Subscription(connection, given["room"])
                room.on_receive(received.put)
                room.create()
                # Kept until the subscription is confirmed.
                room.send(Message("ale", {}))
                connection.connect()
                messages = [received.get() for _ in range(2)]
                room.remove()
                connection.disconnect()
                print(json.dumps({"received": messages}), flush=True)
                """
            }
        }
    }

    /// Validates messages. The libraries return only the content, so this puts it into a message again.
    private func expectDescribed(_ messages: TestJSON) throws {
        for message in messages.array ?? [] {
            let whole: TestJSON = ["identifier": "{}", "message": message]
            #expect(InterfaceValidation.violation(about: try whole.encoded(), nil, "cable") == nil)
        }
    }

    @Test(
        "Python clients without a subprotocol use rooms and presence",
        arguments: Library.allCases)
    func room(_ library: Library) async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            let peer = try await endpoint.enter(room)
            async let answer = PythonPackages.ofCable.run(
                library.roomProgram,
                [
                    "url": .string("ws://\(endpoint.authority)/cable"),
                    "room": ["channel": "RoomChannel", "id": .string(room.uuidString), "presence": true],
                ])
            #expect(try await peer.nextMessage() == RoomMessages.cheer)
            try await peer.send(text: RoomMessages.ale(room))
            let received = try await answer["received"]
            try expectDescribed(received)
            #expect(
                received == [
                    ["type": "presence", "data": ["count": 2]], ["type": "aleResponse", "data": .object([:])],
                ])
            try await eventually("it has left") { try await MetricsReading(endpoint)["letsswitch_room_members"] == 1 }
        }
    }

    /// aioactioncable's reader ends if a message arrives before the library has handled the confirmation.
    @Test("The aioactioncable client receives the backlog of one subscription, then that of another")
    func backlog() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("ada", start, "First")
            try await journey.advance(to: start, -59)
            try await journey.wait(until: "EXISTS (SELECT FROM reminders.reminder)")
            let answer = try await PythonPackages.ofCable.run(
                """
                import asyncio, json, aioactioncable
                aioactioncable.connect.CONNECT_TIMEOUT = aioactioncable.connect.SUBSCRIPTION_TIMEOUT = 120
                async def main():
                    async with aioactioncable.connect(json.loads(input())["url"]) as socket:
                        received = []
                        for channel in ["RemindersChannel", "NotificationsChannel"]:
                            subscription = await socket.subscribe({"channel": channel})
                            received.append(json.loads(await subscription.recv()))
                    print(json.dumps({"received": received}), flush=True)
                asyncio.run(main())
                """,
                ["url": .string("ws://\(endpoint.authority)/cable?deviceId=ada")])
            let received = answer["received"]
            #expect(received.array?.count == 2)
            try expectDescribed(received)
            for message in received.array ?? [] {
                #expect(message["type"] == "reminder" && message["data"]["title"] == "First")
            }
        }
    }
}
