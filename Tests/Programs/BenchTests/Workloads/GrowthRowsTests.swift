import Testing

@testable import letsswitch_bench

@Suite struct GrowthRowsTests {
    private func point(cost: Double) -> GrowthPoint {
        var sample = Sample()
        (sample.work, sample.serverCPU, sample.seconds) = (1_000_000, cost, 1)
        return GrowthPoint(delivery: [sample], join: [sample], leave: [sample])
    }

    @Test(
        "The cost may grow by 15 %, or by as much as the baseline's",
        arguments: [(1.1, 1.0, true), (1.5, 1.0, false), (1.5, 1.4, true)])
    func judged(daemon: Double, floor: Double, isMet: Bool) {
        var rows = GrowthRows(id: "growth")
        rows.add(rooms: 1, floor: point(cost: 9), daemon: point(cost: 9))
        rows.add(rooms: 5, floor: point(cost: 1), daemon: point(cost: 1))
        rows.add(rooms: 50, floor: point(cost: floor), daemon: point(cost: daemon))
        let judged = rows.judged
        let ids = ["delivery", "join", "leave"].flatMap { unit in [1, 5, 50].map { "growth-\(unit)-\($0)" } }
        #expect(judged.map(\.id) == ids)
        #expect(judged.map(\.isMet) == [nil, nil, isMet, nil, nil, isMet, nil, nil, isMet])
    }
}
