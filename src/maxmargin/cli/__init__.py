"""The command line: `maxmargin train`, `predict`, `evaluate`, ..

main.py     Runs a command; errors become a message and an exit code
parser.py   The commands and their flags
field_flags.py  Flags of single fields: taxonomies, tracks, E-values, motifs
flags.py    From flags to parameters of an estimator, flags of svm_struct included
streams.py  File names as people give them: gzip, "-" for standard input and output
terminal.py  Help, tables and lines that fit the window
errors.py   Exit codes, and errors that end a command with one
commands/   What each command does
tasks/      What the commands know about each task: readers, writers, measures
"""
