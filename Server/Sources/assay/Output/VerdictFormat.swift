import Foundation
import PurchaseAPI
import PurchaseServer
import PurchaseVerification
import TextFormats

/// The result for one piece of evidence.
struct EvidenceVerdict: Sendable {
    let source: String
    let line: Int?
    /// The kind of evidence; `nil` if it was not recognised.
    let evidence: EvidenceKind?
    let result: Result<VerifiedEvidence, VerificationError>
    /// What to do about evidence of Xcode that is refused.
    private(set) var advice: String?
    /// Apple's answer about it; `nil` if Apple was not asked.
    private(set) var apple: AppleAnswer?

    init(_ item: EvidenceItem, verifier: PurchaseVerifier, policies: [any PurchasePolicy]) {
        source = item.source
        line = item.line
        do throws(VerificationError) {
            let evidence = try RecognizedEvidence(item.evidence())
            let result = Result { () throws(VerificationError) in
                try verifier.verify(evidence, policies: policies)
            }.mapError { $0.at(AppStoreTime(Date())) }
            self.result = result
            if case .failure(let error) = result, [.issuerUnknown, .environmentNotAccepted].contains(error.code) {
                advice = verifier.inspect(item.evidence(), policies: []).adviceForXcode
            }
            // Verified evidence carries its kind; otherwise it is read from the claims.
            if case .success(let verified) = result {
                self.evidence = verified.kind
            } else {
                self.evidence = evidence.kind
            }
        } catch {
            evidence = nil
            result = .failure(error)
        }
    }

    /// The verdict after Apple was asked, if the evidence is genuine and Apple can be asked about it.
    func asking(_ question: AppleQuestion, _ item: EvidenceItem) async -> EvidenceVerdict {
        guard case .success(let evidence) = result else { return self }
        var verdict = self
        verdict.apple = await question.ask(evidence, item)
        return verdict
    }

    /// The outcome of all checks.
    var outcome: AppleAnswer.AppleVerdict {
        switch result {
        case .success: apple?.verdict ?? .verified
        case .failure: .rejected
        }
    }

    /// The source with its line, for people.
    var place: String { (line.map { "\(source):\($0)" } ?? source).printable }
}

/// The output formats of verdicts.
protocol VerdictFormat: Sendable {
    /// Writes one verdict, with its line ends, in UTF-8.
    func write(_ verdict: EvidenceVerdict, to output: inout [UInt8])
    /// The text at the end.
    func conclusion(_ summary: VerdictSummary, unchecked: [String]) -> String
}

/// One JSON object a line: `source`, `line` (of streams), `evidence`, `verdict`, `code`, `expected`, `found`,
/// `message`, `apple` (if Apple was asked), `content`.
struct JSONVerdictFormat: VerdictFormat {
    func write(_ verdict: EvidenceVerdict, to output: inout [UInt8]) {
        var json = JSONWriter(capacity: 4096)
        json.object { json in
            json.member("source", verdict.source)
            if let line = verdict.line { json.member("line", line) }
            json.member("evidence", verdict.evidence?.rawValue)
            json.member("verdict", verdict.outcome.rawValue)
            let error = verdict.error
            let apple = verdict.outcome == .verified ? nil : verdict.apple
            json.member("code", error?.code.rawValue ?? apple?.code)
            json.member("expected", error?.expected ?? apple?.expected)
            json.member("found", error?.found ?? apple?.found)
            json.member("message", error?.message ?? apple?.message)
            if let apple = verdict.apple {
                json.key("apple")
                json.object { json in
                    json.member("verdict", apple.verdict.rawValue)
                    json.member("environment", apple.environment)
                    json.key("status")
                    if let status = apple.status { json.number(status) } else { json.null() }
                }
            }
            json.key("content")
            if let evidence = verdict.verified {
                EvidenceContent.write(evidence, to: &json)
            } else {
                json.null()
            }
        }
        output += VisibleText.inJSON(json.bytes)
        output.append(UInt8(ascii: "\n"))
    }

    func conclusion(_ summary: VerdictSummary, unchecked: [String]) -> String { "" }
}

/// A line for each verdict, the reason below it, and for a single receipt a table of its purchases.
struct TextVerdictFormat: VerdictFormat {
    let showsPurchases: Bool
    /// Whether the word of the verdict is green, red, or yellow for an undetermined one.
    var isColored = Terminal.isOutputColored

