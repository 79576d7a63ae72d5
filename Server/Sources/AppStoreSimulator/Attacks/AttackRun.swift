public import EvidenceMint
public import Foundation

/// Makes all attacks on a running server and compares its answers with the expected ones.
///
/// The server must trust the authority's `trustedCertificatesPEM`. Genuine evidence is sent first; if the server
/// refuses it, the run ends, because refusals of forgeries would prove nothing.
public struct AttackRun: Sendable {
    private let client: AttackClient
    private let table: AttackTable
    private let address: String
    private let headers: [(String, String)]

    /// - Parameters:
    ///   - address: `http://HOST:PORT`.
    ///   - bundleID: the app that the server sells for.
    ///   - environmentNames: the environment names in the evidence.
    ///   - appAppleID: the number of the app in notifications.
    ///   - apiKey: goes to the purchase server as a bearer token.
    ///   - date: when the evidence was made.
    ///   - timeLimit: how long the answer to an attack may take. An attack without an answer by then counts as answered
    ///     wrongly.
    /// - Throws: `AttackError.notPlainHTTP`.
    public init(
        against address: String, authority: AppStoreAuthority, bundleID: String,
        environmentNames: EnvironmentNames = .apple, appAppleID: Int64 = 1_234_567_890, apiKey: String? = nil,
        date: Date = Date(), timeLimit: Duration = .seconds(60)
    ) throws(AttackError) {
        client = try AttackClient(address, timeLimit: timeLimit)
        self.address = address
        table = AttackTable(
            evidence: AttackEvidence(
                authority: authority, bundleID: bundleID, names: environmentNames, appAppleID: appAppleID, date: date))
        headers = apiKey.map { [("Authorization", "Bearer \($0)")] } ?? []
    }

    /// The result of the attacks on one target.
    public enum Outcome: Hashable, Sendable {
        /// All attacks were made; this number was answered wrongly.
        case attacked(wrong: Int)
        /// Nothing answers at the target, or the server does not know the app.
        case notThere
        /// The target requires a key, and none was given.
        case locked
    }

    /// Makes the attacks on one target.
    /// - Parameter report: is called with each result as it comes.
    /// - Returns: how it ended.
    /// - Throws: `AttackError`, and the errors of the crypto library.
    public func attack(_ target: Attack.Target, report: (AttackResult) -> Void) async throws -> Outcome {
        var wrong = 0
        for (evidence, attacks) in table.attacks(on: target) {
            for attack in attacks {
                var (answered, isRight) = ("", false)
                do {
                    // Apple has no key.
                    let headers = target == .notifications ? [] : headers
                    let answer = try await client.request("POST", target.rawValue, try attack.body(), headers: headers)
                    if target != .verifyReceipt, attack.expectation == .accepted, answer.status == 404 {
                        return .notThere
                    }
                    if answer.status == 401, headers.isEmpty { return .locked }
                    let read = AttackAnswer(answer, at: target)
                    (answered, isRight) = (read.words, read.isRight(attack.expectation))
                } catch let error as MintError {
                    throw error
                } catch let failure as AttackClient.Failure {
                    answered = failure.description
                } catch {
                    guard attack.expectation != .accepted else {
                        throw AttackError.unreachable(address, reason: NetworkFailure.words(error))
                    }
                    answered = "no answer: \(NetworkFailure.words(error))"
                }
                let result = AttackResult(
                    attack: attack, expected: attack.expectation.words, answered: answered, isRight: isRight)
                if attack.expectation == .accepted, !result.isRight, attack.name.hasSuffix("genuine") {
                    throw AttackError.genuineRefused(evidence: evidence, answer: result.answered)
                }
                report(result)
                if !result.isRight { wrong += 1 }
            }
        }
        return .attacked(wrong: wrong)
    }
}

