import Testing
import Wire

@testable import Server

/// The table of ``HTTPConnectionState``, row by row, without a socket.
@Suite struct HTTPConnectionStateTests {
    private typealias State = HTTPConnectionState<Int, String>

    private static func head(contentLength: Int?) throws -> HTTPRequestHead {
        var parser = HTTPRequestParser(limits: HTTPLimits())
        let length = contentLength.map { "Content-Length: \($0)\r\n" } ?? ""
        let bytes = Array("POST /task HTTP/1.1\r\nHost: a\r\n\(length)\r\n".utf8)
        return try bytes.withUnsafeBytes { buffer in
            var input = buffer
            guard case .head(let head)? = try parser.next(&input) else { throw Missing() }
            return head
        }
    }

    private struct Missing: Error {}

    /// Returns a word for a state, so that states can be compared.
    private static func name(_ state: State) -> String {
        switch state {
        case .idle(.connection): "idle, new"
        case .idle(.answer): "idle"
        case .inHead(.connection): "in head, new"
        case .inHead(.answer): "in head"
        case .inBody(_, let content): "in body, \(content.count)"
        case .answering: "answering"
        case .awaiting(let ticket): "awaiting \(ticket)"
        case .streaming(let stream, _, _): "streaming \(stream)"
        case .draining: "draining"
        case .over: "over"
        }
    }

    private static func all() throws -> [State] {
        [
            .idle(since: .connection), .idle(since: .answer), .inHead(since: .connection), .inHead(since: .answer),
            .inBody(try head(contentLength: 3), [1]), .answering, .awaiting(7),
            .streaming("day", isChunked: true, keepsAlive: true), .draining, .over,
        ]
    }

    @Test("Each part of a request has its time limit")
    func request() throws {
        var state = State.idle(since: .connection)
        let first = state.parsed(isInHead: true)
        #expect(first == nil && Self.name(state) == "in head, new")
        let body = state.began(try Self.head(contentLength: 3))
        #expect(body == .body)
        for part in [[1, 2], [3]] as [[UInt8]] { part.withUnsafeBytes { state.append($0) } }
        #expect(Self.name(state) == "in body, 3")
        let request = state.takeRequest()
        #expect(request?.content == [1, 2, 3])
        #expect(Self.name(state) == "answering")
        state.answered(keepsAlive: true, isTaken: true)
        #expect(Self.name(state) == "idle")
        let second = state.parsed(isInHead: true)
        #expect(second == .header && Self.name(state) == "in head")
        let nobody = state.began(try Self.head(contentLength: nil))
        #expect(nobody == nil, "without content there is nothing to wait for")
    }

    @Test("An empty line after a request doesn't begin a head")
    func emptyLine() {
        for pause in [HTTPConnectionPause.connection, .answer] {
            var state = State.inHead(since: pause)
            let limit = state.parsed(isInHead: false)
            #expect(limit == nil)
            #expect(Self.name(state) == Self.name(.idle(since: pause)))
        }
    }

    @Test("Parsed input changes only the state of waiting for a head")
    func parsed() throws {
        for before in try Self.all() {
            for isInHead in [true, false] {
                var state = before
                let limit = state.parsed(isInHead: isInHead)
                switch before {
                case .idle where isInHead, .inHead where !isInHead: #expect(Self.name(state) != Self.name(before))
                default: #expect(Self.name(state) == Self.name(before) && limit == nil)
                }
            }
        }
    }

    @Test("Content is accepted only in a body")
    func takingRequests() throws {
        for before in try Self.all() {
            var state = before
            [UInt8(9)].withUnsafeBytes { state.append($0) }
            guard case .inBody = before else {
                #expect(Self.name(state) == Self.name(before))
                let request = state.takeRequest()
                #expect(request == nil && Self.name(state) == Self.name(before))
                continue
            }
            let request = state.takeRequest()
            #expect(request?.content == [1, 9])
        }
    }

    @Test("After a response, the connection ends or waits")
    func answers() {
        for (keepsAlive, isTaken, next) in [
            (false, false, "over"), (false, true, "over"), (true, false, "draining"), (true, true, "idle"),
        ] {
            var state = State.answering
            state.answered(keepsAlive: keepsAlive, isTaken: isTaken)
            #expect(Self.name(state) == next)
        }
    }

    @Test("A drained queue matters only to a connection that waits for it")
    func drained() throws {
        for before in try Self.all() {
            var state = before
            let isDrained = state.drained()
            if case .draining = before {
                #expect(isDrained && Self.name(state) == "idle")
            } else {
                #expect(!isDrained && Self.name(state) == Self.name(before))
            }
        }
    }

    @Test("Every connection ends with its peer, and an idle one with the server")
    func waiting() throws {
        for state in try Self.all() {
            #expect(state.waits(peerHasEnded: true, serverStops: false) == .end)
            switch state {
            case .idle(let pause):
                #expect(state.waits(peerHasEnded: false, serverStops: true) == .end)
                #expect(
                    state.waits(peerHasEnded: false, serverStops: false)
                        == .wait(pause == .answer ? .keepAlive : nil))
            default: #expect(state.waits(peerHasEnded: false, serverStops: true) == .wait(nil))
            }
        }
    }

    @Test(
        "Each state has its limit and its ending",
        arguments: [
            ("idle, new", TimeLimit.header, HTTPConnectionEnding.finish), ("idle", .keepAlive, .finish),
            ("in head, new", .header, .refuse), ("in head", .header, .refuse), ("in body, 1", .body, .refuse),
            ("streaming day", .write, .cutOff), ("draining", .write, .cutOff),
        ])
    func late(name: String, limit: TimeLimit, ending: HTTPConnectionEnding) throws {
        let state = try #require(try Self.all().first { Self.name($0) == name })
        let late = try #require(state.late(isTaken: true))
        #expect(late.limit == limit && late.ending == ending)
        // A client that doesn't read gets no answer about the timeout.
        let stalled = try #require(state.late(isTaken: false))
        #expect(stalled.limit == (state.isReading ? .write : limit))
        #expect(stalled.ending == (state.isReading ? .close : ending))
    }

    @Test("A pending response has no limit of the connection")
    func unlimited() {
        for state in [State.answering, .awaiting(7), .over] {
            #expect(state.late(isTaken: true) == nil && state.late(isTaken: false) == nil)
        }
    }

    @Test("When the server stops, idle connections end, streams are finished, and responses are completed")
    func serverStops() throws {
        for state in try Self.all() {
            let ending: HTTPConnectionEnding? =
                switch state {
                case .idle: .finish
                case .streaming: .finishStream
                default: nil
                }
            #expect(state.endingWithServer == ending)
        }
    }
}
