"""Reports, tables and progress.

explanation.py  Why an output, and where a weight comes from: tables to read or to work
history.py      The history of a run as a data frame
learned.py      What a model has learned, as far as it can be shown: the middle of a
page.py         One HTML page about a trained model: nothing to fetch, light and dark
plots.py        Figures for papers, with matplotlib; as `maxmargin.plots`
progress.py     Progress of a run on standard error: a bar on a terminal, plain lines
style.py        The style sheet of reports: light and dark, from a phone to a wide
tally.py        Labels counted: confusion, and precision and recall of each class
drawing/        Pictures of trees, alignments, graphs and motifs as SVG or text
"""