    func write(_ verdict: EvidenceVerdict, to output: inout [UInt8]) {
        let text = VisibleText.forPeople(text(verdict), keepsLines: true)
        guard isColored else {
            output += text.utf8
            return
        }
        let word = text.prefix { $0 != " " }
        output +=
            "\u{1B}[\(verdict.outcome == .verified ? "32" : verdict.outcome == .rejected ? "31" : "33")m\(word)\u{1B}[0m"
            .utf8
        output += text.dropFirst(word.count).utf8
    }

    private func text(_ verdict: EvidenceVerdict) -> String {
        switch verdict.result {
        case .success(.appReceipt(let receipt)): accepted(verdict, receipt)
        case .success(let evidence): Self.heading(verdict) + EvidenceContent.text(evidence)
        case .failure(let error): rejected(verdict, error)
        }
    }

    private func accepted(_ verdict: EvidenceVerdict, _ receipt: AppReceipt) -> String {
        let purchases = receipt.inAppPurchases
        let count = counted(purchases.count, "purchase")
        var text = Self.heading(verdict)
        text += "          \(receipt.bundleID.plain) \(receipt.applicationVersion.plain)"
        text += ", \(receipt.receiptType.plain), made \(receipt.creationDate?.description ?? "-"), \(count)\n"
        guard showsPurchases, !purchases.isEmpty else { return text }
        var table = TextTable(["transaction", "product", "quantity", "purchased", "expires", "cancelled"])
        for purchase in purchases {
            table.append([
                purchase.transactionID.printable, purchase.productID.printable,
                purchase.quantity.map(String.init) ?? "-", purchase.purchaseDate?.description ?? "-",
                purchase.expiresDate?.description ?? "-", purchase.cancellationDate?.description ?? "-",
            ])
        }
        return text + table.text(indent: 10)
    }

    /// The verdict, and Apple's answer.
    private static func heading(_ verdict: EvidenceVerdict) -> String {
        guard let apple = verdict.apple else { return "verified  \(verdict.place)\n" }
        let word =
            switch apple.verdict {
            case .verified: "verified"
            case .rejected: "REJECTED"
            case .undetermined: "UNDECIDED"
            }
        var text = word.padding(toLength: 10, withPad: " ", startingAt: 0) + "\(verdict.place)\n"
        text += "          \(apple.environment) of Apple: "
        text += apple.code.map { "\($0): \(apple.message)" } ?? apple.message
        text += "\n"
        if let expected = apple.expected { text += "          expected: \(expected.printable)\n" }
        if let found = apple.found { text += "          found:    \(found.printable)\n" }
        return text
    }

    private func rejected(_ verdict: EvidenceVerdict, _ error: VerificationError) -> String {
        var text = "REJECTED  \(verdict.place)\n          \(error.code.rawValue): \(error.code.sentence)\n"
        if let expected = error.expected { text += "          expected: \(expected.printable)\n" }
        if let found = error.found { text += "          found:    \(found.printable)\n" }
        if let advice = verdict.advice { text += "          of Xcode: \(advice)\n" }
        return text
    }

    func conclusion(_ summary: VerdictSummary, unchecked: [String]) -> String {
        guard summary.count > 0 else { return "" }
        var text = "\n\(summary.verified) verified, \(summary.rejected) rejected"
        if summary.undetermined > 0 { text += ", \(summary.undetermined) undetermined" }
        text += ".\n"
        if !unchecked.isEmpty, summary.verified > 0 {
            text += "Not checked: \(unchecked.joined(separator: ", ")).\n"
        }
        return text
    }
}

extension EvidenceVerdict {
    fileprivate var verified: VerifiedEvidence? {
        if case .success(let evidence) = result { evidence } else { nil }
    }

    fileprivate var error: VerificationError? {
        if case .failure(let error) = result { error } else { nil }
    }
}

