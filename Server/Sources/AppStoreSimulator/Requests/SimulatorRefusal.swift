import HTTPTypes

/// A request that the simulator refuses for a reason outside of the store.
struct SimulatorRefusal: Error {
    let status: HTTPResponse.Status
    let code: String
    let detail: String

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }
}
