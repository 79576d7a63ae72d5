import AppStoreConnection
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

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

/// How long fetching numbers really takes. Apple's limits give the time that is printed before the first call; a slow
/// network, database or machine needs longer, and only a measured pace can tell.
///
/// The time is measured after a fiftieth of the numbers, and again whenever twice as many are done. It is said again if
/// what was said before is wrong by more than 5 %, so at most seven times.
struct NumbersPace {
    /// The rows with only a number.
    let count: Int
    /// The time that was said first, in seconds.
    let expected: Double

    /// The numbers that were asked about, and those that an earlier import has.
    private var asked = 0
    private var known = 0
    /// When measuring began, and how many numbers had been asked about by then: the first answers come late, because
    /// the calls before them fill up what runs at the same time.
    private var begin: (seconds: Double, asked: Int)?
    private var nextLook: Int
    /// The whole time that was said last.
    private var said: Double

    /// The answers that come in before the pace is measured: twice as many as are asked at the same time.
    private static let leadIn = 2 * ServerAPIAccess.atOnce

    init(count: Int, expected: Double) {
        (self.count, self.expected) = (count, expected)
        nextLook = max(2 * Self.leadIn, count / 50)
        said = expected
    }

    /// Notes rows that were recorded.
    ///
    /// - Parameter seconds: the time since the import began.
    /// - Returns: what to say, if it is time for it.
    mutating func note(asked new: Int, known more: Int, after seconds: Double) -> String? {
        asked += new
        known += more
        guard let begin else {
            if asked >= Self.leadIn { begin = (seconds, asked) }
            return nil
        }
        guard asked >= nextLook, seconds > begin.seconds else { return nil }
        nextLook = max(nextLook, asked) * 2
        let rest = Double(max(0, count - asked - known)) * (seconds - begin.seconds) / Double(asked - begin.asked)
        // Numbers of an earlier import were counted in the time that was said first.
        let whole = seconds + rest
        guard abs(whole - said) > 0.05 * whole else { return nil }
        said = whole
        return "\(counted(asked, "number")) took \(ImportReport.duration(seconds)); at this pace the rest takes "
            + ImportReport.duration(rest)
    }
}
