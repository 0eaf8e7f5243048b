import Crypto
import FoundationEssentials
import Server
import Testing
import Wire

@testable import Pages
@testable import Questions
@testable import Settings

@Suite struct LivePageTests {
    private let session = LivePages.Session(
        id: UUID(), title: #"<b>"Q&A"</b> <title></title><body data-facts>"#, isOpen: true, isModerated: true)

    private func head(_ fields: String...) throws -> HTTPRequestHead {
        var parser = HTTPRequestParser()
        let bytes = Array((["GET / HTTP/1.1", "Host: x"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
        let event = try bytes.withUnsafeBytes { bytes in
            var input = bytes
            return try parser.next(&input)
        }
        guard case .head(let head) = event else { throw UsageError("no head") }
        return head
    }

    private func content(_ response: Response) -> [UInt8] {
        if case .bytes(let bytes) = response.body { bytes } else { [] }
    }

    private func text(_ response: Response) -> String { String(decoding: content(response), as: UTF8.self) }

    @Test("A page is one response of less than 20 KB, compressed") func size() async throws {
        let pages = LivePages()
        let gzip = try head("Accept-Encoding: gzip")
        for response in [
            try await pages.audience(session, to: gzip),
            try await pages.presenter(session, origin: "https://a-name-of-some-length.example.org", to: gzip),
        ] {
            #expect(response.headers.contains(HTTPField("Content-Encoding", "gzip")))
            #expect((2_000..<20_000).contains(content(response).count))
        }
        let plain = try await pages.audience(session, to: head())
        #expect(!plain.headers.contains { $0.name == "Content-Encoding" })
        // The page requests nothing except the icon, which it shares with the day's page.
        let links = text(plain).matches(of: #/(?:src|href)="([^"]*)"/#).map { String($0.output.1) }
        #expect(links == ["/page/icon.svg", "/questions/\(session.id.uuidString)/list"])
    }

    @Test("The content security policy allows exactly the page's script and style, by digest") func policy()
        async throws
    {
        let response = try await LivePages().presenter(session, origin: "http://x", to: head())
        let policy = try #require(response.headers.first { $0.name == "Content-Security-Policy" }).value
        let html = text(response)
        for (tag, directive) in [("<style>", "style-src"), (#"<script type="module">"#, "script-src")] {
            let start = try #require(html.firstRange(of: tag)).upperBound
            let end = try #require(html[start...].firstRange(of: "</\(tag.dropFirst().prefix { $0.isLetter })>"))
                .lowerBound
            let digest = Base64.encode(try SHA256.digest(Array(html[start..<end].utf8)))
            #expect(policy.contains("\(directive) 'sha256-\(digest)'"))
        }
        #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
        #expect(html.matches(of: #/ (?:style|on[a-z]+)=/#).isEmpty)
    }

    @Test("Text from users is escaped") func escapes() async throws {
        let pages = LivePages()
        let html = text(try await pages.audience(session, to: head()))
        let title = "&lt;b&gt;&quot;Q&amp;A&quot;&lt;/b&gt; &lt;title&gt;&lt;/title&gt;&lt;body data-facts&gt;"
        #expect(html.contains("<title>\(title)</title>") && html.contains("<h1 tabindex=\"-1\">\(title)</h1>"))
        #expect(!html.contains("<b>\"Q"))
        #expect(
            html.contains(
                #"<body data-role="audience" data-session="\#(session.id.uuidString)" data-state="open" data-moderated="true">"#
            ))
        let plain = text(try await pages.plain(title: session.title, content: "<p>x</p>", to: head()))
        #expect(plain.contains("<title>\(title)</title>") && plain.contains("<p>x</p>") && !plain.contains("<script"))
    }

    @Test("The presenter sees the address and its QR code") func invitation() async throws {
        let pages = LivePages()
        let html = text(try await pages.presenter(session, origin: "https://example.org", to: head()))
        let address = "https://example.org/questions/\(session.id.uuidString)"
        #expect(html.contains("<a href=\"\(address)\">\(address)</a>"))
        #expect(html.contains("<svg role=\"img\" aria-label=\"QR code of \(address)\""))
        #expect(!text(try await pages.audience(session, to: head())).contains("<svg"))
    }
}

@Suite struct QRCodeTests {
    @Test("A QR code has its three finder patterns and its timing patterns") func shape() throws {
        let code = try #require(QRCode("https://example.org/questions/6F0D2A7E-0C5B-4B8E-9D64-0C7E4E3A1B2C"))
        #expect(code.width % 4 == 1 && code.modules.count == code.width * code.width)
        func isDark(_ row: Int, _ column: Int) -> Bool { code.modules[row * code.width + column] }
        // ISO/IEC 18004 §6.3.3: nested squares of seven, five and three modules.
        for (top, left) in [(0, 0), (0, code.width - 7), (code.width - 7, 0)] {
            for row in 0..<7 {
                for column in 0..<7 {
                    let ring = max(abs(row - 3), abs(column - 3))
                    #expect(isDark(top + row, left + column) == (ring != 2))
                }
            }
        }
        for place in 8..<code.width - 8 { #expect(isDark(6, place) == place.isMultiple(of: 2)) }
        #expect(QRCode("other")?.modules != code.modules)
    }

    @Test("The SVG shows each dark module once") func drawing() throws {
        let code = try #require(QRCode("https://example.org"))
        let svg = code.svg(label: "a \"code\"")
        #expect(
            svg.contains("viewBox=\"0 0 \(code.width + 8) \(code.width + 8)\"") && svg.contains("a &quot;code&quot;"))
        var drawn = [Bool](repeating: false, count: code.width * code.width)
        for run in svg.matches(of: #/M(\d+) (\d+)h(\d+)v1H(\d+)z/#) {
            let numbers = [run.output.1, run.output.2, run.output.3, run.output.4].compactMap { Int($0) }
            try #require(numbers.count == 4 && numbers[0] == numbers[3])
            for column in numbers[0] - 4..<numbers[0] - 4 + numbers[2] {
                #expect(!drawn[(numbers[1] - 4) * code.width + column])
                drawn[(numbers[1] - 4) * code.width + column] = true
            }
        }
        #expect(drawn == code.modules)
    }

    @Test("Text that is too long for a QR code gets none") func tooLong() {
        #expect(QRCode(String(repeating: "a", count: 1_024)) != nil)
        #expect(QRCode(String(repeating: "a", count: 1_025)) == nil)
    }
}
