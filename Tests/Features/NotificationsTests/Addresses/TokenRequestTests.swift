import Domain
import Notifications
import Testing

@Suite struct TokenRequestTests {
    @Test(
        "A token's members are all required",
        arguments: [
            (#"{"deviceId":"d","token":"","debug":true}"#, "token"),
            (#"{"deviceId":"d","token":"abc","debug":true}"#, "token"),
            (#"{"deviceId":"d","token":"xy","debug":true}"#, "token"),
            (#"{"deviceId":"d","token":5,"debug":true}"#, "token"),
            (#"{"deviceId":"d","token":"ab"}"#, "debug"), (#"{"deviceId":"d","token":"ab","debug":1}"#, "debug"),
            (#"{"token":"ab","debug":true}"#, "deviceId"),
        ])
    func tokensMembersAreAllRequired(json: String, member: String) {
        let error = #expect(throws: RequestError.self) { try TokenRequest.decode(Array(json.utf8)) }
        #expect(error?.reason.hasPrefix(member + " ") == true)
    }

    @Test("A token has at most 200 bytes")
    func aTokenHas200BytesAtMost() throws {
        func json(_ bytes: Int) -> [UInt8] {
            Array(#"{"deviceId":"d","token":"\#(String(repeating: "aB", count: bytes))","debug":false}"#.utf8)
        }
        #expect(try TokenRequest.decode(json(200)).token == String(repeating: "ab", count: 200))
        #expect(throws: RequestError.self) { try TokenRequest.decode(json(201)) }
    }
}
