import AppStoreConnection
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// Fetches the evidence of rows that have only the number of a purchase: its history and its status.
struct ImportedNumbers: Sendable {
    let ledger: PurchaseLedger
    let app: String
    let access: ServerAPIAccess
    /// How many rows have only a number.
    let count: Int

    /// The rows that are fetched in one batch, one after the other: few, so that the last batch is short.
    static let batchRows = 2

    enum Answer: Sendable {
        /// What Apple signed about the purchase, and its original if the number is that of a restored copy.
        case evidence([[UInt8]], copyOf: String?)
        /// An earlier import fetched and recorded it.
        case known
        case flaw(ImportFlaw)
    }

    /// The number of rows of a file that have only a number.
    static func count(_ file: String) throws -> Int {
        var reader = try ImportReader(file)
        var count = 0
        while let row = reader.next() {
            // A row that cannot be read is rejected later.
            if let submission = try? row.submission(), submission.evidence.isEmpty { count += 1 }
        }
        return count
    }

    /// The time that fetching takes at least, in seconds.
    var seconds: Double { access.seconds(count, of: GetTransactionHistory.self, in: .production) }

    /// Fetches what Apple signed about a number.
    ///
    /// - Throws: an error that is not about this number: Apple gives no answer, or the ledger fails.
    func evidence(of number: String, for customer: String) async throws -> Answer {
        let query = IsNumberImported(app: app, customerID: customer, number: number)
        if try await ledger.answer(query) { return .known }
        var refusal: AppStoreServerError?
        for app in access.apps {
            do {
                return try await ServerAPIAccess.patiently { try await fetch(number, app) }
            } catch let error as AppStoreServerError {
                // Another app of the same settings may know the number.
                let isAboutNumber =
                    [.otherAnswer, .unverified].contains(error.code) || error.isNotFound || error.isEndless
                guard isAboutNumber else { throw error }
                refusal = error
            }
        }
        let words = refusal.map { "\($0)" } ?? "no app was asked"
        return .flaw(ImportFlaw(.numberUnknown, "the App Store does not prove the purchase \(number): \(words)"))
    }

    private func fetch(_ number: String, _ serverApp: AppStoreServerApp) async throws -> Answer {
        let reading = HistoryReading(server: access.client, ledger: ledger, workers: access.workers)
        let history = try await reading.fetch(number, for: serverApp)
        guard
            let asked = history.transactions.first(where: {
                $0.content.transactionID == number || $0.content.originalTransactionID == number
            })
        else {
            throw AppStoreServerError(
                .otherAnswer, history.environment, seen: "a history without the transaction \(number)")
        }
        let original = asked.original
        // Other purchases of the same customer of Apple's have numbers of their own, and may be somebody else's here.
        let own = history.transactions.filter { $0.original == original }
        if own.contains(where: { $0.content.productType == .autoRenewableSubscription }) {
            try await reading.observeStatus(of: original, app: app, for: serverApp, in: history.environment)
        }
        try await reading.noteRead(original, app: app, history)
        return .evidence(own.map { Array($0.text.utf8) }, copyOf: history.copy?.original)
    }
}
