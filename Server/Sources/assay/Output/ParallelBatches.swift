/// Runs batches of work on several cores and hands their results out in the order in which the batches came.
///
/// Only so many batches are under way as keep every core busy, so a stream of any length takes little memory.
struct ParallelBatches {
    /// The number of batches that may run at the same time.
    let jobs: Int

    func run<Batch: Sendable, Output: Sendable>(
        next: () -> Batch?,
        work: @escaping @Sendable (Batch) async -> Output,
        output: (Output) -> Void
    ) async {
        await withTaskGroup(of: (Int, Output).self) { group in
            var started = 0
            var received = 0
            var written = 0
            var waiting: [Int: Output] = [:]
            var isExhausted = false
            while true {
                // As many batches run as allowed, but none runs far ahead of the output.
                while !isExhausted, started - received < jobs, started - written < jobs * 4 {
                    guard let batch = next() else {
                        isExhausted = true
                        break
                    }
                    let index = started
                    started += 1
                    group.addTask { (index, await work(batch)) }
                }
                guard let (index, result) = await group.next() else { return }
                received += 1
                waiting[index] = result
                while let result = waiting.removeValue(forKey: written) {
                    output(result)
                    written += 1
                }
            }
        }
    }
}
