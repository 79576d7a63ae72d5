extension PurchaseEngine {
    /// Runs until its task is cancelled. If another run is under way, it takes over when that ends.
    func runAfterOthers() async {
        while !Task.isCancelled {
            await run()
            await endOfRun()
        }
    }

    /// Returns when no run is under way, or when its task is cancelled.
    private func endOfRun() async {
        guard isRunning else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        waitingForRunEnd.append(end)
        for await _ in ends {}
    }
}
