public import EvidenceMint
public import Foundation

/// An authority and a receipt that it signed, at one constant time. A test changes one thing.
public enum MintedWorld {
    /// The constant time of everything in it.
    public static let moment = Date(timeIntervalSince1970: 1_700_000_000)

    /// The authority, created once per run: creating keys is slow.
    public static func authority() throws -> CertificateAuthority { try sharedAuthority.get() }

    /// An unrelated authority.
    public static func otherAuthority() throws -> CertificateAuthority { try sharedOtherAuthority.get() }

    /// A lone certificate that signs as Xcode does.
    public static func xcodeSigner() throws -> XcodeSigner { try sharedXcodeSigner.get() }

    /// A sandbox receipt with a consumable, a non-consumable and a subscription.
    public static func receipt() -> AppReceiptTemplate {
        .sandbox(bundleID: "com.example.app", creationDate: moment, purchases: purchases())
    }

    public static func purchases() -> [PurchaseTemplate] {
        [
            .consumable(
                productID: "com.example.app.coins", transactionID: "2000000000000001", purchaseDate: moment,
                quantity: 3),
            .nonConsumable(
                productID: "com.example.app.pro", transactionID: "2000000000000002", purchaseDate: moment),
            .subscription(
                productID: "com.example.app.monthly", transactionID: "2000000000000004",
                originalTransactionID: "2000000000000003", purchaseDate: moment,
                originalPurchaseDate: moment.addingTimeInterval(-2_592_000),
                expiresDate: moment.addingTimeInterval(2_592_000)),
        ]
    }

    /// A receipt, signed by the shared authority unless another is given.
    public static func mint(
        _ template: AppReceiptTemplate = receipt(), signing: SigningOptions = SigningOptions(),
        fault: ReceiptFault? = nil, authority: CertificateAuthority? = nil
    ) throws -> [UInt8] {
        try AppReceiptEncoder(authority: authority ?? Self.authority())
            .encode(template, signing: signing, fault: fault)
    }

    private static let sharedAuthority = Result { try CertificateAuthority() }
    private static let sharedOtherAuthority = Result { try CertificateAuthority() }
    private static let sharedXcodeSigner = Result { try XcodeSigner() }
}