extension JSONWriter {
    /// A member with a string, or `null`.
    mutating func member(_ name: StaticString, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// A member with a number.
    mutating func member(_ name: StaticString, _ number: some BinaryInteger) {
        key(name)
        self.number(number)
    }
}

extension Optional where Wrapped == String {
    /// The text, or a dash.
    var plain: String { self?.printable ?? "-" }
}

/// The content of verified evidence, with the keys of Apple's answers, or in a few lines for people.
enum EvidenceContent {
    static func write(_ evidence: VerifiedEvidence, to json: inout JSONWriter) {
        switch evidence {
        case .appReceipt(let receipt):
            VerifyReceiptResponse.Receipt(receipt, requestDate: nil).write(to: &json)
        case .transactionReceipt(let receipt):
            FlatReceipt(receipt).write(to: &json)
        case .signedTransaction(let content): claims(content.payload, to: &json)
        case .signedRenewalInfo(let content): claims(content.payload, to: &json)
        case .appTransaction(let content): claims(content.payload, to: &json)
        case .notification(let content): claims(content.payload, to: &json)
        case .realtimeRequest(let content): claims(content.payload, to: &json)
        }
    }

    /// Claims are written again, in one line.
    private static func claims(_ payload: [UInt8], to json: inout JSONWriter) {
        if let claims = WrittenJSON.bounded(payload) {
            claims.write(to: &json)
        } else {
            json.string(String(decoding: payload, as: UTF8.self))
        }
    }

    static func text(_ evidence: VerifiedEvidence) -> String {
        switch evidence {
        case .appReceipt(let receipt):
            line(receipt.bundleID, receipt.applicationVersion, receipt.environment, receipt.creationDate)
        case .transactionReceipt(let receipt):
            line(receipt.bundleID, receipt.applicationVersion, receipt.environment, receipt.purchaseDate)
                + purchase(
                    receipt.transactionID, receipt.productID, receipt.expiresDate, receipt.cancellationDate)
        case .signedTransaction(let content): transaction(content)
        case .signedRenewalInfo(let content): renewalInfo(content)
        case .appTransaction(let content):
            line(content.bundleID, content.applicationVersion, content.environment, content.creationDate)
                + "          app bought \(content.originalPurchaseDate?.description ?? "-")\n"
        case .notification(let content):
            line(content.bundleID, content.data?.bundleVersion, content.environment, content.signedDate)
                + "          \((content.notificationType?.rawValue).plain) \(content.subtype?.rawValue.printable ?? "")\n"
                + (content.transaction.map(transaction) ?? "") + (content.renewalInfo.map(renewalInfo) ?? "")
        case .realtimeRequest(let content):
            "          asks about subscription \(content.originalTransactionID.plain) of \(content.productID.plain)"
                + ", \(content.environment.name.printable)\n"
        }
    }

    private static func transaction(_ content: SignedTransaction) -> String {
        line(content.bundleID, nil, content.environment, content.signedDate)
            + purchase(content.transactionID, content.productID, content.expiresDate, content.revocationDate)
    }

    private static func renewalInfo(_ content: SignedRenewalInfo) -> String {
        let renews = content.autoRenewStatus == .on ? "renews" : "does not renew"
        return "          subscription \(content.originalTransactionID.plain) of \(content.productID.plain) \(renews)"
            + ", \(content.environment.name.printable)\n"
    }

    private static func line(
        _ bundleID: String?, _ version: String?, _ environment: AppStoreEnvironment?, _ moment: AppStoreTime?
    ) -> String {
        let app = [bundleID.plain, version?.printable].compactMap(\.self).joined(separator: " ")
        return "          \(app), \((environment?.name).plain), made \(moment?.description ?? "-")\n"
    }

    private static func purchase(
        _ transactionID: String, _ productID: String, _ expires: AppStoreTime?, _ cancelled: AppStoreTime?
    ) -> String {
        var text = "          transaction \(transactionID.printable) of \(productID.printable)"
        if let expires { text += ", until \(expires)" }
        if let cancelled { text += ", TAKEN BACK \(cancelled)" }
        return text + "\n"
    }
}

extension EvidenceInspection {
    /// The content, if it is an app receipt's.
    var receipt: UnverifiedAppReceipt? {
        if case .appReceipt(let receipt) = content { receipt } else { nil }
    }

    /// What to do about evidence of Xcode, which is refused unless its certificate is named; `nil` for other evidence.
    var adviceForXcode: String? {
        var isOfXcode = receipt?.environment == .xcode
        if case .string("Xcode")? = content?.claims?["environment"] { isOfXcode = true }
        return isOfXcode ? "--trust CERTIFICATE --environment Xcode, with the certificate that Xcode saves" : nil
    }
}
