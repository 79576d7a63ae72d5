import Foundation
import PurchaseVerification

extension RegisteredApp {
    /// Settings as the journal has them.
    init(recorded: [UInt8]) throws(LedgerStorageError) {
        let settings: RecordedSettings
        do {
            settings = try JSONDecoder().decode(RecordedSettings.self, from: Data(recorded))
        } catch {
            throw LedgerStorageError(.corrupt, "recorded settings cannot be read: \(error)")
        }
        self.init(id: settings.app, bundleIDs: Set(settings.bundle_ids))
        appleID = settings.apple_id
        environments = Set(settings.environments.map { AppStoreEnvironment($0) })
        versions = Set(settings.versions)
        products = settings.products.compactMapValues { product in
            ProductKind(rawValue: product.kind).map {
                RegisteredProduct(
                    kind: $0, duration: product.duration.flatMap { PassDuration($0) },
                    entitlements: product.entitlements)
            }
        }
        transfer = TransferPolicy(rawValue: settings.transfer) ?? .deny
        orderLifetime = settings.order_lifetime
        sandboxAccess = SandboxAccess(rawValue: settings.sandbox_access) ?? .testers
        refundShortfall = RefundShortfallPolicy(rawValue: settings.refund_shortfall) ?? .forgive
        requiresAccountToken = settings.require_account_token
    }
}

extension Registry {
    /// The apps with the settings that were recorded last, without those that were removed.
    init(recordedIn connection: any LedgerConnection) throws(LedgerStorageError) {
        var apps: [RegistryApp] = []
        for (key, _) in try AppsTable(connection: connection).all() {
            let latest = try SettingsHistoryTable(connection: connection).all(appKey: key).last
            guard let body = latest?.body, !body.isEmpty else { continue }
            apps.append(RegistryApp(key: key, settings: try RegisteredApp(recorded: body)))
        }
        self.init(apps: apps)
    }
}
