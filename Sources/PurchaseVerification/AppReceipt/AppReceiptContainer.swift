/// A parsed app receipt before any check: the CMS container, and the position of the attributes in it.
struct AppReceiptContainer {
    /// The container in definite lengths; all offsets of `signedData` point into it.
    let bytes: [UInt8]
    let signedData: SignedData
    /// The bytes that hold the attributes: those of the container, unless the content itself had to be rewritten.
    let payloadBytes: [UInt8]
    /// The content of the SET of attributes.
    let payload: Range<Int>

    /// - Parameter evidence: the receipt in DER, or in the BER that Xcode writes.
    init(_ evidence: [UInt8]) throws(VerificationError) {
        do throws(VerificationError) {
            try self.init(der: evidence)
        } catch let error where error == BERTranscoder.indefiniteLength || error == BERTranscoder.constructedString {
            try self.init(der: try BERTranscoder.definite(evidence))
        }
    }

    private init(der: [UInt8]) throws(VerificationError) {
        bytes = der
        let slice = der[...]
        signedData = try SignedData(slice.span)
        (payloadBytes, payload) = try Self.payload(der, content: signedData.content)
    }

    private static func payload(
        _ der: [UInt8], content: Range<Int>
    ) throws(VerificationError) -> ([UInt8], Range<Int>) {
        do throws(VerificationError) {
            let slice = der[...]
            return (der, try AppReceiptPayload.attributes(slice.span, content: content))
        } catch let error where error.code.isASN1 && error != BERTranscoder.indefiniteLength {
            throw VerificationError(
                .payloadMalformed, expected: error.expected, found: error.found ?? error.code.sentence)
        } catch let error where error == BERTranscoder.indefiniteLength {
            // The signature covers the content unchanged; only reading it needs definite lengths.
            let definite = try BERTranscoder.definite(Array(der[content]))
            let slice = definite[...]
            return (definite, try AppReceiptPayload.attributes(slice.span, content: 0..<definite.count))
        }
    }

    /// Whether the bytes can be a container of this kind: it is a SEQUENCE, and no other kind of evidence begins with
    /// one.
    static func isRecognized(_ bytes: [UInt8]) -> Bool { bytes.first == DERTag.sequence }

    /// The one embedded certificate with the issuer and serial number of the signer (RFC 5652, 5.3).
    func signerCertificate() throws(VerificationError) -> Range<Int> {
        let slice = bytes[...]
        let span = slice.span
        let signer = signedData.signer
        var found: Range<Int>?
        for (index, certificate) in signedData.certificates.enumerated() {
            for other in signedData.certificates[..<index] where span.isEqual(other, certificate) {
                throw VerificationError(.certificateDuplicated)
            }
            do throws(VerificationError) {
                guard try Self.isNamed(signer, certificate, span) else { continue }
            } catch {
                throw VerificationError(.certificateMalformed, expected: error.expected, found: error.found)
            }
            guard found == nil else { throw VerificationError(.signerCertificateAmbiguous) }
            found = certificate
        }
        guard let found else {
            throw VerificationError(
                .signerCertificateMissing,
                expected: "a certificate with serial number \(hexadecimal(span.shown(signer.serialNumber)))",
                found: "\(signedData.certificates.count) others")
        }
        return found
    }

    /// Reads no more of the certificate than its first fields: this runs for every receipt.
    private static func isNamed(
        _ signer: SignerInfo, _ certificate: Range<Int>, _ bytes: Span<UInt8>
    ) throws(VerificationError) -> Bool {
        var outer = DERCursor(certificate)
        var body = DERCursor(try outer.next(DERTag.sequence, bytes).content)
        var fields = DERCursor(try body.next(DERTag.sequence, bytes).content)
        _ = try fields.nextIf(DERTag.context(0), bytes)
        let serialNumber = try fields.next(DERTag.integer, bytes).content
        guard bytes.isEqual(serialNumber, signer.serialNumber) else { return false }
        _ = try fields.next(DERTag.sequence, bytes)
        let issuer = try fields.next(DERTag.sequence, bytes).whole
        return bytes.isEqual(issuer, signer.issuer)
    }
}
