"""The command line.

completion.py      Shell completion scripts, made from the parser itself
convert.py         `maxmargin convert`: sequences from one format to another
demo.py            `maxmargin demo`: structure beats independent digits, with a
detect.py          Which task and format a file is, from its first lines
errors.py          Exit codes, and errors that end a command with one
flags.py           From flags to an estimator: ours, and those people know from
main.py            The command line: `maxmargin train`, `predict`, `evaluate`, .. and
model_commands.py  `predict`, `evaluate`, `report` and `describe`: what is done with a
names.py           Names that help and completion show: tasks and formats, without
parser.py          The commands and their flags
streams.py         Files as people name them: paths, gzip, "-" for standard input and
tasks.py           What the commands know about each task: readers, writers, measures
train.py           `maxmargin train`: from a data file to a model file
warmup.py          `maxmargin warmup`: compile loops ahead
"""
