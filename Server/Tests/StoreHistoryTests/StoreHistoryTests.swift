import ExpectedEntitlements
import Foundation
import Testing

/// Compares the ledger with the store in random histories, in which evidence is lost, repeated and delayed. After all
/// of it has arrived, the ledger answers for every time as the store itself would.
///
/// `dev/torture.sh store` runs twenty histories; `ASSAY_STORE_HISTORIES` sets another number, from seed 1.
@Suite("The ledger and the store")
struct StoreHistoryTests {
    private static let wantedHistories = ProcessInfo.processInfo.environment["ASSAY_STORE_HISTORIES"].flatMap {
        UInt64($0)
    }

    /// If no number is set, four that include all policies and all lengths of the grace period.
    private static let seeds: ClosedRange<UInt64> = wantedHistories.map { 1...max(1, $0) } ?? 5...8

    /// The number of steps of a history.
    private static let steps = wantedHistories == nil ? 300 : 1000

    /// The number of questions about a history, each about every product.
    private static let questions = 400

    @Test("agree about every customer, product and time once all evidence has arrived", arguments: seeds)
    func agreement(seed: UInt64) async throws {
        try await StoreHistory.with(seed: seed) { history in
            var history = history
            for step in 0..<Self.steps {
                try await history.step()
                try #require(try await history.differencesOfRows() == [], "seed \(seed), step \(step)")
            }
            try await history.deliverEverything()
            let differences = try await history.differences(questions: Self.questions)
            print("history \(seed): \(history.report)")
            #expect(differences == [], "seed \(seed)")
            #expect(try await history.audit() == [], "seed \(seed)")
            // A history without events would agree as well.
            #expect(history.counts.activeAnswers > 100 && history.counts.inactiveAnswers > 100, "seed \(seed)")
            // By chance one kind of event can be missing, but a different kind in each history.
            #expect(Self.steps < 1000 || history.missingEvents.count <= 1, "seed \(seed): \(history.missingEvents)")
        }
    }
}

/// The number of occurrences in a history.
struct HistoryCounts: CustomStringConvertible, Sendable {
    var steps = 0
    var refusedSteps = 0
    var moves = 0
    var deliveries = 0
    var lost = 0
    var duplicates = 0
    var delayed = 0
    var uses = 0
    var refusedUses = 0
    var questions = 0
    var activeAnswers = 0
    var inactiveAnswers = 0
    var shortfalls = 0

    var description: String {
        """
        \(steps) steps done, \(refusedSteps) refused; \(moves) moves; \(uses) uses, \(refusedUses) refused; \
        evidence \(deliveries) delivered, \(lost) lost, \(delayed) late, \(duplicates) twice; \
        \(questions) questions: \(activeAnswers) answers with access, \(inactiveAnswers) without, \
        \(shortfalls) with a shortfall
        """
    }
}
