/// The template of the state of the installation.
enum StateTemplates {
    static let pages = [
        (
            "webhook",
            """
            {{> form}}<input type="hidden" name="app" value="{{app}}"><input type="hidden" name="url" value="{{url}}">\
            <input type="hidden" name="stream" value="{{stream}}">
            """
        ),
        (
            "state",
            """
            {{> head}}<section><dl>{{#facts}}{{> fact}}{{/facts}}</dl>
            {{#canExamine}}<form method="post" action="/console/state">{{> hidden}}<p><button name="act" \
            value="examine">Examine the installation</button> <span class="soft">As assay doctor does, without a delivery \
            to webhooks.</span></p></form>{{/canExamine}}</section>
            {{#findings}}<section><h2>What the examination found</h2>{{> table}}</section>{{/findings}}
            {{#today}}<section><h2>The last {{hours}} hours of {{app}}</h2><p class="soft">From {{#from}}{{> text}}{{/from}}, a bar for each hour. \
            What is recorded is counted when it is sealed, usually within a second.</p>
            {{#hasOtherApps}}<p>Other apps: {{#otherApps}}<a href="{{href}}">{{name}}</a> {{/otherApps}}</p>\
            {{/hasOtherApps}}<div class="hours">
            {{#drawings}}<figure><figcaption><strong>{{title}}: {{sum}}</strong>{{#hasBars}}, \
            {{most}}{{/hasBars}}</figcaption><svg viewBox="0 0 600 42" role="img" \
            aria-label="{{title}} by hour"><line class="base" x1="0" x2="600" y1="41" y2="41"/>
            {{#bars}}<rect class="{{#isBad}}bad{{/isBad}}" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}"><title>{{words}}</title>\
            </rect>{{/bars}}</svg></figure>{{/drawings}}</div>
            {{#refusals}}<h3>Refused claims by code</h3>{{> table}}{{/refusals}}</section>{{/today}}
            <section><h2>Webhooks</h2>
            {{^hasWebhooks}}<p>No server delivered to a webhook yet.</p>{{/hasWebhooks}}
            {{#webhooks}}<div class="act"><h3>{{url}}</h3><p>{{text}}</p>
            {{#isAdmin}}<form method="post" action="/console/state">{{> webhook}}
            <button name="act" value="resend">Resend what was given up</button> \
            {{#isDisabled}}<button name="act" value="enable">Enable</button>{{/isDisabled}}</form>
            <details><summary>Deliver everything again since a time</summary>
            <p class="soft">For a receiver that lost its data. Events keep their numbers, so one that it knows is \
            recognised.</p><form class="row" method="post" action="/console/state">{{> webhook}}
            <div><label>Since (UTC) <input name="since" type="datetime-local" required></label></div>
            <button name="act" value="since">Deliver again</button></form></details>{{/isAdmin}}</div>\
            {{/webhooks}}</section>{{> foot}}
            """
        ),
    ]
}
