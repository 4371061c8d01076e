// How an exported session looks: one narrow column, the system's own letters, light or dark as the reader's device is,
// and on paper black on white with everything unfolded that a reader opened.

export const HTML_STYLE = `
:root { color-scheme: light dark; --back: #fff; --text: #1c1e21; --quiet: #5c6370; --line: #d9dce1; --box: #f5f6f8;
  --user: #eaf2fd; --added: #e3f6e5; --removed: #fdeaea; --addedText: #1a6b2c; --removedText: #a3232a; --accent: #b5482a; }
@media (prefers-color-scheme: dark) { :root { --back: #16181c; --text: #e4e6ea; --quiet: #9aa1ad; --line: #343942;
  --box: #1f2228; --user: #1c2a3d; --added: #16331f; --removed: #3a1d20; --addedText: #8fdba2; --removedText: #f3a3a8;
  --accent: #f08a66; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; padding-bottom: .5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .25rem 0 .75rem; }
h2 { font-size: .8rem; letter-spacing: .03em; text-transform: uppercase; color: var(--quiet); margin: 0 0 .35rem; }
h2 time { float: right; font-weight: normal; text-transform: none; letter-spacing: 0; }
h3, h4, h5, h6 { font-size: 1.05rem; margin: 1rem 0 .25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; font-size: .85rem; color: var(--quiet); }
dd { margin: 0; }
section { margin: 0 0 1.25rem; }
.user { background: var(--user); border-radius: .6rem; padding: .7rem .9rem; }
.text { white-space: pre-wrap; margin: 0; }
p { margin: .5rem 0; white-space: pre-line; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .7rem; overflow-x: auto;
  font: .82rem/1.45 ui-monospace, monospace; margin: .5rem 0; max-height: 40rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
p code, li code { background: var(--box); border-radius: .25rem; padding: .05rem .25rem; }
pre code { font-size: 1em; }
pre .added, pre .removed, pre .hunk, pre .file { display: inline-block; min-width: 100%; }
.added { background: var(--added); color: var(--addedText); } .removed { background: var(--removed); color: var(--removedText); }
.hunk, .file { color: var(--quiet); }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: 0 .7rem; }
details[open] { padding-bottom: .5rem; }
summary { cursor: pointer; padding: .4rem 0; font-size: .9rem; color: var(--quiet); white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
summary b { color: var(--text); }
.failed > summary b, .error { color: var(--removedText); }
img { max-width: 100%; height: auto; border-radius: .4rem; border: 1px solid var(--line); }
blockquote { margin: .5rem 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--quiet); white-space: pre-line; }
ul, ol { padding-left: 1.5rem; margin: .5rem 0; }
a { color: var(--accent); }
.mark { border-top: 2px dashed var(--line); padding-top: .6rem; color: var(--quiet); }
footer { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: .5rem; font-size: .8rem; color: var(--quiet); }
@media print { :root { color-scheme: light; --back: #fff; --text: #000; --quiet: #444; --box: #fff; --user: #f2f2f2;
  --line: #bbb; --added: #fff; --removed: #fff; --addedText: #064; --removedText: #900; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } pre { max-height: none; white-space: pre-wrap; }
  section { break-inside: auto; } h2 { break-after: avoid; } }
`;
