/** The page's one style sheet: light and dark as the reader's system is, one column where the window is narrow. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: #8883; --soft: #8881; --dim: light-dark(#555, #aaa);
  --accent: light-dark(#0550ae, #79b8ff); --get: light-dark(#0a6640, #56d39b); --post: light-dark(#0550ae, #79b8ff);
  --put: light-dark(#8a4b00, #f0b060); --patch: light-dark(#6a3fb5, #c8a6ff); --delete: light-dark(#b3261e, #ff8a80); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { font: 15px/1.55 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre { font: 0.875em/1.5 ui-monospace, "Liberation Mono", monospace; }
p code, li code, td code { background: var(--soft); border-radius: 3px; padding: .05em .3em; overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; margin: .4rem 0;
  overflow: auto; max-height: 26rem; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.2rem 1rem 3rem; border-right: 1px solid var(--line);
  font-size: 13px; }
nav ul { list-style: none; margin: .2rem 0 .9rem; padding: 0; } nav li { padding: .1rem 0; }
nav li a { display: flex; gap: .5rem; color: inherit; } nav .tag { font-weight: 650; color: inherit; }
nav .method { flex: 0 0 3.4rem; text-align: right; font-size: 11px; line-height: 20px; }
main { max-width: 64rem; padding: 1.5rem 2.5rem 8rem; }
h1 { margin: 0; } h1 small { font-size: .5em; font-weight: 400; color: var(--dim); }
h2 { margin: 3.5rem 0 .3rem; padding-bottom: .3rem; border-bottom: 2px solid var(--line); }
h3 { margin: 0; font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere; }
h4 { margin: 1.2rem 0 .2rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .05em; color: var(--dim); }
section { margin: 1.6rem 0; padding: 1rem 1.2rem 1.2rem; border: 1px solid var(--line); border-radius: 8px; }
section:target { border-color: var(--accent); }
h3 + p { margin: .3rem 0; font-size: 1.05rem; } p { margin: .5rem 0; } ul { margin: .3rem 0; padding-left: 1.3rem; }
.method { font: 700 .85em ui-monospace, monospace; text-transform: uppercase; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); }
.delete { color: var(--delete); }
.badge { display: inline-block; border: 1px solid var(--line); border-radius: 99px; padding: 0 .7rem; font-size: .85rem; }
.old { color: var(--delete); border-color: currentColor; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .3rem 0; font-size: .93em; }
th { font-weight: 600; color: var(--dim); font-size: .85em; }
th, td { border-bottom: 1px solid var(--line); text-align: left; padding: .35rem .8rem .35rem 0; vertical-align: top; }
td:first-child { width: 28%; overflow-wrap: anywhere; } td:nth-child(2) { width: 22%; } td p { margin: 0; }
.in { display: inline-block; border-left: 2px solid var(--line); padding-left: .7rem; margin-left: .2rem; }
.limits { color: var(--dim); font-size: .9em; } .required { color: var(--delete); font-weight: 700; }
details { border-bottom: 1px solid var(--line); padding: .3rem 0; } details > :not(summary) { margin-left: 1.1rem; }
summary { cursor: pointer; } .status { font: 700 .95em ui-monospace, monospace; margin-right: .5rem; }
@media (max-width: 60rem) {
  body { display: block; } nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); padding: 1rem; }
  nav ul { display: none; } nav .tag { display: inline-block; margin: 0 .9rem .3rem 0; }
  main { padding: 1rem 1rem 5rem; } section { padding: .8rem .8rem 1rem; }
  table, tbody, tr, td { display: block; } tr { border-bottom: 1px solid var(--line); padding: .4rem 0; } th { display: none; }
  td, td:first-child, td:nth-child(2) { width: auto; border: 0; padding: .05rem 0; }
}
@media print { nav { display: none; } body { display: block; } pre { max-height: none; } }
`;
