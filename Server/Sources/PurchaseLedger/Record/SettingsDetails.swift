import Foundation
import PurchaseVerification

/// `settings`: an app's settings as canonical JSON.
struct SettingsDetails: JournalDetails {
    static var kind: JournalKind { .settings }
    var settings: String
}

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

    struct Product: Codable {
        var kind: String
        var duration: String?
        var entitlements: [String]
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
                    kind: $0.kind.rawValue, duration: $0.duration?.description, entitlements: $0.entitlements)
            },
            transfer: transfer.rawValue, order_lifetime: orderLifetime, sandbox_access: sandboxAccess.rawValue,
            refund_shortfall: refundShortfall.rawValue, require_account_token: requiresAccountToken,
            require_signed_transaction: requiresSignedTransaction, mode: mode == .offline ? nil : mode.rawValue,
            lapse_tolerance: lapseTolerance == Self.defaultLapseTolerance ? nil : lapseTolerance,
            app_store_key: hasAppStoreKey ? true : nil, set_account_tokens: setsAccountTokens ? true : nil)
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
                    entitlements: product.entitlements)
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
    }
}

/// `rules`.
struct RulesDetails: JournalDetails {
    static var kind: JournalKind { .rules }
    var version: Int64
    /// Why the tables were rewritten; `nil` if they were not.
    var repair: String?
    /// The number of events `corrected` that the repair wrote.
    var corrections: Int64?
    /// The hash of their subjects (`Corrections`).
    var correctionsSHA256: String?
}

/// `bundle_bound`.
struct BundleBoundDetails: JournalDetails {
    static var kind: JournalKind { .bundleBound }
    var bundleID: String
}

/// `key_created`.
struct KeyCreatedDetails: JournalDetails {
    static var kind: JournalKind { .keyCreated }
    var keyID: String
    var name: String
    var scopes: [String]
    var secretSHA256: String
}

/// `key_revoked`.
struct KeyRevokedDetails: JournalDetails {
    static var kind: JournalKind { .keyRevoked }
    var keyID: String
}

/// `testers_changed`.
struct TestersChangedDetails: JournalDetails {
    static var kind: JournalKind { .testersChanged }
    var customer: String
    var isTester: Bool
    var reason: String?
}

/// `record_continued`: the log that ended, and the reason. It is the first leaf that the new origin signs.
struct RecordContinuedDetails: JournalDetails {
    static var kind: JournalKind { .recordContinued }
    /// The origin that ended.
    var origin: String
    /// The last signed size.
    var size: Int64
    /// The root at that size, in hexadecimal.
    var root: String
    /// The size of the log after the restore.
    var found: Int64
    var newOrigin: String
    var reason: String
    /// The signature of `signedText` by the key of the origin that ended, in base64.
    var signature: String?

    /// The other fields, one a line. It is no checkpoint: those have three lines.
    var signedText: [UInt8] {
        Array("assay record continued 1\n\(origin)\n\(size)\n\(root)\n\(found)\n\(newOrigin)\n\(reason)\n".utf8)
    }

    /// Whether one of the keys is of the origin that ended and signed the continuation.
    func isSigned(by keys: [LogVerifierKey]) -> Bool {
        guard let signature = signature.flatMap({ Base64Form.canonicalBytes(Array($0.utf8)[...]) })
        else { return false }
        return keys.contains { $0.name.isSame(as: origin) && $0.verifies(signature, of: signedText) }
    }
}
