import Foundation
import HostileBytes
import PurchaseVerification

#if canImport(OpenSSLOpinion)
    import OpenSSLOpinion

    /// Compares the core's verdict on signature and chain with OpenSSL's `cms -verify`, with the same anchors and at
    /// the same time: for all receipts, for negatives, and for mutations of them.
    enum SecondOpinion {
        static func run(_ minted: MintedSamples, _ corpus: [Sample], seed: UInt64, mutations: Int) throws -> Bool {
            print("\n## A second opinion: \(String(cString: openssl_opinion_library())), seed \(seed)\n")
            let genuine = try minted.genuine()
            let faulty = try minted.faulty()
            let base = corpus.isEmpty ? genuine + faulty : corpus
            var report = OpinionReport()
            report.add("real receipts", ask(corpus.filter(\.isGenuine)))
            report.add("real negatives", ask(corpus.filter { !$0.isGenuine }))
            report.add("minted receipts", ask(genuine))
            report.add("minted faults", ask(faulty))
            report.add(
                "mutations of bytes",
                ask(count: mutations) { OpinionCase.byteMutation(of: base, seed: seed, number: $0) })
            report.add(
                "mutations of structure",
                ask(count: mutations) {
                    OpinionCase.structureMutation(of: base + genuine + faulty, seed: seed, number: $0)
                })
            report.show()
            return report.holds
        }

        private static func ask(_ samples: [Sample]) -> OpinionTally {
            ask(count: samples.count) { OpinionCase(samples[$0]) }
        }

        private static func ask(count: Int, _ make: @Sendable (Int) -> OpinionCase) -> OpinionTally {
            Parallel.collect(count: count, into: OpinionTally()) { number, tally in
                make(number).compare(into: &tally)
            } join: {
                $0.add($1)
            }
        }
    }

    extension [[UInt8]] {
        /// Keeps the bytes of all of them in place while the body runs.
        func withPointers<Result>(_ body: ([opinion_bytes]) -> Result) -> Result { Self.with(self[...], [], body) }

        private static func with<Result>(
            _ rest: ArraySlice<[UInt8]>, _ pointers: [opinion_bytes], _ body: ([opinion_bytes]) -> Result
        ) -> Result {
            guard let first = rest.first else { return body(pointers) }
            return first.withUnsafeBufferPointer {
                let pointer = opinion_bytes(bytes: $0.baseAddress, count: $0.count)
                return with(rest.dropFirst(), pointers + [pointer], body)
            }
        }
    }

    /// One message for both verifiers.
    struct OpinionCase: Sendable {
        let name: String
        let bytes: [UInt8]
        let trust: Trust
        /// The date for the certificates if the message has none: that of the message it was made from.
        let fallback: Int64

        init(_ sample: Sample) {
            self.init(sample.name, sample.bytes, sample)
        }

        private init(_ name: String, _ bytes: [UInt8], _ sample: Sample) {
            (self.name, self.bytes, trust) = (name, bytes, sample.trust)
            let date = sample.trust.freshVerifier.inspect(sample.bytes, policies: []).receipt?.creationDate
            // 2018-01-01, for messages that are not receipts.
            fallback = date.map(Self.seconds) ?? 1_514_764_800
        }

        /// Half of the mutations change bytes that a verifier reads before the signature, which are a small part of
        /// most receipts.
        static func byteMutation(of samples: [Sample], seed: UInt64, number: Int) -> OpinionCase {
            var generator = SeededGenerator(seed: seed &+ UInt64(number))
            let sample = samples[generator.below(samples.count)]
            let mutation = ByteMutation.allCases[number % ByteMutation.allCases.count]
            let envelope = ContainerRegions(sample.bytes).envelope(of: sample.bytes.count)
            let range =
                number / ByteMutation.allCases.count % 2 == 0
                ? 0..<sample.bytes.count : envelope[generator.below(envelope.count)]
            let bytes = mutation.applied(to: sample.bytes, within: range, &generator)
            return OpinionCase("\(sample.name), \(mutation.rawValue), number \(number)", bytes, sample)
        }

        /// The lengths are corrected afterwards, so these get further.
        static func structureMutation(of samples: [Sample], seed: UInt64, number: Int) -> OpinionCase {
            var generator = SeededGenerator(seed: ~seed &+ UInt64(number))
            let sample = samples[generator.below(samples.count)]
            let mutation = StructureMutation.allCases[number % StructureMutation.allCases.count]
            guard var tree = DERTree(sample.bytes) else { return OpinionCase(sample) }
            // Among the elements outside the content, except one time in four.
            let content = ContainerRegions(sample.bytes).content
            let elements = tree.elements.enumerated().filter { !content.contains($0.element.lowerBound) }.map(\.offset)
            let number =
                generator.below(4) == 0 || elements.isEmpty
                ? generator.below(tree.count) : elements[generator.below(elements.count)]
            var inner = generator
            mutation.apply(to: &tree, element: number, &generator) { content in
                content.isEmpty ? [0] : ByteMutation.bitFlip.applied(to: content, within: 0..<content.count, &inner)
            }
            return OpinionCase("\(sample.name), \(mutation.rawValue) at element \(number)", tree.bytes, sample)
        }

        func compare(into tally: inout OpinionTally) {
            let inspection = trust.freshVerifier.inspect(bytes, policies: [])
            let refusal = Self.refusal(inspection)
            let moment = inspection.receipt?.creationDate.map(Self.seconds) ?? fallback
            tally.note(name, refusal, openSSL(bytes, moment)) { code in
                StricterRules.reasons[code] ?? reasonToMissSigner(code)
            } weaker: {
                reasonToAccept(moment)
            }
        }

        /// The first reason against signature and chain; OpenSSL does not check markers, content and policies.
        private static func refusal(_ inspection: EvidenceInspection) -> ReasonCode? {
            let relevant: Set = ["form", "container", "creation date", "certificate path", "signing key", "signature"]
            return inspection.refusal(among: relevant)
        }

        /// Whether the core also finds the signer if the message names it exactly as one of the certificates does.
        private func reasonToMissSigner(_ code: ReasonCode) -> String? {
            guard code == .signerCertificateMissing, let tree = DERTree(bytes)?.inDefiniteLengths,
                let certificates = tree[1, 0, 3], tree[1, 0, 4, 0, 1] != nil
            else { return nil }
            for certificate in certificates.children {
                let fields = (certificate[0]?.children ?? []).drop { $0.tag == 0xA0 }
                guard fields.count >= 3, let serialNumber = fields.first else { continue }
                let issuer = fields[fields.startIndex + 2]
                var named = tree
                named.children[1].children[0].children[4].children[0].children[1] = DERTree(
                    tag: 0x30, children: [issuer, serialNumber])
                if isAccepted(named.bytes) { return StricterRules.namesByByte }
            }
            return nil
        }

        /// Whether OpenSSL accepts the same message without one certificate that the core does not need either, or with
        /// definite lengths.
        private func reasonToAccept(_ moment: Int64) -> String? {
            guard let tree = DERTree(bytes), let certificates = tree[1, 0, 3] else { return nil }
            for index in certificates.children.indices {
                var without = tree
                without.children[1].children[0].children[3].children.remove(at: index)
                if isAccepted(without.bytes), openSSL(without.bytes, moment).accepts {
                    return StricterRules.unreadCertificate
                }
            }
            let definite = tree.inDefiniteLengths.bytes
            return isAccepted(definite) && openSSL(definite, moment).accepts ? StricterRules.rewrittenCertificate : nil
        }

        private func isAccepted(_ message: [UInt8]) -> Bool {
            Self.refusal(trust.freshVerifier.inspect(message, policies: [])) == nil
        }

        private func openSSL(_ message: [UInt8], _ moment: Int64) -> (accepts: Bool, reason: String) {
            message.withUnsafeBufferPointer { message in
                trust.certificates.withPointers { anchors in
                    var reason = [CChar](repeating: 0, count: 256)
                    let result = openssl_opinion(
                        opinion_bytes(bytes: message.baseAddress, count: message.count), anchors, anchors.count, moment,
                        &reason, reason.count)
                    precondition(result >= 0, "OpenSSL could not be asked")
                    return (result == 1, String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
                }
            }
        }

        static func seconds(_ moment: AppStoreTime) -> Int64 {
            // Rounded down, also before 1970.
            (moment.millisecondsSince1970 - (moment.millisecondsSince1970 % 1000 + 1000) % 1000) / 1000
        }
    }
#else
    /// Without OpenSSL, prints that the comparison is skipped.
    enum SecondOpinion {
        static func run(_ minted: MintedSamples, _ corpus: [Sample], seed: UInt64, mutations: Int) throws -> Bool {
            print("\n## A second opinion\n\nlibssl-dev or pkg-config is missing, so OpenSSL was not asked.")
            return true
        }
    }
#endif
