"""The style sheet of the page: light and dark, from a phone to a wide window."""

STYLE = """
:root { --paper: #fff; --ink: #1d1d1f; --soft: #5c5f66; --rule: #d5d7db; --alike: #0b5cad; --apart: #b4510a;
  --random: #6b7280; --box: #f1f2f4 }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e8e9eb; --soft: #a7abb3;
  --rule: #3a3d44; --alike: #6db3ff; --apart: #ff9f5a; --random: #a2a8b3; --box: #24272d } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 72rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.6rem; margin: .5rem 0 } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem }
p, figcaption { max-width: 44rem } .lead { font-size: 1.1rem; margin: .5rem 0 }
.verdict { border-left: 4px solid var(--alike); padding-left: .8rem }
footer, figcaption, caption { color: var(--soft); font-size: .9rem } footer { margin-top: 2.5rem }
figure { margin: 0 }
.query { display: flex; gap: 1rem; padding: 1rem 0; border-top: 1px solid var(--rule) }
.query > figure { flex: none }
.query ol { display: flex; flex-wrap: wrap; gap: .6rem; margin: 0; padding: 0; list-style: none }
.query figure { width: 104px } .query figcaption { margin-top: .35rem; font-size: .8rem; line-height: 1.3 }
.query img, .none { display: block; width: 104px; height: 104px; border-radius: 4px; background: var(--box) }
.query img { outline: 1px solid var(--rule) }
.none { padding: .5rem; font-size: .8rem } .query b { display: block; color: var(--ink); font-weight: 600 }
.query p { margin: .5rem 0 0; color: var(--soft); font-size: .9rem }
.name { overflow-wrap: anywhere }
.query .alike img { outline: 3px solid var(--alike) }
.query .apart img { outline: 3px dashed var(--apart) }
.query .alike b { color: var(--alike) } .query .apart b { color: var(--apart) }
@media (max-width: 40rem) { .query { flex-direction: column; gap: .6rem } }
svg { display: block; width: 100%; max-width: 36rem; height: auto }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif }
path { fill: none } .grid { stroke: var(--rule) }
.mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 2 3 }
.line { stroke-width: 2; stroke: var(--alike) }
path.apart.line { stroke: var(--apart); stroke-dasharray: 7 3 }
path.random.line { stroke: var(--random); stroke-dasharray: 2 2 }
.area { fill: var(--alike); opacity: .15 } path.apart.area { fill: var(--apart) }
path.random.area { fill: var(--random) }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; margin: .3rem 0; padding: 0; list-style: none }
.key li::before { content: ""; display: inline-block; width: 1.8rem; margin-right: .5rem;
  vertical-align: middle; border-top: 3px solid var(--alike) }
.key .apart::before { border-top: 3px dashed var(--apart) }
.key .random::before { border-top: 3px dotted var(--random) }
.curves { display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)) }
.wide { overflow-x: auto; margin: 1rem 0 } table { border-collapse: collapse; font-size: .95rem }
caption { text-align: left; padding: .3rem 0 }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; max-width: 24rem; overflow-wrap: break-word }
th { font-weight: 600 } tbody th { font-weight: 400 }
summary { cursor: pointer; padding: .5rem 0 }
:focus-visible { outline: 3px solid var(--alike); outline-offset: 2px }
"""
