"use strict";
// Formulas are set by KaTeX, which comes with the site.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".arithmatex").forEach((node) => {
    const text = node.textContent.trim();
    const block = text.startsWith("\\[");
    katex.render(text.slice(2, -2), node, { displayMode: block, throwOnError: false });
  });
});
