import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseVerification

/// The policies and trust anchors of `verify` and `inspect`.
struct VerificationOptions: ParsableArguments {
    @Option(name: .long, help: "The bundle id that the receipt must belong to.")
    var bundleID: String?

    @Option(name: .long, help: "The app version that the receipt must belong to.")
    var appVersion: String?

    @Option(
        name: .long,
        help: "The device that the receipt must be made for: a UUID (iOS), or hexadecimal bytes (Mac address).")
    var deviceID: DeviceIdentifier?

    @Option(name: .long, help: "The transaction that the evidence must prove.")
    var transactionID: String?

    @Option(name: .long, help: "The product of that transaction.")
    var productID: String?

    @Option(
        name: .long,
        help: "An environment to accept: Production, Sandbox, Xcode or another name. Repeat for several.")
    var environment: [AppStoreEnvironment] = []

    @Option(
        name: .long,
        help: "A certificate to trust besides Apple's roots, in DER, or several in PEM. Repeat for several files.")
    var trust: [String] = []

    @Option(
        name: .long, help: "The time at which the receipt is used, such as 2026-01-31T12:00:00Z; now, if not given.")
    var at: AppStoreTime?

    /// The time at which the evidence is used.
    var moment: AppStoreTime { at ?? AppStoreTime(Date()) }

    func validate() throws {
        guard productID == nil || transactionID != nil else {
            throw ValidationError("'--product-id' says of which product '--transaction-id' is; name both.")
        }
    }

    /// The verifier, with Apple's roots and the certificates that were named.
    func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try TrustFile.anchors(trust))
    }

    /// The policies, in the order of their checks.
    func policies() -> [any PurchasePolicy] {
        let accepted: Set<AppStoreEnvironment> = environment.isEmpty ? [.production, .sandbox] : Set(environment)
        var policies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: accepted)]
        if let bundleID { policies.append(BundleIDPolicy(bundleID)) }
        if let appVersion { policies.append(ApplicationVersionPolicy(appVersion)) }
        if let deviceID { policies.append(DeviceHashPolicy(deviceID)) }
        if let transactionID {
            policies.append(TransactionPolicy(TransactionFacts(transactionID: transactionID, productID: productID)))
        }
        policies.append(ExpirationPolicy(at: moment))
        return policies
    }

    /// The checks that were not made, in words, with the option for each.
    var uncheckedDemands: [String] {
        var unchecked: [String] = []
        if bundleID == nil { unchecked.append("bundle id (--bundle-id)") }
        if appVersion == nil { unchecked.append("app version (--app-version)") }
        if deviceID == nil { unchecked.append("device (--device-id)") }
        return unchecked
    }
}

/// A shared secret that an operator keeps in a file.
enum SecretFile {
    /// The secret, without white space around it.
    static func secret(_ path: String) throws -> String {
        let secret = String(decoding: try InputFile.read(path), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else { throw InputError(path, "holds no secret") }
        return secret
    }
}

/// Certificates that an operator names.
enum TrustFile {
    /// Apple's roots, and those of the files.
    static func anchors(_ paths: [String]) throws -> [TrustAnchor] {
        try TrustAnchor.apple + paths.flatMap(namedAnchors)
    }

    static func namedAnchors(_ path: String) throws -> [TrustAnchor] {
        let data = try InputFile.read(path)
        do throws(VerificationError) {
            var anchors: [TrustAnchor] = []
            for certificate in certificates(data) { anchors.append(try TrustAnchor(certificate: certificate)) }
            return anchors
        } catch {
            throw InputError(path, "not a certificate that can be trusted (\(error.code.rawValue))")
        }
    }

    /// The bytes of each certificate of a PEM file, or the file itself.
    private static func certificates(_ data: [UInt8]) -> [[UInt8]] {
        let text = String(decoding: data, as: UTF8.self)
        var certificates: [[UInt8]] = []
        var rest = text[...]
        while let begin = rest.range(of: "-----BEGIN CERTIFICATE-----"),
            let end = rest.range(of: "-----END CERTIFICATE-----", range: begin.upperBound..<rest.endIndex)
        {
            let base64 = String(rest[begin.upperBound..<end.lowerBound])
            // Bytes that do not decode are not a certificate, and are refused as one.
            certificates.append(
                Data(base64Encoded: base64, options: .ignoreUnknownCharacters).map { [UInt8]($0) } ?? [])
            rest = rest[end.upperBound...]
        }
        return certificates.isEmpty ? [data] : certificates
    }
}
