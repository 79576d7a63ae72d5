import EvidenceMint
import Foundation

/// Makes the evidence of attacks. Each piece is a separate purchase, so that none is refused as a repeat of another.
struct AttackEvidence: Sendable {
    let authority: AppStoreAuthority
    private(set) var bundleID: String
    let environment: String
    /// The name of the other environment.
    let sandbox: String
    /// The number of the app in notifications.
    let appAppleID: Int64
    let receiptType: String
    let date: Date
    /// The number before the first transaction id.
    private let firstNumber: UInt64

    static let productID = "coins"

    init(
        authority: AppStoreAuthority, bundleID: String, names: EnvironmentNames, appAppleID: Int64, date: Date
    ) {
        self.appAppleID = appAppleID
        sandbox = names.name(of: .sandbox)
        self.authority = authority
        self.bundleID = bundleID
        environment = names.name(of: .production)
        receiptType = names.receiptType(of: .production)
        self.date = date.inWholeSeconds
        firstNumber = UInt64(max(0, date.timeIntervalSince1970)) * 10_000
    }

    /// The same for another app.
    func of(_ bundleID: String) -> AttackEvidence {
        var evidence = self
        evidence.bundleID = bundleID
        return evidence
    }

    func transactionID(_ number: Int) -> String {
        "\(firstNumber + UInt64(number))"
    }

    func purchase(_ number: Int) -> PurchaseTemplate {
        .consumable(productID: Self.productID, transactionID: transactionID(number), purchaseDate: date)
    }

    func appReceipt(_ number: Int, fault: ReceiptFault? = nil, storeFault: StoreFault? = nil) throws -> [UInt8] {
        try AppReceiptEncoder(authority: authority.receipts).encode(template(number, storeFault), fault: fault)
    }

    func template(_ number: Int, _ storeFault: StoreFault? = nil) -> AppReceiptTemplate {
        var template = AppReceiptTemplate.production(
            bundleID: bundleID, creationDate: date, purchases: [purchase(number)])
        template.receiptType = receiptType
        storeFault?.alter(&template)
        return template
    }

    func transactionReceipt(
        _ number: Int, version: TransactionReceiptVersion = .four, fault: TransactionReceiptFault? = nil
    ) throws -> [UInt8] {
        var template = TransactionReceiptTemplate(
            purchase: purchase(number), bundleID: bundleID, environment: environment)
        if environment == "Production" { template.environment = nil }
        return try TransactionReceiptEncoder(authority: authority).encode(template, version: version, fault: fault)
    }

    func signedTransactionTemplate(_ number: Int) -> SignedTransactionTemplate {
        SignedTransactionTemplate(purchase: purchase(number), bundleID: bundleID, environment: environment)
    }

    func signedTransaction(_ number: Int, fault: SignedPayloadFault? = nil) throws -> String {
        try SignedPayloadEncoder(authority: authority).encode(signedTransactionTemplate(number), fault: fault)
    }
}