public struct AttackResult: Sendable {
    public let attack: Attack
    /// The expected answer, in a few words.
    public let expected: String
    /// The actual answer, in a few words.
    public let answered: String
    /// Whether the answer is the expected one.
    public let isRight: Bool
}

/// The reasons why the attacks cannot be made.
public enum AttackError: Error, Hashable, Sendable {
    /// The address is not a plain `http://` address.
    case notPlainHTTP(String)
    /// Nothing answers at the address.
    case unreachable(String, reason: String)
    /// The server refuses genuine evidence, so its refusals of forgeries prove nothing.
    case genuineRefused(evidence: String, answer: String)
}

extension AttackError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notPlainHTTP(let text):
            "'\(text)' is not an address of the form http://HOST:PORT. The attacks use plain HTTP only; run them behind the "
                + "proxy that terminates TLS."
        case .unreachable(let address, let reason): "Nothing answers at \(address): \(reason)"
        case .genuineRefused(let evidence, let answer):
            "The server refuses a genuine \(evidence) (\(answer)), so its refusals of forgeries prove nothing. It must trust "
                + "the simulator's authority (--trust FOLDER/trust.pem) and accept the environments of the evidence. /v1/purchases is attacked with the consumable 'coins', which the settings must have."
        }
    }
}

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

    init(authority: AppStoreAuthority, bundleID: String, names: EnvironmentNames, appAppleID: Int64, date: Date) {
        self.appAppleID = appAppleID
        sandbox = names.name(of: .sandbox)
        (self.authority, self.bundleID) = (authority, bundleID)
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

    func transactionID(_ number: Int) -> String { "\(firstNumber + UInt64(number))" }

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

extension AttackEvidence {
    func notificationTemplate(_ number: Int) -> NotificationTemplate {
        var template = NotificationTemplate(
            notificationType: "ONE_TIME_CHARGE", transaction: signedTransactionTemplate(number))
        template.data?.appAppleID = appAppleID
        return template
    }

    func notification(_ number: Int, fault: SignedPayloadFault? = nil) throws -> String {
        try SignedPayloadEncoder(authority: authority).encode(notificationTemplate(number), fault: fault)
    }

    /// A notification around any texts.
    func notification(transaction: String, renewalInfo: String? = nil, environment: String? = nil) throws -> String {
        let data = ClaimValue.object([
            "appAppleId": .integer(appAppleID), "bundleId": .string(bundleID), "bundleVersion": .string("1"),
            "environment": .string(environment ?? self.environment), "signedTransactionInfo": .string(transaction),
            "signedRenewalInfo": renewalInfo.map(ClaimValue.string),
        ])
        let uuid = UUID(derivedFrom: "attack|\(transaction)").uuidString.lowercased()
        return try signed(
            RawPayload(
                signingDate: date,
                extra: [Claim]([
                    "notificationType": .string("DID_RENEW"), "notificationUUID": .string(uuid), "data": data,
                    "version": .string("2.0"), "signedDate": .integer(Int64(date.timeIntervalSince1970) * 1000),
                ])))
    }

    func sandboxTransaction(_ number: Int) throws -> String {
        var template = signedTransactionTemplate(number)
        template.environment = sandbox
        return try signed(template)
    }

    func signed(_ template: some SignedPayloadTemplate) throws -> String {
        try SignedPayloadEncoder(authority: authority).encode(template)
    }

    /// A JWS whose claims, or whose header, were changed after it was signed.
    static func edited(_ jws: String, part: Int = 1, _ change: (String) -> String) -> String {
        var parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return jws }
        guard let bytes = Base64URL.decode(parts[part].utf8) else { return jws }
        parts[part] = Base64URL.encode(change(String(decoding: bytes, as: UTF8.self)).utf8)
        return parts.joined(separator: ".")
    }

    /// Signed data with any claims.
    private struct RawPayload: SignedPayloadTemplate {
        let signingDate: Date?
        var dateStyle = ClaimDateStyle.wholeMilliseconds
        var extra: [Claim]
    }
}
