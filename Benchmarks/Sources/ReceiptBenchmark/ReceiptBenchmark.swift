import AllocationCounter
import Foundation

/// Measures what one verification costs beside its floor and beside libcrypto, all in one run (Benchmarks/README.md).
@main
enum ReceiptBenchmark {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("receipt-benchmark: \(error)\n".utf8))
            exit(2)
        }
    }

    private static let usage = """
        usage: receipt-benchmark [--receipts FOLDER]                        the tables
               receipt-benchmark [--receipts FOLDER] --signed               the table of signed data alone
               receipt-benchmark [--receipts FOLDER] --list                 the names of the contenders
               receipt-benchmark [--receipts FOLDER] --callgrind NAME N     one contender, N times
               receipt-benchmark --export FOLDER                            writes the receipts, for --receipts
               receipt-benchmark --stream FILE COUNT < RECEIPT              the same receipt as COUNT requests in JSON
               receipt-benchmark --processes ROUNDS -- PROGRAM [ARGUMENT ...] [-- PROGRAM [ARGUMENT ...]] ...
        """

    private static func run(_ arguments: [String]) throws {
        var arguments = arguments[...]
        var receipts: BenchmarkReceipts?
        if arguments.first == "--receipts", let folder = arguments.dropFirst().first {
            receipts = try BenchmarkReceipts(folder: URL(fileURLWithPath: folder, isDirectory: true))
            arguments = arguments.dropFirst(2)
        }
        let values = Array(arguments.dropFirst())
        switch (arguments.first, values.count) {
        case (nil, _):
            try report(try receipts ?? BenchmarkReceipts())
        case ("--signed", 0):
            try SignedEvidenceTable((receipts ?? BenchmarkReceipts()).signed).report()
        case ("--list", 0):
            for name in try (receipts ?? BenchmarkReceipts()).contenderNames { print(name) }
        case ("--callgrind", 2):
            guard let count = Int(values[1]), count > 0 else { throw BenchmarkError(usage) }
            try callgrind(try receipts ?? BenchmarkReceipts(), values[0], count)
        case ("--export", 1):
            try BenchmarkReceipts().write(to: URL(fileURLWithPath: values[0], isDirectory: true))
        case ("--stream", 2):
            guard let count = Int(values[1]), count > 0 else { throw BenchmarkError(usage) }
            try RequestStream.write(to: URL(fileURLWithPath: values[0]), count: count)
        case ("--processes", 3...):
            let commands = values.dropFirst(2).split(separator: "--").map(Array.init)
            guard let rounds = Int(values[0]), rounds > 0, values[1] == "--", !commands.isEmpty else {
                throw BenchmarkError(usage)
            }
            try ProcessContest(commands).report(rounds: rounds)
        default:
            throw BenchmarkError(usage)
        }
    }

    private static func report(_ receipts: BenchmarkReceipts) throws {
        print("Receipts: \(receipts.origin)")
        #if canImport(OpenSSLReceipt)
            print("OpenSSL: \(OpenSSLContender.library).")
        #else
            print("OpenSSL: left out; this build has no libcrypto.")
        #endif
        try VerificationTable(receipts).report()
        try SignedEvidenceTable(receipts.signed).report()
        try LinearityTable().report()
        if allocation_counter_works() {
            try AllocationTable(receipts).report()
        } else {
            print("\nAllocations are counted with glibc only.")
        }
    }

    private static func callgrind(_ receipts: BenchmarkReceipts, _ name: String, _ count: Int) throws {
        let contender = try receipts.contender(named: name)
        var sink = 0
        for _ in 0..<count { sink &+= try contender.run() }
        print("\(name): \(count) times, \(sink)")
    }
}

/// The reason why nothing was measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
