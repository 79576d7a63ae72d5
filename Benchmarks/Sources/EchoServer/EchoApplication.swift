import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The server of `assay serve`, with its channel handlers, threads and limits, but with other routes.
struct EchoApplication<Base: ApplicationProtocol>: ApplicationProtocol {
    let base: Base
    let responder: RouterResponder<BasicRequestContext>

    var server: HTTPServerBuilder { base.server }
    var configuration: ApplicationConfiguration { base.configuration }
    var eventLoopGroup: any EventLoopGroup { base.eventLoopGroup }
    var logger: Logger { base.logger }

    func onServerRunning(_ channel: any Channel) async { await base.onServerRunning(channel) }
}
