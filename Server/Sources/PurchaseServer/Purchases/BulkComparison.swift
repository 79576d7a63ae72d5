import HTTPTypes
package import PurchaseAPI
package import PurchaseLedger

/// Compares many answers of another system, a batch at a time, for the HTTP interface and the program.
package struct BulkComparison {
    /// Asks the ledger.
    package typealias Asking = @Sendable (CompareAnswers) async throws -> [ComparisonMessage]

    /// The number of answers of one read of the ledger.
    private static let batch = 64

    private let app: RegisteredApp
    private var waiting: [(line: Int, answer: ForeignAnswer)] = []
    private var problems: [ComparisonProblem] = []
    package private(set) var counts = ComparisonSummary.Counts()

    package init(app: RegisteredApp) { self.app = app }

    /// Adds a line.
    ///
    /// - Returns: the lines of the differences in a batch that is complete.
    package mutating func add(_ line: BoundedLines.Line, _ ask: Asking) async throws -> [UInt8]? {
        do throws(Problem) {
            waiting.append((line.number, try read(line)))
        } catch {
            counts.invalid += 1
            problems.append(
                ComparisonProblem(
                    line: line.number,
                    ComparisonProblem.Problem(
                        code: error.code, text: error.detail ?? "", expected: error.expected, found: error.found)))
        }
        return waiting.count + problems.count < Self.batch ? nil : try await compare(ask)
    }

    /// The lines of the remaining differences, and the summary.
    package mutating func end(_ ask: Asking) async throws -> [UInt8] {
        try await compare(ask) + Self.line(ComparisonSummary(counts))
    }

    private func read(_ line: BoundedLines.Line) throws(Problem) -> ForeignAnswer {
        guard let bytes = line.bytes else {
            throw Problem(
                .badRequest, "line_too_long", "The line is too long.",
                expected: "at most \(BoundedLines.limit) bytes")
        }
        let read = ComparisonRequest.read(bytes)
        if let unknown = read.unknown.first { throw Problem(unknown) }
        if let flaw = read.flaw { throw Problem(flaw) }
        return try ForeignAnswer(read.message, of: app)
    }

    private mutating func compare(_ ask: Asking) async throws -> [UInt8] {
        defer { (waiting, problems) = ([], []) }
        var lines: [(number: Int, bytes: [UInt8])] = []
        for problem in problems { lines.append((problem.line, try Self.line(problem))) }
        if !waiting.isEmpty {
            let comparisons = try await ask(CompareAnswers(app: app.id, waiting.map(\.answer)))
            for (place, var comparison) in zip(waiting, comparisons) {
                counts.compared += 1
                guard !comparison.agrees, let cause = comparison.code else {
                    counts.agreed += 1
                    continue
                }
                counts.differed += 1
                counts.causes[cause, default: 0] += 1
                comparison.line = place.line
                lines.append((place.line, try Self.line(comparison)))
            }
        }
        return lines.sorted { $0.number < $1.number }.flatMap(\.bytes)
    }

    private static func line(_ message: some Encodable) throws -> [UInt8] {
        try Wire.json(message) + [UInt8(ascii: "\n")]
    }
}
