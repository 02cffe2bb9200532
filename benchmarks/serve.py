"""Load on `maxmargin serve`: requests per second and latency, nothing lost, memory steady.

    python -m benchmarks.serve                    # 1, 8 and 64 connections
    python -m benchmarks.serve --requests 0 --steady 100000    # memory over so many

`--keep` writes the figures to `benchmarks/results/serve.json`.

A tagger is trained on made-up sentences, saved, and served by the command line on
127.0.0.1; clients keep their connections and send one sentence of 12 words at a time.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "serve.json"
SENTENCES = 60
NAMES = "Ana Eva Juan Mary Otto Lima Cusco Puno Paris Bonn".split()  # noqa: SIM905
WORDS = "lives works in for the bank of and near pays sees with a new old".split()  # noqa: SIM905


def train(folder):
    """A model file."""
    rng = random.Random(0)
    path = f"{folder}/train.conll"
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(SENTENCES):
            for word in sentence(rng).split():
                at = NAMES.index(word) if word in NAMES else None
                tag = "O" if at is None else "B-PER" if at < 5 else "B-LOC"
                file.write(f"{word} {tag}\n")
            file.write("\n")
    model = f"{folder}/ner.mm"
    run = [sys.executable, "-m", "maxmargin", "train", path, model, "--quiet"]
    subprocess.run(run, check=True)
    return model


def sentence(rng):
    return " ".join(rng.choice(NAMES + WORDS) for _ in range(12))


async def client(port, requests, times, lost):
    """Send requests one after the other over one connection."""
    rng = random.Random(requests)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(requests):
        words = sentence(rng)
        body = json.dumps({"inputs": [words]}).encode()
        head = (
            "POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        begin = time.perf_counter()
        writer.write(head.encode() + body)
        told = await reader.readuntil(b"\r\n\r\n")
        size = int(re.search(rb"content-length: (\d+)", told.lower()).group(1))
        answer = json.loads(await reader.readexactly(size))
        times.append(time.perf_counter() - begin)
        right = told.startswith(b"HTTP/1.1 200") and len(answer["outputs"][0]) == 12
        lost.append(not right)
    writer.close()


async def load(port, connections, total):
    times, lost = [], []
    each = total // connections
    begin = time.perf_counter()
    await asyncio.gather(*(client(port, each, times, lost) for _ in range(connections)))
    seconds = time.perf_counter() - begin
    ms = 1000 * np.array(times)
    return {
        "connections": connections, "requests": len(times), "lost": sum(lost),
        "per_second": len(times) / seconds, "median_ms": float(np.median(ms)),
        "p99_ms": float(np.quantile(ms, 0.99)),
    }  # fmt: skip


def cpu(pid):
    """CPU seconds of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Resident memory of a process in MB."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=3000, help="per row; 0: none")
    parser.add_argument("--steady", type=int, default=0, help="requests for memory")
    parser.add_argument("--keep", action="store_true", help=f"write {RESULTS.name}")
    args = parser.parse_args()
    told = {"cores": os.cpu_count(), "load before": round(os.getloadavg()[0], 1)}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = train(folder)
        command = [sys.executable, "-m", "maxmargin", "serve", model, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        port = int(re.search(r":(\d+)/", server.stdout.readline()).group(1))
        try:
            asyncio.run(load(port, 8, 200))  # warm
            for connections in (1, 8, 64) if args.requests else ():
                begin = cpu(server.pid)
                row = asyncio.run(load(port, connections, args.requests))
                spent = cpu(server.pid) - begin
                row["server_cpu_ms_per_request"] = 1000 * spent / row["requests"]
                row = {k: round(v, 2) for k, v in row.items()}
                rows.append(row)
                print(json.dumps(row), flush=True)
            if args.steady:
                found = steady(server.pid, port, args.steady)
        finally:
            server.terminate()
            print(f"server ended with {server.wait(30)}")
    if args.keep:
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        kept |= {"load": told | {"rows": rows}} if rows else {}
        kept |= {"steady": told | found} if args.steady else {}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf8")


def steady(pid, port, total):
    """Memory of the server after each fifth of many requests over 64 connections."""
    found = {
        "requests": 0,
        "lost": 0,
        "MB before": round(memory(pid), 1),
        "MB after": [],
    }
    for _ in range(5):
        row = asyncio.run(load(port, 64, total // 5))
        found["requests"] += row["requests"]
        found["lost"] += row["lost"]
        found["MB after"].append(round(memory(pid), 1))
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    main()
