"""A hook of mkdocs: the page "What is new" is CHANGELOG.md of the repository."""

import re
from pathlib import Path

CHANGES = Path(__file__).parents[2] / "CHANGELOG.md"


def on_page_markdown(markdown, page, **_):
    """The text of the page; links to pages start from their folder."""
    if page.file.src_uri != "whats_new.md":
        return markdown
    text = CHANGES.read_text(encoding="utf8")
    text = re.sub(r"\]\(docs/", "](", text)
    return re.sub(r"\A# .*\n", "# What is new\n", text)
