public import AppStoreSimulator
public import ArgumentParser
import Foundation
import PurchaseVerification

/// `assay mint`: a receipt for tests, signed by an authority of one's own.
struct Mint: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes a receipt for tests, signed by an authority of your own.",
        discussion: """
            The authority is made once and kept in a folder. What it signs verifies with '--trust FOLDER/root.pem' and \
            nowhere else; what '--kind xcode' signs, with '--trust FOLDER-xcode/storekit.pem --environment Xcode'.
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case sandbox, production, vpp, mac, xcode
    }

    enum Encoding: String, CaseIterable, ExpressibleByArgument {
        case der, ber
    }

    @Option(name: .long, help: "The folder of the authority; it is made if it is not there.")
    var authority = "assay-authority"

    @Option(name: .long, help: "What kind of receipt: \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
    var kind = Kind.sandbox

    @Option(name: .long, help: "The bundle id of the app.")
    var bundleID = "com.example.app"

    @Option(name: .long, help: "The version of the app.")
    var appVersion: String?

    @Option(name: .long, help: "When the receipt was made, such as 2026-01-31T12:00:00Z; now, if not given.")
    var created: Timestamp?

    @Option(name: .long, help: "When the receipt expires; a year after it was made, if it is of the kind vpp.")
    var expires: Timestamp?

    @Option(name: .long, help: "The device that it is made for: a UUID (iOS), or hexadecimal bytes (Mac address).")
    var deviceID: DeviceIdentifier?

    @Option(
        name: .long,
        help: """
            A purchase: product=ID, and any of kind (consumable, non-consumable, non-renewing, subscription), \
            transaction, original, quantity, purchased, expires, cancelled, separated by commas. Repeat for several.
            """)
    var purchase: [String] = []

    @Option(name: .long, help: "This many more purchases, of one product.")
    var purchases = 0

    @Option(name: .long, help: "The digest: sha1, sha256, sha384, sha512.")
    var digest = ReceiptDigest.sha256

    @Flag(name: .long, help: "Sign attributes, as other CMS messages do.")
    var signedAttributes = false

    @Option(name: .long, help: "der, as Apple writes it, or ber, as Xcode does.")
    var encoding: Encoding?

    @Option(name: .long, help: "What shall be wrong with it; --list-faults names all.")
    var fault: ReceiptFault?

    @Flag(name: .long, help: "List the faults and end.")
    var listFaults = false

    @Flag(name: .long, help: "Write bare bytes instead of base64.")
    var bare = false

    @Option(name: [.short, .long], help: "Where to write; standard output, if not given.")
    var output: String?

    func validate() throws {
        guard (0...20_000).contains(purchases) else { throw ValidationError("'--purchases' takes 0 to 20000.") }
        guard kind != .xcode || fault == nil else {
            throw ValidationError("Faults are for receipts of the store, not of Xcode.")
        }
    }

    func run() throws {
        if listFaults {
            Terminal.write(ReceiptFault.allCases.map(\.rawValue).joined(separator: "\n") + "\n")
            return
        }
        let receipt = try encoded()
        let data = bare ? Data(receipt) : Data((Data(receipt).base64EncodedString() + "\n").utf8)
        guard let output, output != "-" else {
            try FileHandle.standardOutput.write(contentsOf: data)
            return
        }
        do {
            try data.write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw InputError(output, "cannot be written")
        }
    }

    private func encoded() throws -> [UInt8] {
        let folder = URL(fileURLWithPath: authority, isDirectory: true)
        let created = created?.date ?? Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let template = try template(created)
        if kind == .xcode {
            // Xcode has no authority: its signer is a folder of its own.
            let signer = try XcodeSigner(folder: URL(fileURLWithPath: authority + "-xcode", isDirectory: true))
            return try signer.encode(template)
        }
        var signing = SigningOptions()
        signing.digest = digest
        signing.signedAttributes = signedAttributes
        signing.encoding = encoding == .ber ? .xcodeBER : .der
        return try AppReceiptEncoder(authority: try SimulatorAuthority(folder: folder))
            .encode(template, signing: signing, fault: fault)
    }

    private func template(_ created: Date) throws -> AppReceiptTemplate {
        let device = deviceID?.bytes ?? AppReceiptTemplate.noDevice
        let purchases = try allPurchases(created)
        var template =
            switch kind {
            case .sandbox:
                AppReceiptTemplate.sandbox(
                    bundleID: bundleID, creationDate: created, purchases: purchases, device: device)
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

extension ReceiptDigest: ExpressibleByArgument {}
extension ReceiptFault: ExpressibleByArgument {}
