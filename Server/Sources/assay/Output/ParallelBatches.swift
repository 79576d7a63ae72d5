/// Runs batches of work on several cores and hands their results out in the order in which the batches came.
///
/// Only as many batches are in progress as keep every core busy, so a stream of any length takes little memory.
struct ParallelBatches {
    /// The number of batches that may run at the same time.
    let jobs: Int

    /// Runs all batches.
    ///
    /// - Parameters:
    ///   - next: the next batch; `nil` at the end.
    ///   - work: is called on several cores.
    ///   - output: is called with one result after the other. An error of it ends everything.
    func run<Batch: Sendable, Output: Sendable, Failure: Error>(
        next: () -> Batch?,
        work: @escaping @Sendable (Batch) async -> Output,
        output: (Output) async throws(Failure) -> Void
    ) async throws(Failure) {
        let failure: Failure? = await withTaskGroup(of: (Int, Output).self) { group in
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
                guard let (index, result) = await group.next() else { return nil }
                received += 1
                waiting[index] = result
                while let result = waiting.removeValue(forKey: written) {
                    do throws(Failure) {
                        try await output(result)
                    } catch {
                        group.cancelAll()
                        return error
                    }
                    written += 1
                }
            }
        }
        if let failure { throw failure }
    }
}
