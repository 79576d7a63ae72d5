import PurchaseVerification

/// Ends the requests, the work and the deliveries of an app in this ledger, on all servers. From the commit on it has
/// no new entries but those of erasures, of ended API keys, of refusals before it, and of the move. Its rows still
/// change by the evidence that other apps send of its purchases, which its new ledger does not get.
package struct MoveApp: LedgerOperation {
    let app: String
    let origin: String
    let place: String

    /// - Parameters:
    ///   - origin: the origin of the log of its new ledger.
    ///   - place: where to ask for the app.
    package init(app: String, origin: String, place: String) {
        (self.app, self.origin, self.place) = (app, origin, place)
    }

    /// - Returns: the app; if it moved there before, with that entry.
    /// - Throws: `CopyError`.
    package func perform(_ transaction: LedgerTransaction) throws -> MovedApp {
        let (app, known) = try transaction.movedApp(app)
        if let known {
            guard known.origin.isSame(as: origin), known.place.isSame(as: place) else {
                throw CopyError(
                    .appMoved,
                    "\(self.app) moves to \(known.place) with the origin \(known.origin); name both, or open it again with --reopen"
                )
            }
            return known
        }
        guard try transaction.latestSettings(appKey: app.key)?.counting != .inPieces else {
            throw CopyError(.appNotReady, "purchases of products that the settings name since now are being counted")
        }
        let webhooks = WebhooksTable(connection: transaction.connection)
        for row in try webhooks.all(appKey: app.key) where row.disabledAt == nil {
            try webhooks.set(row.key, disabledAt: transaction.now, reason: AppMovedDetails.reason)
        }
        let details = AppMovedDetails(origin: origin, place: place)
        let write = try transaction.append(transaction.draft(app), details)
        try details.run(write)
        return MovedApp(entry: write.entry.key, id: write.entry.id, origin: origin, place: place)
    }
}

/// Names the copy that is the app's ledger from now on. The first one that is named remains it.
struct FinishMove: LedgerOperation {
    let app: String
    let moved: MovedApp
    /// The id of the copy.
    let copy: String
    /// The entry up to which it has all of the app.
    let last: Int64

    /// - Throws: `CopyError`.
    func perform(_ transaction: LedgerTransaction) throws {
        let (app, known) = try transaction.movedApp(app)
        guard let known, known.id == moved.id, (known.copy ?? copy).isSame(as: copy) else {
            throw CopyError(
                .appMoved, "\(self.app) was opened again, or moved into another database, meanwhile; delete this target"
            )
        }
        guard known.copy == nil else { return }
        guard try JournalTable(connection: transaction.connection).newest(appKey: app.key, after: last) == nil else {
            throw CopyError.overtaken(self.app)
        }
        let details = AppMovedDetails(origin: known.origin, place: known.place, act: known.id.text, copy: copy)
        try details.run(try transaction.append(transaction.draft(app), details))
    }
}

/// Lets the servers of this ledger answer for an app again.
package struct ReopenApp: LedgerOperation {
    let app: String
    let discardsTarget: Bool

    /// - Parameter discardsTarget: whether it may have moved whole.
    package init(app: String, discardsTarget: Bool = false) { (self.app, self.discardsTarget) = (app, discardsTarget) }

    /// - Throws: `CopyError`.
    package func perform(_ transaction: LedgerTransaction) throws {
        let (app, known) = try transaction.movedApp(app)
        guard let known else {
            throw CopyError(.notCopied, "the app \(self.app) did not move; there is nothing to open again")
        }
        guard known.copy == nil || discardsTarget else {
            throw CopyError(
                .appMoved,
                """
                \(self.app) moved whole, and the servers at \(known.place) may have sold since; stop them, delete their \
                database, and write --discard-target
                """)
        }
        let webhooks = WebhooksTable(connection: transaction.connection)
        for row in try webhooks.all(appKey: app.key) where row.disabledReason == AppMovedDetails.reason {
            try webhooks.set(row.key, disabledAt: nil, reason: nil)
        }
        let details = AppMovedDetails()
        try details.run(try transaction.append(transaction.draft(app), details))
    }
}

extension LedgerTransaction {
    /// An app, and where it moved as the database says.
    fileprivate func movedApp(_ name: String) throws -> (app: RegistryApp, moved: MovedApp?) {
        guard let app = registry.app(name) else { throw CopyError.unknownApp(name) }
        return (app, try AppsTable(connection: connection).moved()[app.key])
    }
}
