import FoundationEssentials
import LetsSwitchClient

/// The terminal of somebody who is in a room: the driver of a ``RoomView``.
actor RoomScreen {
    private let output: Output
    private var view: RoomView
    private var shown = ""
    private var ticking: Task<Void, Never>?

    init(_ output: Output, _ view: RoomView) {
        self.output = output
        self.view = view
    }

    func heard(_ event: Room.Event) throws(OutputFailure) {
        try show(view.heard(event))
        guard ticking == nil else { return }
        ticking = Task {
            while !Task.isCancelled, view.countsDown(at: .now) {
                // At the wall clock's next second: starts are whole ones.
                let now = Date.now.timeIntervalSince1970
                try? await Task.sleep(for: .seconds(now.rounded(.down) + 1 - now))
                try? show(nil)
            }
        }
    }

    /// The line below goes: what the shell says next is not to stand behind it.
    func end() {
        ticking?.cancel()
        try? output.rewrite(nil, below: "")
    }

    private func show(_ line: String?) throws(OutputFailure) {
        guard !Task.isCancelled else { return }
        let status = view.status(at: .now)
        guard line != nil || status != shown else { return }
        shown = status
        try output.rewrite(line, below: status)
    }
}
