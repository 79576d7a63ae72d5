import EvidenceMint
import Foundation
import TestSupport
import Testing

@Suite("The output of the program about evidence")
struct HostileTextTests {
    /// Every scalar that drives a terminal, forges a line, or hides text. An argument cannot hold U+0000.
    private static let hidden: [Unicode.Scalar] = {
        let ranges: [ClosedRange<UInt32>] = [
            0x01...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x34F...0x34F, 0x61C...0x61C, 0x115F...0x1160, 0x180B...0x180E,
            0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164...0x3164, 0xFE00...0xFE0F, 0xFEFF...0xFEFF,
            0xFFA0...0xFFA0, 0xFFF9...0xFFFB, 0x1D173...0x1D17A, 0xE0000...0xE007F, 0xE0100...0xE01EF,
        ]
        return ranges.joined().compactMap(Unicode.Scalar.init)
    }()

    private static let commands = ["verify", "verify --json", "inspect", "inspect --json", "inspect --redact"]

    /// A text with all of them, separated by letters, so that each is found.
    private static let text = "a" + hidden.map { "\(Character($0))b" }.joined()

    /// Evidence of each form, with the text in every field that a template has for it.
    private static func evidence(_ authority: AppStoreAuthority) throws -> [(name: String, bytes: [UInt8])] {
        var purchase = PurchaseTemplate.subscription(
            productID: text, transactionID: text, purchaseDate: MintedWorld.moment,
            expiresDate: MintedWorld.moment.addingTimeInterval(86_400))
        purchase.originalTransactionID = text
        var receipt = AppReceiptTemplate.sandbox(
            bundleID: text, creationDate: MintedWorld.moment, purchases: [purchase])
        receipt.applicationVersion = text
        receipt.originalApplicationVersion = text
        var other = receipt
        other.receiptType = text
        var old = TransactionReceiptTemplate(purchase: purchase, bundleID: text)
        old.extraEntries = [.init("x-\(text)", text)]
        var transaction = SignedTransactionTemplate(
            purchase: purchase, bundleID: text, signedDate: MintedWorld.moment)
        transaction.extra = [
            Claim(text, .string(text)), Claim("nested", .object([Claim(text, .array([.string(text)]))])),
        ]
        var elsewhere = transaction
        elsewhere.environment = text
        let encoder = SignedPayloadEncoder(authority: authority)
        let notification = NotificationTemplate(
            notificationType: text, subtype: text, transaction: transaction,
            renewalInfo: RenewalInfoTemplate(transaction: transaction),
            bundleVersion: text)
        let app = AppTransactionTemplate(
            bundleID: text, creationDate: MintedWorld.moment, applicationVersion: text)
        let receipts = AppReceiptEncoder(authority: authority.receipts)
        return [
            ("receipt", try receipts.encode(receipt)), ("other", try receipts.encode(other)),
            ("forged", try receipts.encode(receipt, fault: .flippedPayloadByte)),
            ("old", try TransactionReceiptEncoder(authority: authority).encode(old, version: .three)),
            ("transaction", Array(try encoder.encode(transaction).utf8)),
            ("elsewhere", Array(try encoder.encode(elsewhere).utf8)),
            ("renewal", Array(try encoder.encode(RenewalInfoTemplate(transaction: transaction)).utf8)),
            ("app", Array(try encoder.encode(app).utf8)),
            ("notification", Array(try encoder.encode(notification).utf8)),
        ]
    }

