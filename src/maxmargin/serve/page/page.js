"use strict";
// Answers come from the same server. Names and labels are set as text; only drawings,
// which the server has escaped, are set as HTML.
const at = (id) => document.getElementById(id);
const made = (tag, text, kind) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
};
const number = (v) => (v === null || v === undefined ? "" : Number(v).toPrecision(3));

function shown(output) {
  if (output === null) return "(none)";
  if (output.text !== undefined) return output.text;
  if (!Array.isArray(output)) return String(output);
  if (!output.length) return "(none)";
  if (Array.isArray(output[0]) && output[0][0] && output[0][0].text !== undefined)
    return output.map((entity) => entity.map(shown).join(" = ")).join("; ");
  if (typeof output[0] === "string" && output.slice(1).some(Array.isArray))
    return "(" + output.map((v) => (Array.isArray(v) ? shown(v) : v)).join(" ") + ")";
  return output.map((v) => (Array.isArray(v) ? "[" + shown(v) + "]" : String(v))).join(" ");
}

const isSpans = (why) => why.words && why.nbest.some((one) => one.output.some(Array.isArray));

// Runners-up of a tagging: which words would have another label; of spans: all of them.
function others(one, why) {
  if (isSpans(why))
    return one.output.map(([first, end, label]) =>
      why.words.slice(first, end).join(" ") + ": " + label).join(", ") || "(no span)";
  if (!why.words || one.output.length !== why.output.length) return shown(one.output);
  const changed = [];
  one.output.forEach((label, t) => {
    if (label !== why.output[t]) changed.push(why.words[t] + ": " + label);
  });
  return changed.join(", ");
}

function bar(term, most) {
  const row = made("div", undefined, "bar");
  const name = made("span", term.feature, "name");
  name.title = term.feature;
  const track = made("span", undefined, "track");
  const fill = made("i", undefined, term.adds < 0 ? "neg" : "");
  fill.style.width = (50 * Math.abs(term.adds)) / most + "%";
  track.append(fill);
  row.append(name, track, made("span", number(term.adds), "n"));
  return row;
}

function part(one, open, word) {
  const box = made("details");
  box.open = open;
  const name = word === undefined ? one.name : word + ": " + one.label;
  let title = name + "  " + number(one.score);
  if (one.margin !== null && one.rival !== null)
    title += "  (" + number(one.margin) + " ahead of " + one.rival + ")";
  box.append(made("summary", title));
  const most = Math.max(...one.terms.map((t) => Math.abs(t.adds)), 1e-12);
  one.terms.forEach((t) => box.append(bar(t, most)));
  if (!one.terms.length) box.append(made("p", "no features", "faint"));
  return box;
}

function show(why, text) {
  at("drawn").innerHTML = why.html;
  at("sure").textContent = why.margin === null ? "" :
    "Score " + number(why.score) + ", which is " + number(why.margin) +
    " more than the best other answer.";
  const rest = why.nbest.slice(1);
  at("what").textContent = why.words && !isSpans(why) ? "what would differ" : "output";
  at("best").replaceChildren(...rest.map((one) => {
    const row = made("tr");
    const cell = made("td", one.html === undefined ? others(one, why) : undefined);
    if (one.html !== undefined) cell.innerHTML = one.html;
    row.append(made("td", number(one.score), "n"), cell);
    return row;
  }));
  at("others").hidden = !rest.length;
  // Open the least certain part: it is the one worth reading.
  const margins = why.parts.map((p) => (p.margin === null ? Infinity : p.margin));
  const least = margins.indexOf(Math.min(...margins));
  const word = (p, k) => (why.words && p.label !== null ? why.words[k] : undefined);
  at("parts").replaceChildren(
    ...why.parts.map((p, k) => part(p, k === least, word(p, k))));
  if (why.parts_left_out)
    at("parts").append(made("p", why.parts_left_out + " more parts are not shown.", "faint"));
  at("reasons").hidden = !why.parts.length;
  const body = JSON.stringify({ inputs: [text] }).replaceAll("'", "'\\''");
  at("curl").textContent = "curl " + location.origin +
    "/predict -H 'Content-Type: application/json' -d '" + body + "'";
  at("answer").hidden = false;
}

async function ask(event) {
  if (event) event.preventDefault();
  const button = document.querySelector("button"), text = at("text").value;
  button.disabled = true;
  at("state").textContent = "thinking …";
  at("error").hidden = true;
  try {
    const reply = await fetch("explain", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ inputs: [text], html: true }),
    });
    const told = await reply.json();
    if (!reply.ok) throw new Error(told.error);
    show(told.explanations[0], text);
  } catch (error) {
    at("error").textContent = error.message;
    at("error").hidden = false;
    at("answer").hidden = true;
  } finally {
    button.disabled = false;
    at("state").textContent = "";
  }
}

at("ask").addEventListener("submit", ask);
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(event);
});
if (at("text").value.trim()) ask();
