import FoundationEssentials
import Glibc
import LetsSwitchClient

/// `room SERVER ROOM`: enters a room, and leaves it after a cheer.
@main
struct Example {
    private struct Place: Decodable {
        let server: String
        let room: UUID
    }

    static func main() async throws {
        report("started")
        // JSON, because the other program decodes it, too.
        let text = #"{"server":"\#(CommandLine.arguments[1])","room":"\#(CommandLine.arguments[2])"}"#
        let place = try JSONDecoder().decode(Place.self, from: Data(text.utf8))
        let client = LetsSwitchClient(try ServerAddress(place.server), deviceID: "outside")
        let room = client.room(place.room)
        for try await event in room.events {
            switch event {
            case .entered: report("in \(place.room)")
            case .ale(let cheer):
                report(cheer == .heart ? "cheers!" : "cheers?")
                try await room.cheer()
                await room.leave()
            case .closed, .waiting, .presence, .rematched, .misunderstood: break
            }
        }
    }

    private static func report(_ line: String) {
        print(line)
        fflush(nil)
    }
}
