"""The commands, one file each, or one for those that use a model file.

train.py           `maxmargin train`: from a data file to a model file
choose_penalty.py  `--C auto`: C by cross-validation
warmup.py          `maxmargin warmup`: compile loops ahead
model_commands.py  `predict`, `evaluate`, `report` and `describe`
serve.py           `maxmargin serve`: a local page and a JSON API
new_structure.py   `maxmargin new`: the skeleton of a structure of one's own
convert.py         `maxmargin convert`: sequences from one format to another
demo.py            `maxmargin demo`: postcodes, read digit by digit and as sequences
completion.py      `maxmargin completion`: scripts for bash, zsh and fish
"""
