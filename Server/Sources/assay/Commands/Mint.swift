public import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseVerification

/// `assay mint`: evidence for tests, signed by a test authority.
struct Mint: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes evidence for tests, signed by an authority of your own.",
        discussion: """
            The authority is created once and kept in a folder; a folder of an older version is completed. Its evidence \
            verifies only with '--trust FOLDER/trust.pem', and app receipts also with '--trust FOLDER/root.pem'. \
            Evidence of '--kind xcode' and '--environment Xcode' verifies with \
            '--trust FOLDER-xcode/trust.pem --environment Xcode'.
            """)

    enum Encoding: String, CaseIterable, ExpressibleByArgument {
        case der, ber
    }

    @Option(help: "The folder of the authority; it is created if it does not exist.") var authority = "assay-authority"

    @Option(
        name: .long,
        help: """
            What to make. App receipts: sandbox, production, vpp, mac, xcode. Transaction receipts: transaction-v2, \
            transaction-v3, transaction-v4. Signed data (JWS): signed-transaction, renewal-info, app-transaction, \
            notification.
            """)
    var kind = MintKind.sandbox

    @Option(
        name: .long,
        help: "The environment of a transaction receipt or of signed data: Sandbox, Production, Xcode or another name.")
    var environment: String?

    @Option(help: "The bundle id of the app.") var bundleID = "com.example.app"
    @Option(help: "The version of the app.") var appVersion: String?
    @Option(help: "When it was made, such as 2026-01-31T12:00:00Z; now, if not given.") var created: AppStoreTime?

    @Option(
        name: .long, help: "When an app receipt expires; a year after it was made, if it is of the kind vpp.")
    var expires: AppStoreTime?

    @Option(name: .long, help: "The device that it is made for: a UUID (iOS), or hexadecimal bytes (Mac address).")
    var deviceID: DeviceIdentifier?

    @Option(
        name: .long,
        help: """
            A purchase: product=ID, and any of kind (consumable, non-consumable, non-renewing, auto-renewable or \
            subscription), transaction, original, quantity, purchased, expires, cancelled, separated by commas. Repeat for several \
            in an app receipt.
            """)
    var purchase: [String] = []

    @Option(help: "This many more purchases of one product, in an app receipt.") var purchases = 0
    @Option(help: "The type of a notification, such as REFUND.") var notificationType: String?
    @Option(help: "The subtype of a notification, such as INITIAL_BUY.") var subtype: String?
    @Option(help: "The digest of an app receipt: sha1, sha256, sha384, sha512.") var digest = ReceiptDigest.sha256
    @Flag(help: "Sign attributes in an app receipt, as other CMS messages do.") var signedAttributes = false

    @Option(name: .long, help: "How an app receipt is encoded: der, as Apple writes it, or ber, as Xcode does.")
    var encoding: Encoding?

    @Option(help: "The fault in the evidence; --list-faults lists the faults of its kind.") var fault: String?
    @Flag(help: "List the faults of the kind and exit.") var listFaults = false
    @Flag(help: "Write receipts as bare bytes instead of base64.") var bare = false
    @OptionGroup var output: OutputOption

    func validate() throws {
        guard (0...20_000).contains(purchases) else { throw ValidationError("'--purchases' takes 0 to 20000.") }
        if fault != nil, kind == .xcode || environment == "Xcode" {
            throw ValidationError("Faults are for evidence of the store, not of Xcode.")
        }
        if let fault, !kind.faults.contains(fault) {
            throw ValidationError("'\(fault)' is not a fault of \(kind.rawValue); '--list-faults' names them.")
        }
        if case .appReceipt = kind.form {
            guard environment == nil else { throw ValidationError("The kind of an app receipt is its environment.") }
        } else {
            try validateOnePurchase()
        }
        guard kind == .notification || (notificationType == nil && subtype == nil) else {
            throw ValidationError("'--notification-type' and '--subtype' are for notifications.")
        }
    }

    func run() throws {
        if listFaults {
            Terminal.write(kind.faults.map { $0 + "\n" }.joined())
            return
        }
        try output.write([UInt8](try encoded()))
    }

    /// The content of the file.
    private func encoded() throws -> Data {
        let created = created?.date ?? Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        switch kind.form {
        case .appReceipt:
            return inText(try appReceipt(created))
        case .transactionReceipt(let version):
            let fault = fault.flatMap(TransactionReceiptFault.init)
            return inText(
                try onePurchase(created).transactionReceipt(version, fault: fault, authority: try storeAuthority()))
        case .signedPayload:
            let fault = fault.flatMap(SignedPayloadFault.init)
            let mint = try onePurchase(created)
            let text =
                environment == "Xcode"
                ? try mint.signedPayload(kind, signer: try xcodeSigner())
                : try mint.signedPayload(kind, fault: fault, authority: try storeAuthority())
            return Data((text + "\n").utf8)
        }
    }

    private func inText(_ bytes: [UInt8]) -> Data {
        bare ? Data(bytes) : Data((Data(bytes).base64EncodedString() + "\n").utf8)
    }

    private func storeAuthority() throws -> AppStoreAuthority {
        try AppStoreAuthority(folder: URL(fileURLWithPath: authority, isDirectory: true))
    }

    /// Xcode's evidence has no authority; its signer has a separate folder.
    private func xcodeSigner() throws -> XcodeSigner {
        try XcodeSigner(folder: URL(fileURLWithPath: authority + "-xcode", isDirectory: true))
    }
}

