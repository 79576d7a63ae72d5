import Foundation
import TestSupport
import Testing

@Suite("55.6 Events of Stripe and a server that starts again")
struct StripeRestartTests {
    private static let settings = """
        apps:
          game:
            bundle_ids: com.example.app
            products: { pro: { kind: auto_renewable } }
            grounds: { stripe: { secret_file: stripe.secret, products: { price_old: pro } } }

        """

    /// Signs the event with openssl, and prints the answer of each server.
    private static func send(_ event: String, to server: RunningServer, in folder: URL) async throws -> String {
        try event.write(to: folder.appending(path: "event"), atomically: true, encoding: .utf8)
        return try await Program.shell(
            """
            time=$(date +%s); { printf %s. "$time"; cat event; } >signed; secret=$(cat stripe.secret)
            code=$(openssl dgst -sha256 -hmac "$secret" signed | sed 's/.*= *//')
            curl -sS -H "Stripe-Signature: t=$time,v1=$code" --data-binary @event \(server.address)/stripe/game
            """, in: folder
        ).output
    }

    @Test("An event that was held is applied after the price is in the settings, and ids are kept")
    func restarted() async throws {
        try await Program.inTemporaryFolder { folder in
            let file = folder.appending(path: "assay.yaml")
            try Self.settings.write(to: file, atomically: true, encoding: .utf8)
            _ = try await Program.shell(
                "umask 077; echo whsec_0123456789abcdefghij >stripe.secret; assay keys create --app game --scope backend 2>/dev/null >key",
                in: folder)
            let event = """
                {"id":"evt_1","object":"event","type":"customer.subscription.updated","created":1700000000,"livemode":true,"data":{
                "object":{"id":"sub_1","status":"active","metadata":{"assay_customer":"alice"},"items":{"data":[
                {"price":{"id":"price_new"},"current_period_end":4102444800}]}}}}
                """
            func grounds(_ server: RunningServer) async throws -> String {
                try await Program.shell(
                    "curl -sS -H \"Authorization: Bearer $(cat key)\" \(server.address)/v1/customers/alice/grounds",
                    in: folder
                ).output
            }
            try await RunningServer.run("assay serve --port 0 2>>log", in: folder) { server in
                let held = try await Self.send(event, to: server, in: folder)
                #expect(held.contains("stripe_event_held") && held.contains("a product for price_new"), "\(held)")
                #expect(try await grounds(server).contains("\"grounds\":[]"))
            }
            try Self.settings.replacing("price_old", with: "price_new").write(
                to: file, atomically: true, encoding: .utf8)
            for result in ["recorded", "repeated"] {
                try await RunningServer.run("assay serve --port 0 2>>log", in: folder) { server in
                    let answer = try await Self.send(event, to: server, in: folder)
                    #expect(answer.contains("\"result\":\"\(result)\""), "\(answer)")
                    let given = try await grounds(server)
                    #expect(given.contains("\"reference\":\"sub_1/pro\"") && !given.contains("ended_at"), "\(given)")
                }
            }
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            #expect(!log.contains("whsec_"))
            let audit = try await Program.shell("assay audit verify", in: folder)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }
}