    @Test("No command prints a hidden scalar of a field or a file name, and every line of --json is JSON")
    func everyScalar() async throws {
        try await Program.inTemporaryFolder { folder in
            let authority = try AppStoreAuthority(folder: folder.appending(path: "authority"))
            // A name of a file has at most 255 bytes.
            let fileName = "zz" + String(String.UnicodeScalarView(Self.hidden.filter { $0.value != 0x2F }.prefix(90)))
            for (name, bytes) in try Self.evidence(authority) {
                try Data(bytes).write(to: folder.appending(path: name))
                for command in Self.commands {
                    for demand in ["", "--bundle-id com.example.other"] {
                        let line = "assay \(command) --trust authority/trust.pem \(demand) \(name)"
                        let result = try await Program.shell(line, in: folder)
                        #expect(result.status < 2, "\(line)")
                        expectVisible(result.output, line)
                        if command.hasSuffix("--json") { try expectJSON(result.output, line) }
                    }
                }
                try Data(bytes).write(to: folder.appending(path: fileName))
                for command in Self.commands {
                    let line = "assay \(command) zz*"
                    let result = try await Program.shell(line, in: folder)
                    expectVisible(result.output, line)
                    if command.hasSuffix("--json") {
                        let object = try expectJSON(result.output, line)
                        #expect((object["source"] as? String)?.utf8.elementsEqual(fileName.utf8) == true)
                    }
                }
                try FileManager.default.removeItem(at: folder.appending(path: fileName))
            }
        }
    }

    @Test("A hidden scalar is written as its number, and the meaning of JSON stays")
    func visibleForms() async throws {
        try await Program.inTemporaryFolder { folder in
            let authority = try AppStoreAuthority(folder: folder.appending(path: "authority"))
            let purchase = PurchaseTemplate.consumable(
                productID: "coins\u{202E}\u{85}\u{2028}\u{E0041}\u{FEFF}\u{E9}", transactionID: "1000",
                purchaseDate: MintedWorld.moment)
            let transaction = SignedTransactionTemplate(
                purchase: purchase, bundleID: "com.example.app", signedDate: MintedWorld.moment)
            try Data(try SignedPayloadEncoder(authority: authority).encode(transaction).utf8)
                .write(to: folder.appending(path: "t.jws"))
            let inspect = "assay inspect --trust authority/trust.pem"
            let people = try await Program.shell("\(inspect) t.jws", in: folder).output
            #expect(people.contains(#"coins\u{202E}\u{85}\u{2028}\u{E0041}\u{FEFF}é"#), "\(people)")
            let json = try await Program.shell("\(inspect) --json t.jws", in: folder).output
            #expect(json.contains(#"coins\u202e\u0085\u2028\udb40\udc41\ufeffé"#), "\(json)")
            let claims = try expectJSON(json, inspect)["unverified_claims"] as? [String: Any]
            #expect(
                (claims?["productId"] as? String)?.utf8.elementsEqual(
                    "coins\u{202E}\u{85}\u{2028}\u{E0041}\u{FEFF}\u{E9}".utf8) == true)
        }
    }

    @Test("Errors about missing files do not print hidden scalars either")
    func errors() async throws {
        try await Program.inTemporaryFolder { folder in
            for line in [
                "assay verify \"$T\"", "assay inspect \"$T\"", "assay verify --trust \"$T\" x", "assay \"$T\"",
                "assay mint --fault \"$T\"",
                "assay mint --purchase \"$T\"", "assay mint -o \"/$T/x\"", "assay simulate --allow-host \"$T\"",
                "assay simulate attacks --against \"http://$T\"", "assay keys create --app \"$T\" --scope client",
                "assay keys revoke \"$T\"", "assay audit evidence \"$T\"", "assay list keys --database \"sqlite:$T\"",
            ] {
                let result = try await Program.shell(line, in: folder, environment: ["T": Self.text])
                #expect(result.status == 2, "\(line)")
                expectVisible(result.output, line)
            }
        }
    }

    private func expectVisible(_ output: String, _ command: String) {
        let shown = Set(output.unicodeScalars.map(\.value)).subtracting([0x0A])
        let leaked = shown.intersection(Self.hidden.map(\.value))
        #expect(leaked.isEmpty, "\(command): \(leaked.sorted().map { String($0, radix: 16) })")
        #expect(!output.isEmpty)
    }

    /// One line, which is one JSON object.
    @discardableResult
    private func expectJSON(_ output: String, _ command: String) throws -> [String: Any] {
        #expect(output.utf8.count { $0 == 0x0A } == 1, "\(command)")
        let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return try #require(object, "\(command): \(output.prefix(300))")
    }
}
