import Mustache

/// The templates of the pages. `{{ }}` escapes what comes from outside; `{{{ }}}` is not used.
enum ConsoleTemplates {
    static func library() throws -> MustacheLibrary {
        var library = MustacheLibrary()
        for (name, text) in shared + pages { try library.register(text, named: name) }
        return library
    }

    private static let shared = [
        (
            "head",
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>{{title}} – Assay</title><link rel="stylesheet" href="/console/style.css"></head>
            <body><a class="skip" href="#main">Skip to the content</a>
            <header><strong>Assay</strong>
            {{#operator}}<nav aria-label="Pages"><a href="/console">Search</a> <a href="/console/inspect">Inspect</a>
            <a href="/console/state">State</a> <a href="/console/operators">Operators</a>
            {{#store}}<a href="{{store}}">The simulated store</a>{{/store}}</nav>
            <form method="post" action="/console/sign-out"><input type="hidden" name="token" value="{{token}}">
            <span class="soft">{{operator}} ({{role}})</span> <button>Sign out</button></form>{{/operator}}
            </header><main id="main" tabindex="-1"><h1>{{title}}</h1>
            {{#error}}<p class="note error" role="alert">{{error}}</p>{{/error}}
            {{#notice}}<p class="note" role="status">{{notice}}</p>{{/notice}}
            """
        ),
        ("foot", "</main></body></html>"),
        (
            "packs",
            """
            <h2>For a dispute</h2><ul>{{#packs}}<li><a href="{{href}}">{{text}}</a></li>{{/packs}}</ul>
            """
        ),
        (
            "hidden",
            """
            <input type="hidden" name="token" value="{{token}}"><input type="hidden" name="app" value="{{app}}">\
            {{#customer}}<input type="hidden" name="id" value="{{customer}}">{{/customer}}
            """
        ),
        (
            "purchases",
            """
            <div class="table" tabindex="0" role="region" aria-label="Purchases"><table>
            <thead><tr><th scope="col">Transaction</th><th scope="col">Product</th><th scope="col">Bought</th>\
            <th scope="col">Ends</th><th scope="col">State</th><th scope="col">Owner</th></tr></thead><tbody>
            {{#purchases}}<tr><td><a href="{{href}}">{{id}}</a></td><td>{{product}}</td><td>{{bought}}</td>\
            <td>{{ends}}</td><td>{{state}}</td><td>{{owner}}</td></tr>{{/purchases}}
            </tbody></table></div>
            """
        ),
        (
            "submissions",
            """
            <div class="table" tabindex="0" role="region" aria-label="Claims"><table>
            <thead><tr><th scope="col">Received</th><th scope="col">Claim</th><th scope="col">Code</th>\
            <th scope="col">Transaction</th><th scope="col">Customer</th></tr></thead><tbody>
            {{#submissions}}<tr><td>{{at}}</td><td><a href="{{href}}">{{id}}</a></td>\
            <td>{{code}}: {{sentence}}</td><td>{{transaction}}</td><td>{{customer}}</td></tr>{{/submissions}}
            </tbody></table></div>
            """
        ),
        (
            "answers",
            """
            {{#complaints}}<h3>{{question}}</h3><ul class="answers">
            {{#lines}}<li>{{text}} <strong>{{action}}</strong></li>{{/lines}}</ul>{{/complaints}}
            """
        ),
        (
            "inspection",
            """
            <p>{{kind}} <strong>{{verdict}}</strong></p>
            <div class="table" tabindex="0" role="region" aria-label="Checks"><table>
            <thead><tr><th scope="col">Check</th><th scope="col">Result</th><th scope="col">Why</th></tr></thead><tbody>
            {{#checks}}<tr><td>{{name}}</td><td>{{result}}</td><td>{{why}}</td></tr>{{/checks}}</tbody></table></div>
            {{#hasPath}}<p>Certificate path:</p><ol>{{#path}}<li>{{name}}</li>{{/path}}</ol>{{/hasPath}}
            """
        ),
    ]

    private static let pages = [
        (
            "sign-in",
            """
            {{> head}}<form method="post" action="/console/sign-in">
            <div><label for="name">Name</label><input id="name" name="name" autocomplete="username" required></div>
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="current-password" required></div>
            <p><button>Sign in</button></p></form>{{> foot}}
            """
        ),
        (
            "link",
            """
            {{> head}}<p>The password of {{name}}: at least {{shortest}} characters.</p>
            <form method="post" action="/console/link"><input type="hidden" name="secret" value="{{secret}}">
            <input type="hidden" name="username" value="{{name}}" autocomplete="username">
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="new-password" minlength="{{shortest}}" required></div>
            <div><label for="again">Password again</label><input id="again" name="again" type="password" \
            autocomplete="new-password" required></div>
            <p><button>Set the password</button></p></form>{{> foot}}
            """
        ),
        (
            "search",
            """
            {{> head}}<form class="row" method="post" action="/console/search" role="search">
            <input type="hidden" name="token" value="{{token}}">
            <div><label for="q">A customer, transaction, order or claim; or evidence, pasted whole</label>
            <input id="q" name="q" value="{{q}}" required autofocus></div>
            {{#manyApps}}<div><label for="app">App</label><select id="app" name="app">
            {{#apps}}<option{{#selected}} selected{{/selected}}>{{name}}</option>{{/apps}}</select></div>{{/manyApps}}
            {{^manyApps}}<input type="hidden" name="app" value="{{app}}">{{/manyApps}}
            <button>Search</button></form>
            {{#searched}}<h2>Found</h2>{{#found}}<ul>{{#results}}<li>{{kind}} <a href="{{href}}">{{text}}</a></li>\
            {{/results}}</ul>{{/found}}{{^found}}<p>Nothing recorded has this name. If the customer paid, the purchase \
            never arrived here: ask them to open the app and use Restore Purchases.</p>{{/found}}{{/searched}}
            {{#hasRefused}}<h2>The latest claims that were not accepted</h2>{{> submissions}}{{/hasRefused}}{{> foot}}
            """
        ),
        (
            "customer",
            """
            {{> head}}{{#merged}}<p class="note">The customer {{merged}} was merged into this one.</p>{{/merged}}
            <h2>What to say</h2>{{> answers}}
            <h2>What the customer may use</h2>{{#hasEntitlements}}
            <div class="table" tabindex="0" role="region" aria-label="Entitlements"><table>
            <thead><tr><th scope="col">Product</th><th scope="col">State</th><th scope="col">Why</th>\
            <th scope="col">Since</th><th scope="col">Until</th><th scope="col">Units</th></tr></thead><tbody>
            {{#entitlements}}<tr><td>{{product}}</td><td>{{state}}</td><td>{{why}}</td><td>{{since}}</td>\
            <td>{{until}}</td><td>{{units}}</td></tr>{{/entitlements}}</tbody></table></div>{{/hasEntitlements}}
            {{^hasEntitlements}}<p>Nothing.</p>{{/hasEntitlements}}
            {{#timeline}}<h2>Access over time</h2><p class="soft">From {{from}} to {{to}}; the line is now. The table \
            of purchases has the same facts.</p>
            <div class="table" tabindex="0" role="region" aria-label="Access over time">
            <svg viewBox="0 0 600 {{height}}" role="img" aria-label="Access to {{count}} products over time">
            {{#rows}}<text x="4" y="{{textY}}">{{product}}</text>{{#bars}}<rect class="bar\
            {{#isWithdrawn}} withdrawn{{/isWithdrawn}}" x="{{x}}" y="{{y}}" width="{{width}}" height="10"/>\
            {{#isWithdrawn}}<rect class="mark" x="{{mark}}" y="{{y}}" width="2" height="10"/>{{/isWithdrawn}}{{/bars}}\
            {{/rows}}<line class="now" x1="{{now}}" x2="{{now}}" y1="0" y2="{{height}}"/></svg></div>{{/timeline}}
            {{#hasPurchases}}<h2>Purchases</h2>{{> purchases}}{{#nextPurchases}}<p><a href="{{nextPurchases}}">Earlier \
            purchases</a></p>{{/nextPurchases}}{{/hasPurchases}}
            {{#hasOrders}}<h2>Orders</h2><ul>{{#orders}}<li>{{text}}</li>{{/orders}}</ul>{{/hasOrders}}
            {{#hasSubmissions}}<h2>The latest claims</h2>{{> submissions}}{{/hasSubmissions}}
            {{#hasActs}}<h2>Grants and revocations</h2>{{#acts}}<div class="act"><p>{{text}}</p>\
            {{#canLift}}<form method="post" action="/console/customer">{{> hidden}}
            <input type="hidden" name="act" value="lift"><input type="hidden" name="target" value="{{id}}">
            <div><label for="lift-{{id}}">Reason</label><input id="lift-{{id}}" name="reason" required></div>
            <button>End it</button></form>{{/canLift}}</div>{{/acts}}{{/hasActs}}
            <h2>Events</h2>{{#hasEvents}}<ul>{{#events}}<li>{{at}} {{text}} {{product}} {{reason}}</li>{{/events}}</ul>\
            {{/hasEvents}}{{#nextEvents}}<p><a href="{{nextEvents}}">Later events</a></p>{{/nextEvents}}
            {{> packs}}{{#canAct}}<h2>Acts</h2><p>Each is an entry of the journal, under the name {{operator}}.</p>
            {{#forms}}<details class="act"><summary>{{label}}</summary><form method="post" action="/console/customer">
            {{> hidden}}<input type="hidden" name="act" value="{{act}}">
            {{#target}}<div><label for="{{act}}-target">{{target}}</label><input id="{{act}}-target" name="target" \
            required></div>{{/target}}
            {{#second}}<div><label for="{{act}}-second">{{second}}</label><input id="{{act}}-second" \
            name="second"></div>{{/second}}
            <div><label for="{{act}}-reason">Reason</label><input id="{{act}}-reason" name="reason" required></div>
            <button>{{label}}</button></form></details>{{/forms}}{{/canAct}}{{> foot}}
            """
        ),
        (
            "purchase",
            """
            {{> head}}{{#stories}}<h2>{{heading}}</h2><dl>{{#facts}}<dt>{{name}}</dt><dd>{{value}}</dd>{{/facts}}</dl>
            {{#ownerHref}}<p>Owner: <a href="{{ownerHref}}">{{owner}}</a></p>{{/ownerHref}}
            {{^ownerHref}}<p>Nobody owns it: it is held.</p>{{/ownerHref}}
            <h2>What to say</h2>{{> answers}}{{/stories}}
            {{#hasSubmissions}}<h2>Who claimed it</h2>{{> submissions}}{{/hasSubmissions}}{{> packs}}{{> foot}}
            """
        ),
        (
            "submission",
            """
            {{> head}}<p class="note">{{sentence}} <strong>{{action}}</strong></p>
            <dl>{{#facts}}<dt>{{name}}</dt><dd>{{value}}</dd>{{/facts}}</dl>
            {{#links}}<p><a href="{{href}}">{{text}}</a></p>{{/links}}
            {{#inspected}}<h2>The evidence, checked now</h2>{{> inspection}}{{/inspected}}{{> foot}}
            """
        ),
        (
            "inspect",
            """
            {{> head}}<form method="post" action="/console/inspect">{{> hidden}}
            <div><label for="evidence">A receipt in base64, or signed data (JWS)</label>
            <textarea id="evidence" name="evidence" required></textarea></div><p><button>Inspect</button></p></form>
            <p class="soft">Nothing is recorded and nothing is granted.</p>
            {{#inspected}}<h2>Result</h2>{{> inspection}}{{#links}}<p><a href="{{href}}">{{text}}</a></p>{{/links}}\
            {{/inspected}}{{> foot}}
            """
        ),
        (
            "state",
            """
            {{> head}}<dl>{{#facts}}<dt>{{name}}</dt><dd>{{value}}</dd>{{/facts}}</dl>
            {{#today}}<h2>The last {{hours}} hours of {{app}}</h2><p class="soft">From {{from}}, a bar for each hour. \
            What is recorded is counted when it is sealed, usually within a second.</p>
            {{#hasOtherApps}}<p>Other apps: {{#otherApps}}<a href="{{href}}">{{name}}</a> {{/otherApps}}</p>\
            {{/hasOtherApps}}<div class="hours">
            {{#drawings}}<figure><figcaption><strong>{{title}}: {{sum}}</strong>{{#hasBars}}, \
            at most {{most}} in an hour{{/hasBars}}</figcaption><svg viewBox="0 0 600 42" role="img" \
            aria-label="{{title}} by hour"><line class="base" x1="0" x2="600" y1="41" y2="41"/>
            {{#bars}}<rect class="bar{{#isBad}} bad{{/isBad}}" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}"><title>{{words}}</title>\
            </rect>{{/bars}}</svg></figure>{{/drawings}}</div>
            {{#hasRefusals}}<h3>Refused claims by code</h3><div class="table" tabindex="0" role="region" \
            aria-label="Refused claims by code"><table><thead><tr><th scope="col">Code</th><th scope="col">Claims</th>\
            <th scope="col">What it means</th></tr></thead><tbody>{{#refusals}}<tr><td>{{code}}</td><td>{{count}}</td>\
            <td>{{sentence}}</td></tr>{{/refusals}}</tbody></table></div>{{/hasRefusals}}{{/today}}
            <h2>Webhooks</h2>
            {{^hasWebhooks}}<p>No server delivered to a webhook yet.</p>{{/hasWebhooks}}
            {{#webhooks}}<div class="act"><h3>{{url}}</h3><p>{{text}}</p>
            {{#isAdmin}}<form method="post" action="/console/state"><input type="hidden" name="token" \
            value="{{token}}"><input type="hidden" name="app" value="{{app}}"><input type="hidden" name="url" \
            value="{{url}}"><button name="act" value="resend">Resend what was given up</button> \
            {{#isDisabled}}<button name="act" value="enable">Enable</button>{{/isDisabled}}</form>{{/isAdmin}}</div>\
            {{/webhooks}}{{> foot}}
            """
        ),
        (
            "operators",
            """
            {{> head}}{{#link}}<p class="note">Send this link to the operator; it works once, for a day:<br>\
            <code>{{link}}</code></p>{{/link}}
            <h2>Operators</h2><div class="table" tabindex="0" role="region" aria-label="Operators"><table>
            <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th>\
            {{#isAdmin}}<th scope="col">Change</th>{{/isAdmin}}</tr></thead><tbody>
            {{#operators}}<tr><td>{{name}}</td><td>{{accountRole}}</td><td>{{state}}</td>{{#isAdmin}}<td>\
            <form method="post" action="/console/operators"><input type="hidden" name="token" value="{{token}}">\
            <input type="hidden" name="name" value="{{name}}"><button name="act" value="link" \
            aria-label="New link for {{name}}">New link</button> <button name="act" value="remove" \
            aria-label="Remove {{name}}">Remove</button></form></td>{{/isAdmin}}</tr>{{/operators}}</tbody></table></div>
            {{#isAdmin}}<h2>Add an operator</h2><form class="row" method="post" action="/console/operators">
            <input type="hidden" name="token" value="{{token}}">
            <div><label for="new-name">Name</label><input id="new-name" name="name" required></div>
            <div><label for="new-role">Role</label><select id="new-role" name="role"><option>view</option>\
            <option>support</option><option>admin</option></select></div>
            <button name="act" value="add">Add</button></form>{{/isAdmin}}
            <h2>Your sessions</h2><ul>{{#sessions}}<li>{{text}}</li>{{/sessions}}</ul>
            <form method="post" action="/console/operators"><input type="hidden" name="token" value="{{token}}">
            <button name="act" value="end">End the other sessions</button></form>
            <h2>Sign-ins and changes</h2><div class="table" tabindex="0" role="region" aria-label="Log"><table>
            <thead><tr><th scope="col">Time</th><th scope="col">Operator</th><th scope="col">What</th>\
            <th scope="col">By</th><th scope="col">Address</th></tr></thead><tbody>
            {{#log}}<tr><td>{{at}}</td><td>{{name}}</td><td>{{act}}</td><td>{{by}}</td><td>{{address}}</td></tr>{{/log}}
            </tbody></table></div>{{> foot}}
            """
        ),
        ("message", "{{> head}}<p><a href=\"/console\">To the first page</a></p>{{> foot}}"),
    ]
}
