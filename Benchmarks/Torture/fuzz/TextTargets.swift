import Foundation
import HostileBytes
import PurchaseVerification

/// Recognition and repair of text encodings.
enum TextTarget {
    static func check(_ bytes: [UInt8]) {
        let evidence: RecognizedEvidence
        do throws(VerificationError) {
            evidence = try RecognizedEvidence(bytes)
        } catch {
            demand(error.code.stage == .form, "\(error.code.rawValue) is no fault of form")
            demand(Verdict(World.shared.warmed, bytes).error == error, "verify refuses otherwise")
            return
        }
        demand(!evidence.bytes.isEmpty, "evidence without bytes")
        demand(evidence.bytes.count <= bytes.count, "evidence that grew")
        switch evidence.encoding {
        case .bare, .compactJWS:
            demand(evidence.bytes == (evidence.form == .appReceipt ? bytes : trimmed(bytes)), "bare bytes were changed")
        case .base64:
            let content = decoded(trimmed(bytes).filter { !(0x09...0x0D).contains($0) && $0 != 0x20 })
            let isList = evidence.form == .transactionReceipt
            demand((isList ? content.map(trimmed) : content) == evidence.bytes, "not base64")
        case .base64WithWhiteSpace, .base64URL, .base64FormDecoded:
            break
        }
        checkAgain(evidence)
    }

    /// The same bytes in plain base64 are recognised as the same.
    private static func checkAgain(_ evidence: RecognizedEvidence) {
        guard evidence.encoding != .bare, evidence.encoding != .compactJWS else { return }
        guard let again = try? RecognizedEvidence(Array(Data(evidence.bytes).base64EncodedData())) else {
            return demand(false, "plain base64 of decoded evidence was refused")
        }
        demand(again.bytes == evidence.bytes && again.kind == evidence.kind, "plain base64 decodes to something else")
        demand(again.encoding == .base64, "plain base64 is called \(again.encoding.rawValue)")
    }

    /// A text without a byte order mark before it, and white space around it.
    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let isWhiteSpace = { (byte: UInt8) in (0x09...0x0D).contains(byte) || byte == 0x20 }
        return text.drop(while: isWhiteSpace).reversed().drop(while: isWhiteSpace).reversed()
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        Data(base64Encoded: Data(text)).map { [UInt8]($0) }
    }

    /// A sample as clients spell it.
    static func spellings(_ sample: Sample) -> [[UInt8]] {
        // The text decides here, not the receipt, so its start is enough for all spellings except the first.
        let start = Data(sample.bytes.prefix(600))
        let plain = start.base64EncodedString()
        let wrapped = start.base64EncodedString(options: [.lineLength64Characters, .endLineWithCarriageReturn])
        let url = plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let texts = [
            plain, wrapped, url, plain.replacing("+", with: " "), " \(plain)\n", "eyJhbGciOiJFUzI1NiJ9.\(url).\(url)",
        ]
        // Starting from whole receipts, a fuzzer rarely reaches almost empty inputs.
        let short: [[UInt8]] = [
            [], [0x20], [0xEF, 0xBB, 0xBF, 0x20], Array("{".utf8), Array("ey..".utf8), [0x30, 0x80],
        ]
        return [sample.evidence] + texts.map { Array($0.utf8) } + short
    }
}

/// Dates and device identifiers in text.
enum DateTarget {
    static func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let moment = AppStoreTime(text) {
            demand(text.utf8.count >= 20, "\(text) is too short for a date")
            checkWriting(moment, of: text)
        }
        if let device = DeviceIdentifier(text) {
            let digits = text.utf8.filter { $0 != 0x3A && $0 != 0x2D }
            demand(digits.count == 2 * device.bytes.count, "\(text) became \(device.bytes.count) bytes")
            let written = device.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            demand(String(decoding: digits, as: UTF8.self).lowercased() == written, "\(text) became \(written)")
            demand(DeviceIdentifier(written) == device, "\(written) is another device")
        }
        // Any time can be written, however distant.
        let number = bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        checkWriting(AppStoreTime(millisecondsSince1970: Int64(bitPattern: number)), of: "\(number)")
    }

    /// A date with a year of four digits is read back as the same time.
    private static func checkWriting(_ moment: AppStoreTime, of origin: String) {
        let written = moment.description
        demand(written.hasSuffix("Z"), "\(origin) is written \(written)")
        // From 0000-01-01 to 9999-12-31.
        guard (-62_167_219_200_000..<253_402_300_800_000).contains(moment.millisecondsSince1970) else { return }
        demand(AppStoreTime(written) == moment, "\(origin) is written \(written) and read as another moment")
    }

    static let seeds = [
        "2023-06-21T09:14:02Z", "2023-06-21T09:14:02.131Z", "2020-07-22T18:33:15+0100", "2020-02-29T23:59:59-12:45",
        "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "1900-02-28T00:00:00Z",
        "6B29FC40-CA47-1067-B31D-00DD010662DA", "00:1b:63:84:45:e6", "001B638445E6",
    ].map { Array($0.utf8) }
}

