import Testing

@testable import Wire

@Suite struct HTTPResponseTests {
    private func encoded(_ write: (inout [UInt8]) -> Void) -> String {
        var buffer: [UInt8] = []
        write(&buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    @Test("A head is a status line, fields and an empty line")
    func headIsStatusLineFieldsAndEmptyLine() {
        let text = encoded {
            HTTPResponseEncoder.statusLine(.created, into: &$0)
            HTTPResponseEncoder.field("X-One", "1", into: &$0)
            HTTPResponseEncoder.endOfHead(into: &$0)
        }
        #expect(text == "HTTP/1.1 201 Created\r\nX-One: 1\r\n\r\n")
    }

    @Test(
        "A value can't leave its field",
        arguments: [
            ("a\r\nSet-Cookie: b", "a  Set-Cookie: b"), ("a\nb", "a b"), ("\0", ""), (" a\t ", "a"), ("a\tb", "a\tb"),
            ("ä", "ä"), ("\r\n\r\n<html>", "<html>"), ("a\u{7F}b", "a b"), ("", ""),
        ])
    func valueCannotLeaveItsField(_ value: String, _ shown: String) {
        #expect(encoded { HTTPResponseEncoder.field(named: "A", value, into: &$0) } == "A: \(shown)\r\n")
        #expect(encoded { HTTPResponseEncoder.field("A", value, into: &$0) } == "A: \(shown)\r\n")
    }

    @Test(
        "A field with an invalid name is left out",
        arguments: ["", "A:", "A\r\nB", "A B", "ä", "A\0"])
    func fieldWithInvalidNameIsLeftOut(_ name: String) {
        #expect(encoded { HTTPResponseEncoder.field(named: name, "x", into: &$0) } == "")
    }

    @Test(
        "Numbers are written in decimal",
        arguments: [
            (0, "0"), (7, "7"), (65_536, "65536"), (Int.max, "9223372036854775807"), (Int.min, "-9223372036854775808"),
        ])
    func numbersAreWrittenInDecimal(_ number: Int, _ text: String) {
        #expect(
            encoded { HTTPResponseEncoder.field("Content-Length", number, into: &$0) } == "Content-Length: \(text)\r\n")
    }

    @Test("Chunks carry their size")
    func chunksCarryTheirSize() {
        let text = encoded {
            HTTPResponseEncoder.chunk(Array("hello, world 12345".utf8), into: &$0)
            HTTPResponseEncoder.chunk([UInt8](), into: &$0)
            HTTPResponseEncoder.lastChunk(into: &$0)
        }
        #expect(text == "12\r\nhello, world 12345\r\n0\r\n\r\n")
    }

    @Test("A status has three digits")
    func aStatusIsThreeDigits() {
        #expect(HTTPStatus(code: 99).code == 500)
        #expect(HTTPStatus(code: 1000).code == 500)
        #expect(HTTPStatus(code: 599).code == 599)
        #expect(encoded { HTTPResponseEncoder.statusLine(HTTPStatus(code: 299), into: &$0) } == "HTTP/1.1 299 \r\n")
        #expect(HTTPStatus.switchingProtocols.forbidsBody && HTTPStatus.noContent.forbidsBody)
        #expect(HTTPStatus.notModified.forbidsBody && !HTTPStatus.ok.forbidsBody)
    }

    @Test("Every parse error has a phrase")
    func everyParseErrorHasPhrase() {
        for error in HTTPParseError.allCases {
            #expect(HTTPStatus(code: error.status).reasonPhrase.utf8CodeUnitCount > 0)
        }
    }

    @Test(
        "Dates are IMF-fixdate",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"), (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (1_795_305_600, "Sun, 22 Nov 2026 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-1, "Thu, 01 Jan 1970 00:00:00 GMT"), (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
    func datesAreIMFFixdate(_ seconds: Int64, _ text: String) {
        #expect(String(decoding: HTTPDate.format(epochSeconds: seconds), as: UTF8.self) == text)
    }
}
