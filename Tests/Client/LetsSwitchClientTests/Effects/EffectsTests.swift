import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests with a simulated server and a manual clock.
@Suite struct EffectsTests {
    private struct Numbers: OutputMapping {
        func map(_ message: CableMessage) throws -> Int? {
            let number: Int = try message.data()
            return number < 0 ? nil : number
        }
    }

    private struct Shown: ActionMapping {
        /// A known output gives no action. All outputs of a change are compared with the same state.
        func actions(for output: Int, in state: [String]) -> [String] { ["\(output) of \(state.count)"] }
    }

    private let transport = SimulatedTransport(as: .foreign)
    private let clock = ManualTime()
    private let store = Store<[String], String>([]) { $0.append($1) }
    private let identifier = #""{\"channel\":\"Numbers\"}""#

    private func effect(_ cable: CableClient) -> ChannelEffect<Numbers, Shown> {
        ChannelEffect(
            channel: { await cable.subscribe("Numbers") }, output: Numbers(), actions: Shown(), failure: { "\($0)" })
    }

    private func welcome(_ link: SimulatedLink) async throws {
        link.deliver(#"{"type":"welcome"}"#)
        try await link.sent.next("a subscription")
        link.deliver(#"{"identifier":\#(identifier),"type":"confirm_subscription"}"#)
    }

    private func deliver(_ data: String, on link: SimulatedLink) {
        link.deliver(#"{"identifier":\#(identifier),"message":{"type":"number","data":\#(data)}}"#)
    }

    @Test("Gathered messages become one change of one state")
    func gathers() async throws {
        let link = transport.accept()
        let cable = CableClient(.cable(transport, time: clock.time))
        let effects = Effects<String, [String], String>(store, time: clock.time)
        await effects.run(effect(cable), as: "numbers")
        // An effect of that name is running.
        await effects.run(effect(cable), as: "numbers")
        try await welcome(link)
        deliver("1", on: link)
        for data in ["-1", #""x""#, "2"] { deliver(data, on: link) }
        // Messages that arrive after the first batch is due make another change.
        try await eventually("all are shown") {
            clock.advance(to: clock.time.now() + .milliseconds(50))
            return await store.state.count == 3
        }
        let shown = await store.state
        #expect(shown[0] == "1 of 0")
        #expect(shown[2].hasPrefix("2 of "))
        #expect(await effects.cancel("numbers"))
        #expect(await !effects.cancel("numbers"))
        try await link.sent.next("an unsubscription")
        #expect(link.sent.all.count == 2)
        let count = await store.state.count
        deliver("3", on: link)
        clock.advance(to: clock.time.now() + .seconds(1))
        #expect(await store.state.count == count)
    }

    @Test("A thousand outputs are applied in order, each to one state")
    func thousand() async throws {
        var random = SeededRandom(seed: 7)
        let link = transport.accept()
        let cable = CableClient(.cable(transport, time: clock.time))
        let effects = Effects<String, [String], String>(store, time: clock.time)
        await effects.run(effect(cable), as: "numbers")
        try await welcome(link)
        for number in 1...1000 {
            deliver("\(number)", on: link)
            // Less than the silence limit, and sometimes longer than a batch.
            clock.advance(to: clock.time.now() + .milliseconds(Int.random(in: 0...40, using: &random)))
            if number % 50 == 0 {
                clock.advance(to: clock.time.now() + .milliseconds(400))
                link.deliver(#"{"type":"ping","message":1}"#)
                try await link.taken()
            }
        }
        try await eventually("all are shown") {
            clock.advance(to: clock.time.now() + .milliseconds(50))
            return await store.state.count == 1000
        }
        let shown = await store.state.map { $0.split(separator: " of ").compactMap { Int($0) } }
        #expect(shown.map(\.first) == (1...1000).map { $0 })
        // Each output was compared with the state at the beginning of its change, which is the same for the whole
        // change.
        for (index, pair) in shown.enumerated() { #expect(pair[1] <= index) }
        let starts = Set(shown.map { $0[1] })
        for (index, pair) in shown.enumerated() where index > 0 && pair[1] != shown[index - 1][1] {
            #expect(pair[1] == index)
        }
        #expect(starts.contains(0))
        // Messages that wait when the effect is cancelled are dropped.
        deliver("1001", on: link)
        try await link.taken()
        await effects.cancel("numbers")
        clock.advance(to: clock.time.now() + .seconds(1))
        #expect(await store.state.count == 1000)
    }

    @Test("A rejected channel is a failure that can be retried")
    func rejected() async throws {
        let link = transport.accept()
        let cable = CableClient(.cable(transport, time: clock.time))
        let effects = Effects<String, [String], String>(store, time: clock.time)
        for round in 1...2 {
            await effects.run(effect(cable), as: "numbers")
            if round == 1 { link.deliver(#"{"type":"welcome"}"#) }
            try await link.sent.next("a subscription")
            link.deliver(#"{"identifier":\#(identifier),"type":"reject_subscription"}"#)
            try await eventually("the store has the state") { await store.state.count == round }
            try await eventually("it has ended") { await effects.isRunning("numbers") == false }
        }
        #expect(await store.state == ["\(ClientError.rejected)", "\(ClientError.rejected)"])
    }
}
