"""Style sheets: of reports, and of drawn outputs, which notebooks and pages share."""

OUTPUT_CSS = """
.tagging { line-height:1.2; margin:.4rem 0; overflow-wrap:anywhere; }
.token { display:inline-block; text-align:center; vertical-align:top; margin:.15rem .05rem;
  padding:.12rem .3rem .2rem; border-radius:5px; --hue:transparent;
  background:color-mix(in srgb,var(--hue) 26%,transparent); }
.token b { display:block; font-weight:500; } .token small { display:block;
  font-size:.72em; letter-spacing:.02em; opacity:.85; }
.token em { display:block; font-style:normal; color:#d1495b; }
.plain { font-size:1.15rem; font-weight:500; overflow-wrap:anywhere; }
.plain em { font-style:normal; color:#d1495b; font-size:.85em; }
.token.wrong { outline:2px solid #d1495b; outline-offset:-1px; }
.token.hue0,.graph .hue0 { --hue:#1d7fd1; } .token.hue1,.graph .hue1 { --hue:#e07b1a; }
.token.hue2,.graph .hue2 { --hue:#2a9d5c; } .token.hue3,.graph .hue3 { --hue:#c2418f; }
.token.hue4,.graph .hue4 { --hue:#8a63d2; } .token.hue5,.graph .hue5 { --hue:#b58900; }
.token.hue6,.graph .hue6 { --hue:#159fa8; } .token.hue7,.graph .hue7 { --hue:#d1495b; }
.token.hue8,.graph .hue8 { --hue:#6b8e23; } .token.hue9,.graph .hue9 { --hue:#7a6a5a; }
.token.hue10,.graph .hue10 { --hue:#3f51b5; } .token.hue11,.graph .hue11 { --hue:#00796b; }
.mention { --hue:transparent; border-radius:4px; padding:.05em .2em; line-height:1.9;
  border-bottom:2px solid var(--hue);
  background:color-mix(in srgb,var(--hue) 24%,transparent); }
.mention.hue0 { --hue:#1d7fd1; } .mention.hue1 { --hue:#e07b1a; }
.mention.hue2 { --hue:#2a9d5c; } .mention.hue3 { --hue:#c2418f; }
.mention.hue4 { --hue:#8a63d2; } .mention.hue5 { --hue:#b58900; }
.mention.hue6 { --hue:#159fa8; } .mention.hue7 { --hue:#d1495b; }
.mention.hue8 { --hue:#6b8e23; } .mention.hue9 { --hue:#7a6a5a; }
.mention.hue10 { --hue:#3f51b5; } .mention.hue11 { --hue:#00796b; }
.clusters { max-width:34rem; line-height:1.9; }
.ranked li.good > span { font-weight:600; color:#2a9d5c; }
.ranked li.good::marker { color:#2a9d5c; }
.graph { max-width:20rem; width:100%; height:auto; display:block; }
.graph circle,.graph rect { fill:var(--hue); } .graph line { stroke:#8a94a0; }
.legend .token { background:var(--hue); color:#fff; }
.graph .ring { stroke:currentColor; stroke-width:3; stroke-dasharray:4 2; }
.legend { font-size:.85rem; } .site { overflow-wrap:anywhere; }
.site mark { background:color-mix(in srgb,#e07b1a 45%,transparent); color:inherit;
  border-radius:3px; padding:0 .1em; }
.ranked { padding-left:2rem; } .ranked li > span { margin-right:.8rem; }
.ranked i,.ranked em { font-style:normal; opacity:.7; margin-right:.8rem; font-size:.9em; }
.sides { display:flex; flex-wrap:wrap; gap:1rem 1.5rem; }
.sides > div { overflow-x:auto; flex:1 1 18rem; min-width:0; }
.sides h4 { margin:.2rem 0; font-weight:500; opacity:.7; }
.drawn { overflow-x:auto; max-width:100%; }
"""

