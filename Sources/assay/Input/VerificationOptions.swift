import ArgumentParser
import Foundation
import PurchaseVerification

/// The demands that `verify` and `inspect` take, and whom they trust.
struct VerificationOptions: ParsableArguments {
    @Option(name: .long, help: "The bundle id that the receipt must belong to.")
    var bundleID: String?

    @Option(name: .long, help: "The app version that the receipt must belong to.")
    var appVersion: String?

    @Option(
        name: .long,
        help: "The device that the receipt must be made for: a UUID (iOS), or hexadecimal bytes (Mac address).")
    var deviceID: DeviceIdentifier?

    @Option(
        name: .long,
        help: "An environment to accept: Production, Sandbox, Xcode or another name. Repeat for several.")
    var environment: [AppStoreEnvironment] = []

    @Option(name: .long, help: "A certificate to trust besides Apple's roots, in DER or PEM. Repeat for several.")
    var trust: [String] = []

    @Option(
        name: .long, help: "The time at which the receipt is used, such as 2026-01-31T12:00:00Z; now, if not given.")
    var at: Timestamp?

    /// The verifier, with Apple's roots and the certificates that were named.
    func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try TrustFile.anchors(trust))
    }

    /// The demands, in the order in which they are made.
    func policies() -> [any AppReceiptPolicy] {
        let accepted: Set<AppStoreEnvironment> = environment.isEmpty ? [.production, .sandbox] : Set(environment)
        var policies: [any AppReceiptPolicy] = [EnvironmentPolicy(accepting: accepted)]
        if let bundleID { policies.append(BundleIDPolicy(bundleID)) }
        if let appVersion { policies.append(ApplicationVersionPolicy(appVersion)) }
        if let deviceID { policies.append(DeviceHashPolicy(deviceID)) }
        policies.append(ExpirationPolicy(at: at ?? Timestamp(Date())))
        return policies
    }

    /// The demands that were not made, in words, with the option that would make each.
    var uncheckedDemands: [String] {
        var unchecked: [String] = []
        if bundleID == nil { unchecked.append("bundle id (--bundle-id)") }
        if appVersion == nil { unchecked.append("app version (--app-version)") }
        if deviceID == nil { unchecked.append("device (--device-id)") }
        return unchecked
    }
}

/// Certificates that an operator names.
enum TrustFile {
    /// Apple's roots, and those of the files.
    static func anchors(_ paths: [String]) throws -> [TrustAnchor] {
        try TrustAnchor.apple + paths.map(anchor)
    }

    private static func anchor(_ path: String) throws -> TrustAnchor {
        let data = try InputFile.read(path)
        do throws(VerificationError) {
            return try TrustAnchor(certificate: der(data))
        } catch {
            throw InputError(path, "not a certificate that can be trusted (\(error.code.rawValue))")
        }
    }

    /// The bytes of the first certificate of a PEM file, or the file itself.
    private static func der(_ data: [UInt8]) -> [UInt8] {
        let text = String(decoding: data, as: UTF8.self)
        guard let begin = text.range(of: "-----BEGIN CERTIFICATE-----"),
            let end = text.range(of: "-----END CERTIFICATE-----", range: begin.upperBound..<text.endIndex)
        else { return data }
        let base64 = String(text[begin.upperBound..<end.lowerBound])
        return Data(base64Encoded: base64, options: .ignoreUnknownCharacters).map { [UInt8]($0) } ?? data
    }
}