extension Mint {
    private func appReceipt(_ created: Date) throws -> [UInt8] {
        let template = try template(created)
        if kind == .xcode {
            return try xcodeSigner().encode(template)
        }
        var signing = SigningOptions()
        signing.digest = digest
        signing.signedAttributes = signedAttributes
        signing.encoding = encoding == .ber ? .xcodeBER : .der
        return try AppReceiptEncoder(authority: try storeAuthority().receipts)
            .encode(template, signing: signing, fault: fault.flatMap(ReceiptFault.init))
    }

    private func template(_ created: Date) throws -> AppReceiptTemplate {
        let device = deviceID?.bytes ?? AppReceiptTemplate.noDevice
        let purchases = try allPurchases(created)
        var template =
            switch kind {
            case .production:
                AppReceiptTemplate.production(
                    bundleID: bundleID, creationDate: created, purchases: purchases, device: device)
            case .vpp:
                AppReceiptTemplate.volumePurchase(
                    bundleID: bundleID, creationDate: created,
                    expirationDate: expires?.date ?? created.addingTimeInterval(365 * 86_400), purchases: purchases,
                    device: device)
            case .mac:
                AppReceiptTemplate.mac(bundleID: bundleID, creationDate: created, purchases: purchases, device: device)
            case .xcode:
                AppReceiptTemplate.xcode(
                    bundleID: bundleID, creationDate: created, purchases: purchases, device: device)
            default:
                AppReceiptTemplate.sandbox(
                    bundleID: bundleID, creationDate: created, purchases: purchases, device: device)
            }
        if let appVersion { template.applicationVersion = appVersion }
        if let expires { template.expirationDate = expires.date }
        return template
    }

    private func allPurchases(_ created: Date) throws -> [PurchaseTemplate] {
        let given = try purchase.enumerated().map { index, text in
            try PurchaseArgument(text).template(number: index + 1, created: created)
        }
        let more = (0..<purchases).map { index in
            PurchaseTemplate.consumable(
                productID: "\(bundleID).coins", transactionID: "\(2_000_000_000_000_000 + index)",
                purchaseDate: created.addingTimeInterval(-Double(index)))
        }
        return given + more
    }
}

extension Mint {
    private func validateOnePurchase() throws {
        guard purchase.count <= 1, purchases == 0 else {
            throw ValidationError("Only app receipts hold several purchases.")
        }
        guard expires == nil, encoding == nil, !signedAttributes else {
            throw ValidationError("'--expires', '--encoding' and '--signed-attributes' are for app receipts.")
        }
        guard deviceID.map({ $0.bytes.count == 16 }) ?? true else {
            throw ValidationError("The device of \(kind.rawValue) is a UUID.")
        }
        let isXcode = environment == "Xcode"
        if case .transactionReceipt = kind.form, isXcode {
            throw ValidationError("Xcode makes no transaction receipts.")
        }
        guard kind != .notification || !isXcode else { throw ValidationError("Xcode sends no notifications.") }
    }

    /// The given purchase, or a generated one.
    private func onePurchase(_ created: Date) throws -> PurchaseMint {
        let standard =
            kind == .renewalInfo ? "product=\(bundleID).monthly,kind=subscription" : "product=\(bundleID).coins"
        let device = deviceID.map { identifier in
            identifier.bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
        return PurchaseMint(
            purchase: try PurchaseArgument(purchase.first ?? standard).template(number: 1, created: created),
            bundleID: bundleID, appVersion: appVersion ?? "1", environment: environment ?? "Sandbox", created: created,
            deviceID: device, notificationType: notificationType, subtype: subtype)
    }
}

extension ReceiptDigest: @retroactive ExpressibleByArgument {}
