import AppStoreConnection
import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// A backfill: the history of one original after another, several at the same time.
struct BackfillRun {
    let ledger: PurchaseLedger
    let app: String
    let access: ServerAPIAccess

    enum Scope {
        case customer(String)
        case transaction(String)
        case all
    }

    /// The purchases of a page of `--all`. At its end, the last calls of the page are waited for.
    private static let pageSize = 1024
    /// The work that notes how far `--all` is.
    private static let wholeSubject = "--all"

    /// What was read of one original.
    private enum Result: Sendable {
        case read(HistoryReading.Outcome)
        case refused(String)
        case failed(String)
    }

    private struct Totals {
        var originals = 0
        var pages = 0
        var transactions = 0
        var refused = 0
    }

    /// Reads everything.
    ///
    /// - Returns: the exit status.
    func run(_ scope: Scope) async throws -> ExitCode {
        switch scope {
        case .customer(let name): return try await read(.customer(name), named: "customer \(name)")
        case .transaction(let id): return try await read(.transaction(id), named: "transaction \(id)")
        case .all: return try await readAll()
        }
    }

    private func read(_ scope: OriginalsToAsk.Scope, named name: String) async throws -> ExitCode {
        let originals = try await ledger.answer(OriginalsToAsk(app: app, scope))
        guard !originals.isEmpty else {
            Terminal.complain("the ledger knows no purchase of the \(name) in production or the sandbox")
            return .rejected
        }
        announce(originals.count, in: originals[0].environment)
        var (totals, bar) = (Totals(), ProgressBar(unit: "purchases"))
        let start = ContinuousClock.now
        let failure = try await read(originals, &totals) { done in
            bar.show(done: done, share: Double(done) / Double(originals.count))
        }
        bar.clear()
        return end(totals, start, failure, "")
    }

    private func readAll() async throws -> ExitCode {
        let state = try await ledger.answer(
            WorkState(.history, app: app, environment: .production, subject: Self.wholeSubject))
        var place = state?.progress.flatMap { Int64($0) } ?? 0
        if place > 0 { Terminal.remark("an interrupted backfill goes on") }
        let count = try await ledger.answer(CountOriginals(app: app, after: place))
        announce(count, in: .production)
        let interruption = Interruption()
        await interruption.watch()
        var (totals, bar) = (Totals(), ProgressBar(unit: "purchases"))
        let start = ContinuousClock.now
        var failure: String?
        while failure == nil, !interruption.isRequested {
            let page = try await ledger.answer(
                OriginalsToAsk(app: app, .all(after: place, limit: Self.pageSize)))
            guard let last = page.last else { break }
            let before = totals.originals
            failure = try await read(page, &totals) { done in
                bar.show(done: before + done, share: Double(before + done) / Double(max(count, 1)))
            }
            guard failure == nil else { break }
            place = last.place
            try await note(place)
        }
        bar.clear()
        if interruption.isRequested {
            _ = end(totals, start, "interrupted", "; run the same command again to go on")
            return ExitCode(Interruption.status)
        }
        if failure == nil { try await note(nil) }
        return end(totals, start, failure, "; run the same command again to go on")
    }

    private func note(_ place: Int64?) async throws {
        let task = LedgerWork(
            .history, app: app, environment: .production, subject: Self.wholeSubject,
            progress: place.map { "\($0)" })
        try await ledger.perform(NoteWork(task, next: nil))
    }

    /// Reads originals, several at the same time.
    ///
    /// - Returns: why it ended early.
    private func read(
        _ originals: [OriginalsToAsk.Original], _ totals: inout Totals, show: (Int) -> Void
    ) async throws -> String? {
        var (next, done) = (originals[...], 0)
        var failure: String?
        await withTaskGroup(of: (String, Result).self) { group in
            while true {
                while failure == nil, next.count > 0, originals.count - next.count - done < ServerAPIAccess.atOnce,
                    let original = next.popFirst()
                {
                    group.addTask { (original.originalTransactionID, await self.read(original)) }
                }
                guard let (id, result) = await group.next() else { return }
                done += 1
                switch result {
                case .read(let outcome):
                    totals.originals += 1
                    totals.pages += outcome.pages
                    totals.transactions += outcome.transactions
                case .refused(let reason):
                    totals.originals += 1
                    totals.refused += 1
                    Terminal.write("\(id.printable): \(reason.printable)\n")
                case .failed(let reason): failure = reason
                }
                show(done)
            }
        }
        return failure
    }

    private func read(_ original: OriginalsToAsk.Original) async -> Result {
        guard let environment = ValidationEnvironment(original.environment) else {
            return .refused("has no Server API")
        }
        do {
            let state = try await ledger.answer(
                WorkState(
                    .history, app: app, environment: original.environment, subject: original.originalTransactionID))
            let task = LedgerWork(
                .history, app: app, environment: original.environment, subject: original.originalTransactionID,
                progress: state?.progress)
            let reading = HistoryReading(server: access.client, ledger: ledger, workers: access.workers)
            return .read(
                try await ServerAPIAccess.patiently {
                    var task = task
                    return try await reading.read(&task, for: access.app(original.bundleID), in: environment)
                })
        } catch let error as AppStoreServerError
            where [.refused, .otherAnswer, .unverified].contains(error.code) || error.isEndless
        {
            return .refused("\(error)")
        } catch {
            return .failed("\(error)")
        }
    }

    private func announce(_ count: Int, in environment: AppStoreEnvironment) {
        let seconds = access.seconds(
            count, of: GetTransactionHistory.self, in: environment == .sandbox ? .sandbox : .production)
        Terminal.remark(
            "\(counted(count, "purchase")): at least \(counted(count, "history", "histories")) and as many statuses, in "
                + "\(ImportReport.duration(seconds)) at Apple's limits")
    }

    private func end(
        _ totals: Totals, _ start: ContinuousClock.Instant, _ failure: String?, _ advice: String
    ) -> ExitCode {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        Terminal.write(
            "assay: \(counted(totals.originals, "purchase")) read in \(ImportReport.duration(seconds)), "
                + "\(counted(totals.pages, "page")) with \(counted(totals.transactions, "transaction"))\n")
        if let failure {
            Terminal.complain("\(failure)\(advice)")
            return .unusable
        }
        return totals.refused > 0 ? .rejected : .success
    }
}
