"""What the command line knows about each task.

table.py     The tasks: estimator, readers, writer and measures of each
names.py     Names of tasks and formats, for help and completion, which import nothing
detect.py    Which task and format a file has, from its first lines
data.py      What a data file holds, and what reading it depends on
readers.py   From data files to inputs and outputs
text_readers.py  The same for words and labels: CoNLL columns, CoNLL-U, schemes of spans
writers.py   Predictions as lines of text
sureness.py  The same with probabilities
measures.py  What `maxmargin evaluate` prints
"""
