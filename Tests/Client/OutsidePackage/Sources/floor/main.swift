import FoundationEssentials
import Glibc

// The program without LetsSwitchClient, to compare with. It decodes its input, prints a line and stays.

struct Place: Decodable {
    let server: String
    let room: UUID
}

print("started")
let text = #"{"server":"\#(CommandLine.arguments[1])","room":"\#(CommandLine.arguments[2])"}"#
let place = try JSONDecoder().decode(Place.self, from: Data(text.utf8))
print("in \(place.room)")
fflush(nil)
pause()
