import Foundation
import PurchaseVerification

/// The settings of an app as recorded in the journal.
struct RecordedSettings: Codable {
    var app: String
    var bundle_ids: [String]
    var apple_id: UInt64?
    var environments: [String]
    var versions: [String]
    var products: [String: Product]
    var transfer: String
    var order_lifetime: Int64
    var sandbox_access: String
    var refund_shortfall: String
    var require_account_token: Bool
    var require_signed_transaction: Bool
    /// `nil` for `offline`.
    var mode: String?
    /// `nil` for an hour.
    var lapse_tolerance: Int64?
    /// `nil` without a key of the App Store Server API.
    var app_store_key: Bool?
    /// `nil` for no.
    var set_account_tokens: Bool?
    /// `nil` for `deny`.
    var guest_restore: String?

    struct Product: Codable {
        var kind: String
        var duration: String?
        var entitlements: [String]
        var group: String?
    }
}

extension RegisteredApp {
    /// The settings as canonical JSON: those that affect purchases, in sorted order.
    func canonicalJSON() throws(LedgerStorageError) -> [UInt8] {
        let settings = RecordedSettings(
            app: id, bundle_ids: bundleIDs.sorted(), apple_id: appleID, environments: environments.map(\.name).sorted(),
            versions: versions.sorted(),
            products: products.mapValues {
                RecordedSettings.Product(
                    kind: $0.kind.rawValue, duration: $0.duration?.description, entitlements: $0.entitlements,
                    group: $0.group?.string)
            },
            transfer: transfer.rawValue, order_lifetime: orderLifetime, sandbox_access: sandboxAccess.rawValue,
            refund_shortfall: refundShortfall.rawValue, require_account_token: requiresAccountToken,
            require_signed_transaction: requiresSignedTransaction, mode: mode == .offline ? nil : mode.rawValue,
            lapse_tolerance: lapseTolerance == Self.defaultLapseTolerance ? nil : lapseTolerance,
            app_store_key: hasAppStoreKey ? true : nil, set_account_tokens: setsAccountTokens ? true : nil,
            guest_restore: guestRestore == .deny ? nil : guestRestore.rawValue)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(settings))
        } catch {
            throw LedgerStorageError(.other, "the settings of \(id) cannot be encoded: \(error)")
        }
    }
}

extension RegisteredApp {
    /// Reads recorded settings.
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
                    entitlements: product.entitlements, group: product.group.map { ExactText($0) })
            }
        }
        transfer = TransferPolicy(rawValue: settings.transfer) ?? .deny
        orderLifetime = settings.order_lifetime
        sandboxAccess = SandboxAccess(rawValue: settings.sandbox_access) ?? .testers
        refundShortfall = RefundShortfallPolicy(rawValue: settings.refund_shortfall) ?? .forgive
        requiresSignedTransaction = settings.require_signed_transaction
        requiresAccountToken = settings.require_account_token
        mode = settings.mode.flatMap(AppStoreMode.init(rawValue:)) ?? .offline
        lapseTolerance = settings.lapse_tolerance ?? Self.defaultLapseTolerance
        hasAppStoreKey = settings.app_store_key ?? false
        setsAccountTokens = settings.set_account_tokens ?? false
        guestRestore = settings.guest_restore.flatMap(TransferPolicy.init(rawValue:)) ?? .deny
    }
}
