import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// Whether limits refused anything since midnight (UTC).
struct LimitExamination {
    let now: Timestamp

    private static let millisecondsOfDay: Int64 = 86_400_000

    /// The requests that a running server refused with 429.
    static func finding(_ readiness: ReadinessQuestion.Answer) -> DoctorFinding {
        guard readiness.limitedToday.contains(where: { $0.value > 0 }) else {
            return .fine(.limits, "no request was beyond a limit today")
        }
        let counts = readiness.limitedToday.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return .warning(
            .limits, "answered with 429 today: \(counts.joined(separator: ", "))",
            do:
                "Look for 'status=429' in the server's log, which names app and key; raise the limit in 'limits' if the "
                + "requests are honest.")
    }

    /// The refused claims beyond the daily budget.
    func refusals(_ database: any LedgerDatabase) async -> [DoctorFinding] {
        let midnight = now.millisecondsSince1970 / Self.millisecondsOfDay * Self.millisecondsOfDay
        do {
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: TrustAnchor.apple)
            ) { [now] in now }
            let counts = try await ledger.answer(
                CountedRefusalsOfDay(since: Timestamp(millisecondsSince1970: midnight)))
            return counts.sorted { $0.key < $1.key }.map { key, count in
                .warning(
                    .limits, "\(count) refused claims of the key \(key.isEmpty ? "none" : key) today are only counted",
                    do: "Find out who sends them; the app's unverified_evidence is the daily budget.")
            }
        } catch {
            return [.failed(.limits, "the refusals of today cannot be read: \(error)", do: "Run 'assay audit verify'.")]
        }
    }
}
