import Foundation

/// The progress of an import: the share, the rate and the remaining time. On a terminal it is a bar; in a log, a line
/// every half minute.
struct ImportBar {
    private var bar = ProgressBar(unit: "rows")
    private let start = ContinuousClock.now
    private var shown = ContinuousClock.now
    private static let interval = Terminal.isErrorsTerminal ? Duration.milliseconds(200) : .seconds(30)

    /// - Parameters:
    ///   - done: the rows that were decided.
    ///   - share: the share of the input that was read; `nil` if its size is not known.
    mutating func show(done: Int, share: Double?) {
        let now = ContinuousClock.now
        guard now - shown >= Self.interval else { return }
        shown = now
        let note = Self.note(done, share: share, seconds: (now - start) / .seconds(1))
        guard Terminal.isErrorsTerminal else {
            Terminal.remark("\(done) rows" + note.trimmingCharacters(in: .whitespaces))
            return
        }
        bar.show(done: done, share: share ?? 0, note: note)
    }

    mutating func clear() { bar.clear() }

    /// The rate and the remaining time.
    static func note(_ done: Int, share: Double?, seconds: Double) -> String {
        var note = ", \(Int(Double(done) / max(seconds, 0.001))) rows/s"
        if let share {
            note = ", \(Int(100 * share)) %" + note
            if share > 0 { note += ", \(ImportReport.duration(seconds * (1 - share) / share)) left" }
        }
        return note + "    "
    }
}
