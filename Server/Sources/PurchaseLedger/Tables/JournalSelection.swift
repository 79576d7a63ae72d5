import PurchaseVerification

/// The index that finds the claims of a list.
enum JournalSelection: Sendable {
    /// Accepted claims of an app.
    case accepted
    /// Rejected claims of an app.
    case rejected
    /// Rejected claims of an app with a code.
    case code(String)
    case customer(Int64)
    case order(Int64)
    case transaction(Int64)
    /// Claims that are not accepted and whose requests name a transaction (`RefusedClaimsTable`).
    case naming(String)
    /// Refused evidence of an app, several pieces in an entry.
    case refusals
    case refusalsOf(customer: Int64)
    /// Answers of the App Store with a code other than `accepted`; their claims are listed.
    case appStoreAnswer(String)

    /// The condition, and the value of its parameter `?6`. 3 is `JournalKind.claim`, 48 is `JournalKind.refusals`; they
    /// are written out because SQLite chooses a partial index by the text of its condition.
    var condition: (sql: String, parameter: LedgerValue?) {
        switch self {
        case .accepted: ("app_key = ?1 AND kind = 3 AND code = 'accepted'", nil)
        case .rejected: ("app_key = ?1 AND kind = 3 AND code <> 'accepted'", nil)
        case .code(let code): ("app_key = ?1 AND kind = 3 AND code <> 'accepted' AND code = ?6", .text(code))
        case .customer(let key): ("customer_key = ?6 AND kind = 3 AND app_key = ?1", .integer(key))
        case .refusals: ("app_key = ?1 AND kind = 48", nil)
        case .refusalsOf(let key): ("customer_key = ?6 AND kind = 48 AND app_key = ?1", .integer(key))
        case .order(let key): ("order_key = ?6 AND kind = 3 AND app_key = ?1", .integer(key))
        // 2 is `JournalKind.appStoreAnswer`.
        case .appStoreAnswer(let code):
            ("app_key = ?1 AND kind = 2 AND code <> 'accepted' AND code = ?6", .text(code))
        case .naming(let id):
            (
                """
                entry_key IN (SELECT entry_key FROM refused_claims WHERE app_key = ?1 AND transaction_id = ?6
                AND (at, entry_key) < (?2, ?3) AND at >= ?4 ORDER BY at DESC, entry_key DESC LIMIT ?5)
                """, .text(id)
            )
        case .transaction(let key): ("transaction_key = ?6 AND kind = 3 AND app_key = ?1", .integer(key))
        }
    }
}
