import Foundation
import HostileBytes

/// `torture [bits] [history] [cost] [growth] [opinion] [receipts] [jws]`: hostile bytes without a fuzzer; runs all
/// parts unless some are named. The exit status is 0 only if every check succeeds.
@main
enum Torture {
    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--measure", arguments.count == 2 {
            return try CostMeasurement.printOne(path: arguments[1])
        }
        let seed = take("--seed", from: &arguments) ?? 20_261_121
        let mutations = take("--mutations", from: &arguments) ?? 2000
        let parts = ["bits", "history", "cost", "growth", "opinion", "receipts", "jws"]
        guard arguments.allSatisfy(parts.contains) else {
            print("usage: torture [\(parts.joined(separator: "] ["))] [--seed N] [--mutations N]")
            exit(2)
        }
        let wanted = arguments.isEmpty ? parts : arguments
        let keys = ProcessInfo.processInfo.environment["ASSAY_TORTURE_KEYS"].map { URL(fileURLWithPath: $0) }
        let minted = try MintedSamples(folder: keys)
        let store = try EvidenceSamples(folder: keys)
        let corpus = try Corpus.samples()
        let signed = try Corpus.signedSamples()
        if corpus.isEmpty { print(Corpus.absence) }
        var holds = true
        // After each part, so that its lines appear at once in a pipe, too.
        func after(_ part: Bool) -> Bool {
            fflush(nil)
            return part
        }
        if wanted.contains("bits") { holds = after(try FlippedBits.run(minted, store, corpus, signed)) && holds }
        if wanted.contains("history") { holds = after(try History.run(minted)) && holds }
        if wanted.contains("cost") { holds = after(try Cost.run(minted, store)) && holds }
        if wanted.contains("growth") { holds = after(try Growth.run(store)) && holds }
        if wanted.contains("opinion") {
            holds = after(try SecondOpinion.run(minted, corpus, seed: seed, mutations: Int(mutations))) && holds
        }
        if wanted.contains("receipts") {
            holds =
                after(try TransactionReceiptOpinion.run(store, signed, seed: seed, mutations: Int(mutations))) && holds
        }
        if wanted.contains("jws") {
            holds = after(try SignedPayloadOpinion.run(store, signed, seed: seed, mutations: Int(mutations))) && holds
        }
        print(holds ? "\nEverything holds." : "\nNOT everything holds.")
        exit(holds ? 0 : 1)
    }

    /// The number after an option, which is removed.
    private static func take(_ option: String, from arguments: inout [String]) -> UInt64? {
        guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
        let value = UInt64(arguments[index + 1])
        arguments.removeSubrange(index...(index + 1))
        return value
    }
}
