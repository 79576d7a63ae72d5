/// The style sheet of the pages that people see: the simulator's and the console's.
public enum PageStyle {
    public static let text = #"""
        :root {
          color-scheme: light dark;
          --paper: light-dark(#f5f4f0, #15171a);
          --card: light-dark(#ffffff, #1e2126);
          --ink: light-dark(#1c2024, #e7e9ec);
          --soft: light-dark(#5c6570, #9aa4b0);
          --line: light-dark(#dcdad3, #343a42);
          --accent: light-dark(#0a6b5d, #58c7b3);
          --on-accent: light-dark(#ffffff, #08231f);
          --good: light-dark(#1c6b36, #6fd08c);
          --warn: light-dark(#8a5300, #f0b45c);
          --bad: light-dark(#a1261f, #ff8f86);
        }
        * { box-sizing: border-box; }
        body { margin: 0; font: 15px/1.45 system-ui, sans-serif; background: var(--paper); color: var(--ink); overflow-wrap: break-word; }
        header { display: flex; flex-wrap: wrap; gap: .5rem 1.2rem; align-items: center; padding: .7rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--card); position: sticky; top: 0; z-index: 2; }
        h1 { font-size: 1.1rem; margin: 0; }
        .grow { flex: 1; }
        main { max-width: 76rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
        section, details.card, .note { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem; margin-bottom: 1rem; min-width: 0; }
        h2, details.card > summary { font-size: .95rem; font-weight: 650; margin: 0 0 .6rem; }
        h3 { font-size: .9rem; margin: .9rem 0 .3rem; }
        details.card > summary { cursor: pointer; margin: 0; } details.card[open] > summary { margin-bottom: .6rem; }
        label { display: block; color: var(--soft); font-size: .82rem; margin-bottom: .5rem; }
        input, select, textarea, button { font: inherit; color: inherit; }
        input, select, textarea { width: 100%; background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; padding: .35rem .5rem; margin-top: .15rem; color: var(--ink); }
        textarea { min-height: 9rem; font-family: ui-monospace, monospace; }
        label.check { display: flex; gap: .5rem; align-items: center; } label.check input { width: auto; margin: 0; }
        .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 .6rem; }
        button { border: 1px solid var(--line); background: var(--paper); border-radius: .4rem; padding: .3rem .65rem; cursor: pointer; }
        button:hover { border-color: var(--accent); } button:disabled { opacity: .5; cursor: default; }
        button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
        button.danger { background: var(--bad); border-color: var(--bad); color: var(--on-accent); font-weight: 600; }
        button.small { font-size: .82rem; padding: .15rem .5rem; }
        a { color: var(--accent); } a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
        button.plain { border: 0; background: none; padding: 0; color: var(--accent); text-decoration: underline; text-align: left; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .row { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
        [role=tablist] { display: flex; flex-wrap: wrap; gap: .3rem; margin-bottom: .8rem; }
        [role=tab] { border-radius: .4rem; } [role=tab][aria-selected=true] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        .search { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: .7rem; } .search input { flex: 1 1 12rem; width: auto; margin: 0; }
        table { border-collapse: collapse; width: 100%; font-size: .87rem; } th { text-align: left; color: var(--soft); font-weight: 500; }
        th, td { padding: .4rem .7rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        td:last-child { padding-right: 0; }
        code, .mono, .id { font: .83rem/1.4 ui-monospace, monospace; }
        .id, time { white-space: nowrap; }
        pre { font: .78rem/1.45 ui-monospace, monospace; background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .6rem; margin: .3rem 0 .6rem; max-height: 24rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
        .state { font-weight: 600; }
        .active, .kept, .ok, .good { color: var(--good); }
        .grace-period, .billing-retry, .warn { color: var(--warn); }
        .expired, .revoked, .refunded, .wrong, .bad { color: var(--bad); }
        .soft { color: var(--soft); } .detail { border-left: 3px solid var(--accent); padding: .2rem 0 .2rem .8rem; margin: .2rem 0 .5rem; min-width: 0; }
        .life, .access, .hours svg { width: 100%; height: auto; max-width: 46rem; display: block; margin: .3rem 0; overflow: visible; }
        svg text { fill: var(--ink); font-size: 11px; }
        .now { stroke: var(--accent); stroke-width: 2; }

        /* The simulator. */
        .store main { max-width: none; display: grid; grid-template: "buy store" auto "more store" 1fr / minmax(17rem, 22rem) minmax(0, 1fr); gap: 0 1rem; padding-bottom: 5rem; align-items: start; }
        #store { scroll-margin-top: 5rem; } #buying { grid-area: buy; } #storing { grid-area: store; } #more { grid-area: more; }
        .clock { font-variant-numeric: tabular-nums; font-weight: 600; }
        .when { white-space: pre; }
        .actions { flex-wrap: nowrap; justify-content: flex-end; gap: .3rem; }
        .actions button, .actions summary { font-size: .82rem; padding: .15rem .5rem; white-space: nowrap; }
        .menu { position: relative; }
        .menu > summary { border: 1px solid var(--line); background: var(--paper); border-radius: .4rem; cursor: pointer; list-style: none; }
        .menu > summary::-webkit-details-marker { display: none; } .menu > summary::after { content: " ▾"; }
        .menu > div { position: absolute; right: 0; top: 100%; z-index: 1; margin-top: .2rem; padding: .4rem; display: grid; gap: .3rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; box-shadow: 0 6px 24px #0003; } .menu > div button { text-align: left; }
        .empty { color: var(--soft); margin: .2rem 0; } .detail > h3 { margin: 0 0 .4rem; }
        .life .active { fill: var(--good); } .life .grace-period, .life .billing-retry { fill: var(--warn); } .life .billing-retry { opacity: .45; }
        .life .revoked { fill: var(--bad); opacity: .45; } .life .mark { fill: var(--bad); } .life .tick { fill: var(--card); }
        .beside { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1rem; }
        .beside:has(> :only-child) { grid-template-columns: minmax(0, 1fr); }
        #message { position: fixed; right: 1rem; bottom: 1rem; left: auto; max-width: min(32rem, calc(100vw - 2rem)); background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: .5rem; padding: .7rem 1rem; box-shadow: 0 6px 24px #0003; z-index: 3; display: flex; gap: .8rem; align-items: center; }
        #message.bad { border-left-color: var(--bad); color: inherit; }
        #message[hidden] { display: none; } #message > span { flex: 1; } #message button { flex: none; white-space: nowrap; }
        dialog { border: 1px solid var(--line); border-radius: .6rem; background: var(--card); color: var(--ink); width: min(24rem, calc(100vw - 2rem)); }
        dialog::backdrop { background: #0006; }

        /* The console. */
        main > h1 { font-size: 1.5rem; margin: .2rem 0 .8rem; overflow-wrap: anywhere; }
        header strong { font-size: 1.1rem; } nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; } header form { margin-left: auto; }
        .skip { position: absolute; left: -100rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; }
        .note { border-left: 4px solid var(--accent); } .note.error { border-left-color: var(--bad); }
        .table { overflow-x: auto; }
        td, dd, li, p { overflow-wrap: anywhere; }
        dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .25rem 1rem; margin: 0 0 .6rem; } dt { color: var(--soft); } dd { margin: 0; min-width: 0; }
        form.row { gap: .75rem; align-items: end; } form.row > div { flex: 1 1 12rem; } form.row label { margin: 0; }
        form.small { max-width: 24rem; } form.line { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; margin: .3rem 0; }
        .act { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; margin: .5rem 0; } .act form > div { margin: .4rem 0; max-width: 36rem; }
        summary { cursor: pointer; font-weight: 600; } .danger > summary { color: var(--bad); }
        ul.answers { padding-left: 1.1rem; margin: 0; } ul.answers li { margin: .4rem 0; }
        .access { min-width: 34rem; } .paid { fill: var(--good); } .withdrawn, rect.bad { fill: var(--bad); } .grace { fill: var(--warn); } .base, .tick { stroke: var(--line); }
        .access .axis { fill: var(--soft); } .access .middle { text-anchor: middle; } .access .end { text-anchor: end; }
        polygon { fill: var(--ink); stroke: var(--card); } polygon.refund { fill: var(--bad); } polygon.claim { fill: var(--accent); } polygon.claim.refused { fill: var(--card); stroke: var(--bad); }
        .legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .3rem 0; } .legend svg { width: .9rem; height: .9rem; }
        .hours { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: .75rem 1.5rem; } figure { margin: 0; } .hours rect { fill: var(--good); } .hours rect.bad { fill: var(--bad); }

        @media (max-width: 60rem) { .store main { grid-template: "buy" "store" "more" / minmax(0, 1fr); } }
        @media (max-width: 46rem) {
          /* The simulator's message has a place of its own below the page, so it covers nothing. */
          .store { height: 100dvh; display: flex; flex-direction: column; }
          #page { flex: 1; overflow: auto; min-height: 0; }
          #message { position: static; max-width: none; margin: .4rem .8rem .6rem; box-shadow: none; }
          header { position: static; padding: .7rem .8rem; } header form { margin-left: 0; } main { padding: .8rem .8rem 2rem; }
          .when { white-space: normal; } .actions { flex-wrap: wrap; justify-content: flex-start; }
          .menu > div { position: static; box-shadow: none; }
          .beside { grid-template-columns: minmax(0, 1fr); }
          /* The drawing is scaled down, and its text with it. */
          .life text { font-size: 20px; }
          table:has(td[data-label]), table:has(td[data-label]) :is(tbody, tr, td) { display: block; }
          table:has(td[data-label]) thead { display: none; }
          table:has(td[data-label]) tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
          table:has(td[data-label]) td { border: 0; padding: .1rem 0; }
          td[data-label]:not([data-label=""], :empty)::before { content: attr(data-label) ": "; color: var(--soft); }
          button, select, input { min-height: 2.2rem; }
        }
        @media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
        """#
}
