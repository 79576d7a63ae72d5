import PurchaseVerification

/// Whether an app learns of renewals by itself: it asks the App Store, or notifications arrive. Without such a source
/// no news are late, so no access is assumed (docs/ledger.md, "The state of a subscription", row 10).
struct NewsSource {
    /// How long a notification shows that others will arrive, in milliseconds: seven days.
    static let validity: Int64 = 7 * 86_400_000

    let reader: LedgerTransaction
    let app: RegistryApp

    /// Whether news of an environment arrive.
    func tells(of environment: AppStoreEnvironment) throws(LedgerStorageError) -> Bool {
        guard app.settings.mode == .offline, !app.settings.hasAppStoreKey else { return true }
        guard let number = try reader.environments.key(of: environment),
            let newest = try NotificationsTable(connection: reader.connection).newest(
                appKey: app.key, environment: number)
        else { return false }
        return reader.now < newest.adding(milliseconds: Self.validity, times: 1)
    }
}
