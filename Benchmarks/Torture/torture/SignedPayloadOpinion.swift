import Crypto
import EvidenceMint
import Foundation
import HostileBytes
import PurchaseVerification

/// Compares the core's verdict on chain, markers and signature of signed data with that of Apple's own library for
/// Python (dev/interop/signed-data-verifier.py), with the same roots.
enum SignedPayloadOpinion {
    static func run(_ store: EvidenceSamples, _ corpus: [Sample], seed: UInt64, mutations: Int) throws -> Bool {
        print("\n## Signed data, a second opinion: PyPI's app-store-server-library\n")
        guard let python = ProcessInfo.processInfo.environment["ASSAY_PYTHON"] else {
            print("Left out: no Python with app-store-server-library is named by ASSAY_PYTHON (Torture/README.md).")
            return true
        }
        let corpus = corpus.filter { $0.bytes.first == UInt8(ascii: "e") }
        let (genuine, faulty) = (try store.signedPayload(), try store.faultySignedPayload())
        var groups: [(String, [JWSCase])] = [
            ("real data", corpus.filter(\.isGenuine).map { JWSCase($0) }),
            ("real negatives", corpus.filter { !$0.isGenuine }.map { JWSCase($0) }),
            ("minted data", genuine.map { JWSCase($0) }), ("minted faults", faulty.map { JWSCase($0) }),
        ]
        for (name, isMintedOnly, mutate) in JWSMutation.all {
            let base = isMintedOnly || corpus.isEmpty ? genuine : corpus.filter(\.isGenuine) + genuine
            let cases = (0..<(mutations / JWSMutation.all.count)).map { number in
                var generator = SeededGenerator(seed: seed &+ UInt64(number))
                let sample = base[generator.below(base.count)]
                return JWSCase(
                    "\(sample.name), mutation \(number) \(name)", mutate(sample.bytes, store, &generator), sample.trust)
            }
            groups.append(("mutations \(name)", cases))
        }
        var report = OpinionReport("Apple's library")
        for (name, cases) in groups { report.add(name, try compare(cases, python)) }
        report.show()
        return report.holds
    }

    private static func compare(_ cases: [JWSCase], _ python: String) throws -> OpinionTally {
        var tally = OpinionTally()
        // One run for each set of roots.
        for (_, cases) in Dictionary(grouping: cases, by: \.trust.certificates) {
            for (one, opinion) in zip(cases, try opinions(cases, python)) { one.compare(opinion, &tally) }
        }
        return tally
    }

    private static func opinions(_ cases: [JWSCase], _ python: String) throws -> [JWSOpinion] {
        guard let trust = cases.first?.trust else { return [] }
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-opinion-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var arguments = [script]
        for (number, certificate) in trust.certificates.enumerated() {
            let file = folder.appending(path: "\(number).der")
            try Data(certificate).write(to: file)
            arguments.append(file.path)
        }
        let (input, output) = (folder.appending(path: "cases"), folder.appending(path: "verdicts"))
        // A line break in the text would end the line; the runner gets the bytes in hexadecimal.
        let lines = cases.enumerated().map { "\($0)\t\($1.bytes.map(hexadecimal).joined())\n" }.joined()
        try Data(lines.utf8).write(to: input)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        let verdicts = String(decoding: try Data(contentsOf: output), as: UTF8.self).split(separator: "\n").map {
            let fields = $0.split(separator: "\t").map(String.init)
            return (fields.count > 1 && fields[1] == "accepted", fields.count > 2 ? fields[2] : "no reason given")
        }
        guard process.terminationStatus == 0, verdicts.count == cases.count else { throw OpinionError.noAnswer }
        return verdicts
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private static let script = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { folder, _ in
        folder.deletingLastPathComponent()
    }.appending(path: "dev/interop/signed-data-verifier.py").path
}

enum OpinionError: Error {
    case noAnswer
}

/// The verdict of Apple's library.
typealias JWSOpinion = (accepts: Bool, reason: String)

/// One JWS for both verifiers.
struct JWSCase {
    let name: String
    let bytes: [UInt8]
    let trust: Trust

    init(_ sample: Sample) { self.init(sample.name, sample.bytes, sample.trust) }

    init(_ name: String, _ bytes: [UInt8], _ trust: Trust) {
        (self.name, self.bytes, self.trust) = (name, bytes, trust)
    }

    func compare(_ opinion: JWSOpinion, _ tally: inout OpinionTally) {
        let inspection = trust.freshVerifier.inspect(bytes, policies: [])
        let refusal = inspection.refusal(among: [
            "form", "segments", "date of signing", "header", "certificate path", "marker extensions", "signing key",
            "signature",
        ])
        // Apple's library reads the whole JSON first; the core reads it only after the signature was verified.
        if refusal == nil, !opinion.accepts, inspection.content == nil { return tally.bothRefuse += 1 }
        tally.note(name, refusal, opinion, by: "Apple's library") { code in
            StricterRules.ofSignedPayload[code]
        } weaker: {
            StricterRules.ofApplesLibrary.first { opinion.reason.contains($0.key) }?.value
        }
    }
}

/// The kinds of changes to signed data.
enum JWSMutation {
    typealias Change = @Sendable ([UInt8], EvidenceSamples, inout SeededGenerator) -> [UInt8]

    /// Those that are signed again, with the key of the minted leaf, need minted data.
    static let all: [(name: String, isMintedOnly: Bool, change: Change)] = [
        ("of bytes of the text", false, { bytes, _, generator in ByteMutation.changed(bytes, &generator) }),
        (
            "of bytes of a part", false,
            { bytes, _, generator in
                guard var jws = LooseJWS(bytes) else { return bytes }
                switch generator.below(3) {
                case 0: jws.header = ByteMutation.changed(jws.header, &generator)
                case 1: jws.payload = ByteMutation.changed(jws.payload, &generator)
                default: jws.signature = ByteMutation.changed(jws.signature, &generator)
                }
                return jws.bytes
            }
        ),
        (
            "of header or payload, signed again", true,
            { bytes, store, generator in
                signedAgain(bytes, store) { jws in
                    if generator.below(2) == 0 {
                        jws.header = ByteMutation.changed(jws.header, &generator)
                    } else {
                        jws.payload = ByteMutation.changed(jws.payload, &generator)
                    }
                }
            }
        ),
        (
            "of structure of a certificate, signed again", true,
            { bytes, store, generator in
                signedAgain(bytes, store) { jws in
                    var certificates = jws.certificates
                    guard certificates.count == 3 else { return }
                    let number = generator.below(3)
                    guard var tree = DERTree(certificates[number]) else { return }
                    var inner = generator
                    StructureMutation.change(&tree, &generator) { ByteMutation.changed($0, &inner) }
                    certificates[number] = tree.bytes
                    jws.header = LooseJWS.header(certificates)
                }
            }
        ),
    ]

    private static func signedAgain(
        _ bytes: [UInt8], _ store: EvidenceSamples, _ change: (inout LooseJWS) -> Void
    ) -> [UInt8] {
        guard var jws = LooseJWS(bytes), case .p256(let key) = store.authority.signedPayload.leaf.privateKey else {
            return bytes
        }
        change(&jws)
        jws.signature = Digests.signature(of: Data(jws.signingInput), key) ?? []
        return jws.bytes
    }
}
