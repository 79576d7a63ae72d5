public import Foundation

/// The corpus of real receipts and of Apple's answers to them. It is not part of the project: it is beside it, at
/// `../shared/corpus`, or at the path in `ASSAY_CORPUS`.
public enum Corpus {
    /// The message of corpus tests that are skipped because there is no corpus.
    public static let absence =
        "The corpus of real receipts is not beside the project (../shared/corpus), so this test was skipped."

    /// The folder of the corpus; `nil` if there is none.
    public static let folder: URL? = {
        let path =
            ProcessInfo.processInfo.environment["ASSAY_CORPUS"]
            ?? projectFolder.deletingLastPathComponent().appendingPathComponent("shared/corpus").path
        let folder = URL(fileURLWithPath: path, isDirectory: true)
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    public static var isPresent: Bool { folder != nil }

    /// The root of the project.
    public static let projectFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All items of the manifest. A corpus that exists but cannot be read, or is empty, is an error.
    public static func items() throws -> [CorpusItem] {
        let manifest = try JSONDecoder().decode(Manifest.self, from: try read("MANIFEST.json"))
        guard !manifest.items.isEmpty else { throw CorpusError.empty }
        return manifest.items
    }

    /// The items of a kind.
    public static func items(_ kind: String) throws -> [CorpusItem] {
        try items().filter { $0.kind == kind }
    }

    /// A file of the corpus.
    public static func read(_ path: String) throws -> Data {
        guard let folder else { throw CorpusError.absent }
        return try Data(contentsOf: folder.appendingPathComponent(path))
    }

    private struct Manifest: Decodable {
        let items: [CorpusItem]
    }
}

public enum CorpusError: Error {
    case absent
    case empty
}

/// One file of the corpus, as its manifest describes it.
public struct CorpusItem: Decodable, Sendable {
    public let file: String
    public let kind: String
    public let environment: String?
    public let receiptType: String?
    public let bundleID: String?
    public let applicationVersion: String?
    public let creationDate: String?
    public let inAppCount: Int?
    public let digest: String?
    public let deviceGUID: String?
    public let pair: String?
    public let golden: String?
    public let expected: Expected?
    public let editedFields: [EditedField]?
    public let productID: String?
    public let transactionID: String?
    /// In UTC, as the receipt writes it.
    public let purchaseDate: String?
    public let signatureVersion: UInt8?
    public let purchaseInfoKeys: [String]?
    public let signedDateMilliseconds: Int64?
    /// Type and subtype.
    public let notification: [String?]?
    /// The claims of a notification that hold signed data.
    public let contains: [String]?

    public struct Expected: Decodable, Sendable {
        public let verdict: String?
    }

    public struct EditedField: Decodable, Sendable {
        public let place: String
        public let field: String

        private enum CodingKeys: String, CodingKey {
            case place = "where"
            case field
        }
    }

    private enum CodingKeys: String, CodingKey {
        case file, kind, environment, digest, pair, golden, expected, notification, contains
        case productID = "product_id"
        case transactionID = "transaction_id"
        case purchaseDate = "purchase_date"
        case signatureVersion = "signature_version"
        case purchaseInfoKeys = "purchase_info_keys"
        case signedDateMilliseconds = "signed_date_ms"
        case receiptType = "receipt_type"
        case bundleID = "bundle_id"
        case applicationVersion = "application_version"
        case creationDate = "creation_date"
        case inAppCount = "in_app_count"
        case deviceGUID = "device_guid_hex"
        case editedFields = "edited_fields"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        file = try container.decode(String.self, forKey: .file)
        kind = try container.decode(String.self, forKey: .kind)
        environment = try container.decodeIfPresent(String.self, forKey: .environment)
        receiptType = try container.decodeIfPresent(String.self, forKey: .receiptType)
        bundleID = try container.decodeIfPresent(String.self, forKey: .bundleID)
        applicationVersion = try container.decodeIfPresent(String.self, forKey: .applicationVersion)
        creationDate = try container.decodeIfPresent(String.self, forKey: .creationDate)
        inAppCount = try container.decodeIfPresent(Int.self, forKey: .inAppCount)
        digest = try container.decodeIfPresent(String.self, forKey: .digest)
        deviceGUID = try container.decodeIfPresent(String.self, forKey: .deviceGUID)
        pair = try container.decodeIfPresent(String.self, forKey: .pair)
        expected = try container.decodeIfPresent(Expected.self, forKey: .expected)
        editedFields = try container.decodeIfPresent([EditedField].self, forKey: .editedFields)
        productID = try container.decodeIfPresent(String.self, forKey: .productID)
        transactionID = try container.decodeIfPresent(String.self, forKey: .transactionID)
        purchaseDate = try container.decodeIfPresent(String.self, forKey: .purchaseDate)
        signatureVersion = try container.decodeIfPresent(UInt8.self, forKey: .signatureVersion)
        purchaseInfoKeys = try container.decodeIfPresent([String].self, forKey: .purchaseInfoKeys)
        signedDateMilliseconds = try container.decodeIfPresent(Int64.self, forKey: .signedDateMilliseconds)
        notification = try container.decodeIfPresent([String?].self, forKey: .notification)
        contains = try container.decodeIfPresent([String].self, forKey: .contains)
        // Either a word, or `false` for an answer that is not a model.
        golden = try? container.decodeIfPresent(String.self, forKey: .golden)
    }

    public var name: String { String(file.split(separator: "/").last ?? "") }

    /// The bytes of the file.
    public func bytes() throws -> [UInt8] {
        let bytes = [UInt8](try Corpus.read(file))
        guard !bytes.isEmpty else { throw CorpusError.empty }
        return bytes
    }
}