CSS = """
:root { color-scheme: light dark; --paper:#ffffff; --card:#f6f7f9; --ink:#1c2430;
  --faint:#5d6875; --line:#d8dde3; --a:#1d6fb8; --b:#b4560f; --good:#1d7a46;
  --bad:#b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper:#12161c; --card:#1b2129;
  --ink:#e6eaf0; --faint:#9aa6b4; --line:#303945; --a:#6db3f2; --b:#f0a35e;
  --good:#63c78b; --bad:#f28b82; } }
* { box-sizing:border-box; }
body { margin:0; background:var(--paper); color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif; }
main { max-width:62rem; margin:0 auto; padding:1.2rem 1rem 4rem; }
h1 { font-size:1.6rem; line-height:1.2; margin:.4rem 0; }
h2 { font-size:1.15rem; margin:2.2rem 0 .6rem; padding-top:.4rem;
  border-top:1px solid var(--line); }
h3 { font-size:1rem; margin:1.2rem 0 .4rem; }
p { margin:.4rem 0; max-width:46rem; } .faint { color:var(--faint); }
nav { font-size:.9rem; margin:.6rem 0; } nav a { margin-right:.9rem; display:inline-block; }
a { color:var(--a); } code,pre { font-family:ui-monospace,"Liberation Mono",monospace; }
code { font-size:.9em; overflow-wrap:anywhere; }
pre { background:var(--card); padding:.7rem; overflow-x:auto; font-size:.85rem;
  border-radius:6px; white-space:pre; }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));
  gap:.7rem; margin:1rem 0; }
.tile { background:var(--card); border-radius:8px; padding:.6rem .8rem; min-width:0; }
.tile b { display:block; font-size:1.2rem; font-weight:600; overflow-wrap:anywhere; }
.tile span { color:var(--faint); font-size:.85rem; }
.tile.good b { color:var(--good); } .tile.bad b { color:var(--bad); }
.pair { display:grid; grid-template-columns:repeat(auto-fit,minmax(19rem,1fr));
  gap:1rem; } .pair > div { min-width:0; max-width:34rem; }
svg.chart { width:100%; height:auto; display:block; font-size:13px; }
.grid { stroke:var(--line); fill:none; } .axis { stroke:var(--faint); fill:none; }
.tick { fill:var(--faint); font-size:12px; }
.wide { overflow-x:auto; max-width:100%; }
table { border-collapse:collapse; font-size:.9rem; }
th,td { padding:.25rem .6rem; text-align:left; vertical-align:top; }
thead th { color:var(--faint); font-weight:500; border-bottom:1px solid var(--line); }
tbody tr:nth-child(even) td { background:var(--card); }
td.t,table.heat th { white-space:nowrap; }
.n { text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap; }
table.heat { font-size:.78rem; } table.heat th { color:var(--faint); font-weight:500; }
table.heat td { padding:.18rem .3rem; min-width:2.1rem; text-align:center;
  font-variant-numeric:tabular-nums; border:1px solid var(--paper); }
table.heat td.pos { background:color-mix(in srgb,var(--a) calc(var(--v)*85%),
  var(--card)) !important; }
table.heat td.neg { background:color-mix(in srgb,var(--bad) calc(var(--v)*85%),
  var(--card)) !important; }
table.heat td.strong { color:var(--paper); }
table.heat td.diagonal.pos { background:color-mix(in srgb,var(--good)
  calc(var(--v)*75%),var(--card)) !important; }
table.heat .corner { font-weight:400; font-style:italic; white-space:nowrap; }
.bars { font-size:.85rem; max-width:36rem; }
.bar { display:grid; grid-template-columns:minmax(0,1fr) 7rem 4rem; gap:.6rem;
  align-items:center; padding:.1rem 0; }
.bar .name { overflow:hidden; text-overflow:ellipsis; white-space:nowrap; }
.bar .track { position:relative; height:.75rem; background:var(--card); }
.bar i { position:absolute; top:0; bottom:0; width:calc(var(--v)*50%); left:50%;
  background:var(--a); } .bar i.neg { left:auto; right:50%; background:var(--bad); }
details { background:var(--card); border-radius:8px; padding:.5rem .8rem; margin:.5rem 0;}
summary { cursor:pointer; overflow-wrap:anywhere; } details pre { padding:.3rem 0; }
.sentence { line-height:1.3; } .token { display:inline-block; vertical-align:top;
  margin:.1rem .3rem .1rem 0; } .token small { display:block; color:var(--faint); }
.ok { color:var(--good); } .wrong { color:var(--bad); }
.logo svg { max-width:100%; height:auto; background:#fff; border-radius:6px; }
.facts { display:grid; grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));
  gap:.5rem 1rem; max-width:52rem; } .facts > div { min-width:0; }
.raw { background:none; padding:0; font-size:.9rem; } .raw summary { color:var(--faint); }
dl { display:grid; grid-template-columns:max-content minmax(0,1fr); gap:.15rem 1rem;
  font-size:.9rem; } dt { color:var(--faint); } dd { margin:0; overflow-wrap:anywhere; }
@media (max-width:30rem) { body { font-size:15px; } .pair { grid-template-columns:1fr; }
  .bar { grid-template-columns:minmax(0,1fr) 4rem 3.2rem; } }
"""