/// Uses the input as the claims of genuine signed data. `inspect` reads them although the signature does not match.
struct ClaimsTarget {
    private let genuine: LooseJWS

    init(_ store: EvidenceSamples) throws {
        guard let sample = try store.signedPayload().first, let genuine = LooseJWS(sample.bytes) else {
            throw FuzzError.unreadableSeed
        }
        self.genuine = genuine
    }

    func check(_ claims: [UInt8]) {
        var jws = genuine
        jws.payload = claims
        let inspection = World.shared.checkVerdict(of: jws.bytes)
        guard let content = inspection.content else { return }
        demand(content.payload == claims, "other claims were read")
        // An independent reader finds the same in them.
        guard let object = try? JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any] else {
            return demand(Self.hasLongExponent(claims), "claims were read that are no JSON to another reader")
        }
        switch content {
        case .signedTransaction(let content):
            demand(content.productID == object["productId"] as? String, "another product was read")
            demand(content.transactionID == object["transactionId"] as? String, "another transaction was read")
            _ = (content.environment.name, content.otherClaims.count, content.price, content.quantity)
        case .signedRenewalInfo(let content):
            demand(content.productID == object["productId"] as? String, "another product was read")
            _ = (content.environment.name, content.otherClaims.count, content.renewalDate?.description)
        case .appTransaction(let content):
            demand(content.bundleID == object["bundleId"] as? String, "another app was read")
            _ = (content.environment?.name, content.otherClaims.count)
        case .notification(let content):
            demand(content.notificationUUID == object["notificationUUID"] as? String, "another notification was read")
            _ = (content.environment?.name, content.bundleID, content.appAppleID, content.otherClaims.count)
        case .realtimeRequest(let content):
            demand(content.productID == object["productId"] as? String, "another product was read")
            _ = (content.environment.name, content.otherClaims.count, content.appAppleID)
        case .appReceipt, .transactionReceipt:
            demand(false, "signed data became a receipt")
        }
    }

    /// JSON that passes the check is also JSON for another reader, and violates no invariant as header or claims.
    func check(json: [UInt8]) {
        if (try? StrictJSON.check(json)) != nil {
            let object = try? JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed)
            demand(object != nil || Self.hasLongExponent(json), "JSON passed that is none to another reader")
        }
        check(json)
        var jws = genuine
        jws.header = json
        World.shared.checkVerdict(of: jws.bytes)
    }

    /// Whether a number may be out of the other reader's range.
    private static func hasLongExponent(_ json: [UInt8]) -> Bool {
        let text = String(decoding: json, as: UTF8.self)
        return text.range(of: "[0-9][eE][+-]?[0-9]{2}", options: .regularExpression) != nil
    }

    /// The tokens of JSON, and names that `String` would have to normalise.
    static let jsonSeeds: [[UInt8]] = [
        #"{"bundleId":"a","transactionId":"1","productId":"b","signedDate":1700000000000.5,"more":[{},[],"\u00e9\ud83d\ude00\/",-1.5e+3,null,true,false]}"#,
        #"{"alg":"ES256","x5c":["AAAA","AAAA","AAAA"],"crit":null}"#,
        #"{"notificationType":"A","data":{"signedTransactionInfo":"a.b.c"},"a":{"b":1,"b":2}}"#, "[1,]", "\u{FEFF}{}",
        "{\"e\u{301}\u{316}\u{301}\":1}", #"{"\u0061":1}"#, " \t\n\r0 ", #""\ud800""#, "-0", "1e400",
    ].map { Array($0.utf8) }
}
