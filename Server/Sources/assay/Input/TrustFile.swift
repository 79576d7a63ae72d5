import EvidenceMint
import Foundation
import PurchaseServer
import PurchaseVerification

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

extension NamedFiles {
    /// Reads the files that settings name from the disk.
    static let read = NamedFiles { path throws(SettingFault) in
        do {
            return try TrustFile.namedAnchors(path)
        } catch {
            throw SettingFault("'\(path)': \(reason(error))", "Name a certificate in DER or PEM", .file)
        }
    } secret: { path throws(SettingFault) in
        do {
            return try SecretFile.secret(path)
        } catch {
            throw SettingFault(
                "cannot be read: \(reason(error))",
                "Name a file that holds the shared secret of App Store Connect, and nothing else", .file)
        }
    } privateKey: { path throws(SettingFault) in
        do {
            return try SecretFile.privateKey(path)
        } catch {
            throw SettingFault(
                "'\(path)': \(reason(error))", "Name the .p8 file of App Store Connect, of mode 0600", .file)
        }
    } bytes: { path throws(SettingFault) in
        do {
            return try InputFile.read(path)
        } catch {
            throw SettingFault("'\(path)': \(reason(error))", "Name a file that can be read", .file)
        }
    } variable: { name in
        ProcessInfo.processInfo.environment[name]
    }

    private static func reason(_ error: any Error) -> String {
        (error as? InputError)?.reason ?? "\(error)"
    }
}
