import FoundationEssentials
import Testing

@testable import Wire

@Suite struct JSONTextTests {
    @Test("Members are written in order, without absent values")
    func membersAreWrittenInOrderAndThoseWithoutAValueLeftOut() {
        var json = JSONText()
        json.object { object in
            object.member("text", "a")
            object.member("absent", String?.none)
            object.member("whole", -7)
            object.member("real", 0.5)
            object.member("flag", true)
            object.name("list")
            object.array { array in
                array.null()
                array.number(1)
                array.string("")
                array.object { _ in }
                array.value("[2]".utf8)
            }
        }
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"text":"a","whole":-7,"real":0.5,"flag":true,"list":[null,1,"",{},[2]]}"#)
    }

    @Test(
        "Only the characters of RFC 8259 §7 are escaped",
        arguments: [
            ("", #""""#), ("plain", #""plain""#), ("\"", #""\"""#), ("\\", #""\\""#), ("a\"b\\c", #""a\"b\\c""#),
            ("\n\r\t", #""\n\r\t""#), ("\u{0}\u{8}\u{F}\u{10}\u{1F}", #""\u0000\u0008\u000f\u0010\u001f""#),
            ("\u{7F}/é日🎉\u{2028}", "\"\u{7F}/é日🎉\u{2028}\""), ("end\n", #""end\n""#), ("\nbegin", #""\nbegin""#),
        ])
    func onlyCharactersOfRFC8259AreEscaped(text: String, written: String) {
        var json = JSONText()
        json.string(text)
        #expect(String(decoding: json.bytes, as: UTF8.self) == written)
    }

    @Test("Any text is read back unchanged, in one piece or byte by byte")
    func anyTextIsReadBackUnchangedInOnePieceOrByteByByte() throws {
        let alphabet: [Character] = ["a", "\"", "\\", "\n", "\u{1}", "\u{1F}", "é", "日", "🎉", " ", "/"]
        for length in 0..<200 {
            let text = String((0..<length).map { _ in alphabet[Int.random(in: alphabet.indices)] })
            var whole: [UInt8] = []
            JSONText.append(string: text.utf8, to: &whole)
            var single: [UInt8] = []
            // This collection has no contiguous storage.
            JSONText.append(string: text.utf8.lazy.map { $0 }, to: &single)
            try #require(whole == single)
            try #require(try JSONDecoder().decode(String.self, from: Data(whole)) == text)
        }
    }
}
