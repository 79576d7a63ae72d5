import HTTPConnections

/// The page of a pack. `{{ }}` escapes what comes from outside.
enum DisputePackTemplate {
    static let text = head + purchases + entries + foot

    private static let head = """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>{{title}} – record of purchases</title><style>\(PageStyle.text)</style></head>
        <body><main><h1>{{title}}</h1>
        <dl><dt>App</dt><dd>{{app}}</dd><dt>Made at</dt><dd>{{madeAt}}</dd><dt>Entries</dt><dd>{{count}}\
        {{^isComplete}}; there are more, which this page does not show{{/isComplete}}</dd></dl>
        <p>Each entry was recorded at the time shown beside it, in a log that can only grow. Evidence is what \
        the App Store signed; the checks were made again for this page.</p>
        {{#isRedacted}}<p class="note">Redacted: names of customers, the details of entries and the evidence are left \
        out. Their hashes are in the proofs, so what is left out can be shown later and compared.</p>{{/isRedacted}}

        """

    private static let purchases = """
        {{#hasPurchases}}<h2>Purchases</h2><div class="table" tabindex="0" role="region" aria-label="Purchases"><table>
        <thead><tr><th scope="col">Transaction</th><th scope="col">Product</th><th scope="col">Units</th>\
        <th scope="col">Environment</th><th scope="col">Bought</th><th scope="col">Ends</th>\
        <th scope="col">Withdrawn by Apple</th><th scope="col">Owner</th><th scope="col">By rule</th></tr></thead><tbody>
        {{#purchases}}<tr><td>{{id}}</td><td>{{product}}</td><td>{{units}}</td><td>{{environment}}</td><td>{{bought}}</td>\
        <td>{{ends}}</td><td>{{withdrawn}}</td><td>{{owner}}</td><td>{{rule}}</td></tr>{{/purchases}}</tbody></table></div>\
        {{/hasPurchases}}

        """

    private static let entries = """
        <h2>What happened</h2><div class="table" tabindex="0" role="region" aria-label="What happened"><table>
        <thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col">Code</th><th scope="col">Entry</th>\
        </tr></thead><tbody>{{#entries}}<tr><td>{{at}}</td><td>{{#texts}}<div>{{.}}</div>{{/texts}}</td><td>{{code}}</td>\
        <td><a href="#e{{id}}">{{id}}</a></td></tr>{{/entries}}</tbody></table></div>
        <h2>Evidence and proofs</h2>
        {{#entries}}<section id="e{{id}}"><h3>{{at}}: {{kind}} {{code}}</h3><dl><dt>Entry</dt><dd>{{id}}</dd>
        {{#isSealed}}<dt>Leaf of the log</dt><dd>{{leaf}}</dd><dt>Hash of the leaf</dt><dd>{{hash}}</dd>{{/isSealed}}
        {{^isSealed}}<dt>Leaf of the log</dt><dd>not covered by the checkpoint yet</dd>{{/isSealed}}
        {{#proof}}<dt>Proof</dt><dd><a href="{{href}}" download="{{name}}">{{name}}</a></dd>{{/proof}}
        {{#hasEvidence}}<dt>Evidence</dt><dd>{{evidenceKind}} SHA-256 {{sha256}} {{#evidence}}<a href="{{href}}" \
        download="{{name}}">{{bytes}} bytes</a>{{/evidence}}</dd>{{/hasEvidence}}
        {{#hasPath}}<dt>Certificates</dt><dd>{{#path}}<div>{{.}}</div>{{/path}}</dd>{{/hasPath}}</dl>
        {{#hasChecks}}<details><summary>Checks</summary><ul>{{#checks}}<li>{{name}}: {{result}}</li>{{/checks}}</ul>\
        </details>{{/hasChecks}}</section>{{/entries}}

        """

    private static let foot = """
        <h2>How to check this</h2>
        <p>Save a proof, and run <code>assay audit check FILE --key KEY</code> on any machine; no database is needed. KEY is \
        the public key of the log, which its owner publishes. It verifies the signature of the checkpoint, that the entry is \
        in the log, and that details and evidence are those of the entry. <code>assay verify FILE</code> verifies evidence \
        with Apple's certificates alone.</p>
        {{#hasCheckpoint}}<p>The checkpoint of all proofs:</p><pre>{{checkpoint}}</pre>{{/hasCheckpoint}}
        {{^hasCheckpoint}}<p>Nothing was signed yet, so there are no proofs.</p>{{/hasCheckpoint}}
        </main></body></html>
        """
}
