"""A model behind a local web page and a JSON API: `maxmargin serve MODEL`.

inputs.py    What a request may contain: text or JSON, for each kind of model
answers.py   What is asked of the model, and its answers as JSON and as pictures
batching.py  Waiting requests are put to the model together
app.py       The routes, their limits and their errors
schema.py    The API described as OpenAPI
server.py    Listening on an address, and stopping without losing requests
page/        The page itself: HTML, style sheet and script
"""
