"""Reports, tables and progress.

explanation.py      Why an output, and where a weight comes from: tables of both
history.py          The history of a run as a data frame
weight_tables.py    What a model has learned, for the middle of a report
page.py             One HTML page about a trained model: nothing to fetch, light and dark
plots.py            Figures for papers, with matplotlib; as `maxmargin.plots`
progress.py         Progress of a run on standard error: a bar, or plain lines
sentences.py        Label sequences with their words: spans by type, errors marked
style.py            The style sheet of reports: light and dark, small and wide screens
confusion.py        Labels counted: confusion, and precision and recall of each class
drawing/            Pictures of trees, alignments, graphs and motifs as SVG or text
"""
