import PurchaseLedger
import PurchaseVerification

/// The ledger as requests use it: each call of the database has a time limit.
struct TimedLedger: Sendable {
    let ledger: PurchaseLedger
    let deadlines: AnswerDeadlines

    /// Performs an operation; after the time limit it may still be stored.
    func perform<Operation: LedgerOperation>(_ operation: Operation) async throws -> Operation.Outcome {
        try await deadlines.run(orFail: .outcomeUnknown) { [ledger] in try await ledger.perform(operation) }
    }

    /// Records the evidence of a wrong restore; after the time limit, a part of it may be stored.
    func observe(_ examined: ExaminedRestore, flaw: Rejection) async throws -> Int {
        try await deadlines.run(orFail: .outcomeUnknown) { [ledger] in
            try await ledger.observe(examined, flaw: flaw)
        }
    }

    func answer<Query: LedgerQuery>(_ query: Query) async throws -> Query.Answer {
        try await deadlines.run(orFail: .unavailable) { [ledger] in try await ledger.answer(query) }
    }

    func examine(_ submission: PurchaseSubmission) -> ExaminedSubmission { ledger.examine(submission) }

    func examine(_ submission: RestoreSubmission) -> ExaminedRestore { ledger.examine(submission) }

    func inspect(_ evidence: [UInt8], app: String) -> EvidenceInspection { ledger.inspect(evidence, app: app) }

    func genuine(_ submission: EvidenceSubmission) throws(VerificationError) -> ExaminedEvidenceSubmission {
        try ledger.genuine(submission)
    }

    func isCertificateHeaderKnown(of signedPayload: [UInt8]) -> Bool {
        ledger.isCertificateHeaderKnown(of: signedPayload)
    }
}
