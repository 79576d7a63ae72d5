import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of signed data in a notification. The envelope is genuine.
enum NestedDataCounterExamples {
    static let all: [CounterExample] = mismatches + broken

    /// A notification of the app in the sandbox with these in its `data`.
    private static func envelope(
        transaction: String? = nil, renewalInfo: String? = nil, environment: String = "Sandbox"
    ) throws -> [UInt8] {
        var members = [#""bundleId":"com.example.app""#, "\"environment\":\"\(environment)\""]
        if let transaction { members.append("\"signedTransactionInfo\":\"\(transaction)\"") }
        if let renewalInfo { members.append("\"signedRenewalInfo\":\"\(renewalInfo)\"") }
        let data = "{" + members.joined(separator: ",") + "}"
        return try HandmadeJWS(ClaimsText.object(ClaimsText.notification, ["data": data])).bytes()
    }

    private static func appEnvelope(_ appTransaction: String) throws -> [UInt8] {
        let data =
            #"{"bundleId":"com.example.app","environment":"Sandbox","signedAppTransactionInfo":"\#(appTransaction)"}"#
        return try HandmadeJWS(ClaimsText.object(ClaimsText.notification, ["appData": data])).bytes()
    }

    private static func signed(_ claims: [String: String], _ changes: [String: String?] = [:]) throws -> String {
        try HandmadeJWS(ClaimsText.object(claims, changes)).text()
    }

    private static let mismatches: [CounterExample] = [
        .evidence(.nestedDataMismatch, "a transaction of another app inside") {
            try envelope(transaction: try signed(ClaimsText.transaction, ["bundleId": #""com.example.other""#]))
        },
        .evidence(.nestedDataMismatch, "a transaction of another environment inside") {
            try envelope(transaction: try signed(ClaimsText.transaction, ["environment": #""Production""#]))
        },
        .evidence(.nestedDataMismatch, "a sandbox transaction in a production notification") {
            try envelope(transaction: try signed(ClaimsText.transaction), environment: "Production")
        },
        .evidence(.nestedDataMismatch, "renewal info of another environment inside") {
            try envelope(renewalInfo: try signed(ClaimsText.renewalInfo, ["environment": #""Production""#]))
        },
        .evidence(.nestedDataMismatch, "an app transaction of another app inside") {
            try appEnvelope(try signed(ClaimsText.appTransaction, ["bundleId": #""com.example.other""#]))
        },
        .evidence(.nestedDataMismatch, "an app transaction of another environment inside") {
            try appEnvelope(try signed(ClaimsText.appTransaction, ["receiptType": #""Production""#]))
        },
        .evidence(.nestedDataMismatch, "an app transaction of no environment inside") {
            try appEnvelope(try signed(ClaimsText.appTransaction, ["receiptType": nil]))
        },
        .evidence(.nestedDataMismatch, "a notification in a notification") {
            try envelope(transaction: try signed(ClaimsText.notification))
        },
        .evidence(.nestedDataMismatch, "two transactions inside") {
            let transaction = try signed(ClaimsText.transaction)
            return try envelope(transaction: transaction, renewalInfo: transaction)
        },
        .evidence(.nestedDataMismatch, "renewal info twice") {
            let renewalInfo = try signed(ClaimsText.renewalInfo)
            return try envelope(transaction: renewalInfo, renewalInfo: renewalInfo)
        },
        .evidence(.nestedDataMismatch, "renewal info in the place of a transaction") {
            try envelope(transaction: try signed(ClaimsText.renewalInfo))
        },
        .evidence(.nestedDataMismatch, "a transaction in the place of renewal info") {
            try envelope(renewalInfo: try signed(ClaimsText.transaction))
        },
        .evidence(.nestedDataMismatch, "a transaction in the place of an app transaction") {
            try appEnvelope(try signed(ClaimsText.transaction))
        },
    ]

    private static let broken: [CounterExample] = [
        .evidence(.jwsMalformed, "an empty text inside") { try envelope(transaction: "") },
        .evidence(.jwsMalformed, "no JWS inside") { try envelope(transaction: "transaction") },
        .evidence(.jwsMalformed, "white space around what is inside") {
            try envelope(transaction: " " + (try signed(ClaimsText.transaction)))
        },
        .evidence(.signatureInvalid, "a changed transaction inside") {
            let parts = try signed(ClaimsText.transaction).split(separator: ".")
            let other = try signed(ClaimsText.transaction, ["productId": #""pro""#]).split(separator: ".")
            return try envelope(transaction: "\(parts[0]).\(other[1]).\(parts[2])")
        },
        .evidence(.jwsAlgorithmUnsupported, "an unsigned transaction inside") {
            try envelope(
                transaction: try HandmadeJWS(
                    ClaimsText.object(ClaimsText.transaction), header: try HandmadeJWS.header(alg: #""none""#)
                ).text())
        },
        .evidence(.creationDateMissing, "an undated transaction inside") {
            try envelope(transaction: try signed(ClaimsText.transaction, ["signedDate": nil]))
        },
        .evidence(.certificateNotYetValid, "a transaction inside from before its certificates") {
            try envelope(transaction: try signed(ClaimsText.transaction, ["signedDate": "0"]))
        },
        .evidence(.claimsMalformed, "claims of wrong types inside") {
            try envelope(transaction: try signed(ClaimsText.transaction, ["quantity": #""1""#]))
        },
        .evidence(.claimsUnrecognized, "claims of no kind inside") {
            try envelope(transaction: try HandmadeJWS(#"{"signedDate":1700000000000}"#).text())
        },
        .evidence(.issuerUnknown, "a transaction inside that Xcode's lone certificate signed") {
            try envelope(transaction: try MintedWorld.xcodeSigner().encode(MintedWorld.transaction()))
        },
        CounterExample(
            .environmentNotVouchedFor, "a sandbox transaction inside that a trusted lone certificate signed",
            anchors: {
                try MintedWorld.trustedCertificates() + [try MintedWorld.xcodeSigner().payloadIdentity.certificate]
            }
        ) { try envelope(transaction: try MintedWorld.xcodeSigner().encode(MintedWorld.transaction())) },
    ]
}
