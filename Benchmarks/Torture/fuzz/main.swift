import Foundation
import LibFuzzer

// fuzz TARGET [libFuzzer's arguments]     runs a target
// fuzz TARGET --seeds FOLDER              writes its seeds into a folder
//
// ASSAY_TORTURE_KEYS names the folder of the keys, so that an input reproduces in every run. dev/fuzz.sh sets it.

let arguments = CommandLine.arguments
guard arguments.count >= 2, FuzzTarget(rawValue: arguments[1]) != nil else {
    print("usage: fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) [--seeds FOLDER | options]")
    exit(2)
}
if arguments.count == 4, arguments[2] == "--seeds" {
    let folder = URL(fileURLWithPath: arguments[3], isDirectory: true)
    for (number, seed) in try FuzzTarget.chosen.seeds().enumerated() {
        try Data(seed).write(to: folder.appending(path: "seed-\(number)"))
    }
    exit(0)
}
// Creating keys is slow, and the first input must not be charged for it.
FuzzTarget.chosen.prepare()
// libFuzzer sees the program's name and its own options.
var count = CommandLine.argc - 1
var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
values?[0] = CommandLine.unsafeArgv[0]
exit(
    LLVMFuzzerRunDriver(&count, &values) { bytes, count in
        FuzzTarget.chosen.run([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    })
