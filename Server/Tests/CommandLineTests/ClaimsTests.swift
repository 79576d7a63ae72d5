import EvidenceMint
import Foundation
import TestSupport
import Testing

@Suite("Claims in --json")
struct ClaimsTests {
    /// Claims that a library accepts as JSON, as a raw value after the last member: some are JSON, and some are not.
    private static let values = [
        "9007199254740993", "-0", "1e400", "0.1000000000000000055511151231257827", "18446744073709551616", "1.0",
        "1E+2",
        "1,", "[1,2,]", #"{"a":1,}"#, #""\ud800""#, #""\ud83d\ude00\/\u2028\b""#, "\"\u{85}\u{202E}\"", "\"\t\"", "01",
        "+1", ".5",
        "NaN", "tru", "\"", "{", "]", "1 2", "/**/1", "\u{FEFF}1", "\"\\x\"", "[[[[[[[[[[[[1]]]]]]]]]]]]",
    ]

    @Test("Python and Foundation read each line of verify and inspect as JSON, with any claims")
    func everyLine() async throws {
        try await Program.inTemporaryFolder { folder in
            let encoder = SignedPayloadEncoder(
                authority: try AppStoreAuthority(folder: folder.appending(path: "authority")))
            var files: [String] = []
            for (index, value) in Self.values.enumerated() {
                let name = "claims-\(index).jws"
                try write(encoder, [Claim("last", .raw(value))], to: folder.appending(path: name))
                files.append(name)
            }
            try write(
                encoder, [Claim("twice", .integer(1)), Claim("twice", .integer(2))], to: folder.appending(path: "d.jws")
            )
            files.append("d.jws")
            let lines = try await Program.shell(
                "assay verify --json --trust authority/trust.pem \(files.joined(separator: " ")) > lines; "
                    + "for f in \(files.joined(separator: " ")); do assay inspect --json --trust authority/trust.pem $f >> lines; done; "
                    + "cat lines", in: folder
            ).output
            #expect(lines.split(separator: "\n").count == files.count * 2)
            for line in lines.split(separator: "\n") {
                #expect(throws: Never.self, "\(line)") { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
            }
            let python =
                #"python3 -c 'import json,sys; print(sum(1 for line in open("lines", newline="\n") if json.loads(line)))'"#
            #expect(try await Program.shell(python, in: folder).output == "\(files.count * 2)\n")
        }
    }

    @Test("Numbers keep their digits, and members their order")
    func exact() async throws {
        try await Program.inTemporaryFolder { folder in
            let encoder = SignedPayloadEncoder(
                authority: try AppStoreAuthority(folder: folder.appending(path: "authority")))
            let claims = [
                Claim("zebra", .raw("9007199254740993")), Claim("apple", .raw("0.10000000000000000001")),
                Claim("mango", .object([Claim("z", .raw("18446744073709551615")), Claim("a", .raw("1.5e300"))])),
            ]
            try write(encoder, claims, to: folder.appending(path: "t.jws"))
            let verified = try await Program.shell("assay verify --json --trust authority/trust.pem t.jws", in: folder)
            #expect(verified.status == 0, "\(verified.output)")
            let end =
                #""zebra":9007199254740993,"apple":0.10000000000000000001,"mango":{"z":18446744073709551615,"a":1.5e300}}}"#
                + "\n"
            #expect(verified.output.hasSuffix(end), "\(verified.output)")
            let inspected = try await Program.shell(
                "assay inspect --json --trust authority/trust.pem t.jws", in: folder)
            let last =
                #""zebra":"9007199254740993","apple":"0.10000000000000000001","mango.z":"18446744073709551615","mango.a":"1.5e300"}}"#
                + "\n"
            #expect(inspected.output.hasSuffix(last), "\(inspected.output)")
        }
    }

    @Test("Requests with hostile Unicode in names and texts are read in linear time")
    func hostileRequests() async throws {
        let marks = "e" + String(repeating: "\u{301}\u{316}", count: 500_000)
        try await Program.inTemporaryFolder { folder in
            for json in [
                #"{"\#(marks)":1}"#, #"{"receipt-data":"\#(marks)","\#(marks)":"\#(marks)"}"#,
                #"{"receipt-data":"AAAA","receipt-data":"AAAB","x":1}"#,
                String(repeating: #"{"a":"#, count: 100_000),
            ] {
                try json.write(to: folder.appending(path: "request"), atomically: true, encoding: .utf8)
                for command in ["verify", "verify --json", "inspect", "inspect --json"] {
                    let result = try await Program.shell("assay \(command) request", in: folder)
                    #expect(result.status == 1, "\(command) \(json.prefix(40)): \(result.output.prefix(300))")
                }
            }
        }
    }

    private func write(_ encoder: SignedPayloadEncoder, _ claims: [Claim], to file: URL) throws {
        var transaction = SignedTransactionTemplate(
            purchase: .consumable(productID: "coins", transactionID: "1000", purchaseDate: MintedWorld.moment),
            bundleID: "com.example.app", signedDate: MintedWorld.moment)
        transaction.extra = claims
        try Data(try encoder.encode(transaction).utf8).write(to: file)
    }
}
