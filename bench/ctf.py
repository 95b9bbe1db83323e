"""What bench/run measures of CTF: each job by tracetta and by babeltrace2, run in turn, and the ratio of their CPU times.

Traces: the folder in TTR_BENCH_CTF (an LTTng trace), tracecompass/many-threads of TTR_CORPUS (LTTng, kernel) and, for merging, traces
that bench/streams makes.  Where the peer has no such job the nearest one that it has is measured, and the row says which.
"""
import itertools
import json
import os
import shutil
import statistics
import subprocess

STREAMS = (1, 2, 8, 32, 128, 512)


class Ctf:
    def __init__(self, bench):
        self.bench = bench
        self.arguments = bench.arguments
        self.tracetta, self.measure = bench.tracetta, bench.measure
        self.peer = shutil.which(self.arguments.babeltrace2)
        self.rows = []
        self.notes = []

    def sample(self, command, scrap, results):
        """One more run of a command; what it wrote to the folder `scrap` is counted and removed.  False when it failed."""
        if command is None:
            return True
        result = self.bench.run_once(command, keep_output=False)
        if result["rc"]:
            self.bench.skip(" ".join(command), result["err"].strip().split("\n")[0] or f"exit status {result['rc']}")
            return False
        if scrap and os.path.isdir(scrap):
            result["output_bytes"] = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(scrap) for name in names)
            shutil.rmtree(scrap)
        results.append(result)
        return True

    def job(self, name, ours, theirs=None, peer_job="", events=0, scrap=None):
        """Measures both in turn, so that what else the machine does meets both."""
        theirs = [self.peer, *theirs] if self.peer and theirs else None
        mine, others = [], []
        for _ in range(self.arguments.runs):
            if not self.sample(ours, scrap, mine):
                return
            if not self.sample(theirs, scrap, others):
                theirs, others = None, []
        self.rows.append({"name": name, "peer_job": peer_job, "events": events, "runs": self.arguments.runs, "ours": summary(mine),
                          "theirs": summary(others)})

    def info(self, trace):
        done = subprocess.run([self.tracetta, "info", "--json", trace], capture_output=True, check=True)
        return json.loads(done.stdout)

    def compare_text(self, label, trace):
        """A faster program that prints something else would prove nothing."""
        if not self.peer:
            return
        with text_of([self.tracetta, "cat", "-q", "--style=babeltrace2", "--clock-gmt", trace]) as ours, \
             text_of([self.peer, "--clock-gmt", trace]) as theirs:
            lines = differing = 0
            for mine, other in itertools.zip_longest(ours.stdout, theirs.stdout):
                lines += 1
                differing += mine != other
        self.notes.append(f"{label}: {differing} of {lines} lines of text differ." if differing else
                          f"{label}: the {lines} lines of text are the same bytes.")

    def copy(self, label, trace, events):
        formats = subprocess.run([self.tracetta, "formats"], capture_output=True, check=True, text=True).stdout
        if not any(line.startswith("ctf ") and "writes" in line.split() for line in formats.split("\n")):
            self.bench.skip(f"{label}: ctf to ctf", "this build does not write CTF")
            return
        out = self.bench.path("copy-of-ctf")
        theirs = ["--output-format=ctf", f"--output={out}", trace]
        self.job(f"{label}: ctf to ctf, copied", [self.tracetta, "convert", "-q", "--to=ctf", "--overwrite", trace, "-o", out], theirs,
                 "ctf to ctf", events, scrap=out)

    def trace(self, label, trace):
        info = self.info(trace)
        events = info["events"]
        dummy = ["-o", "dummy", trace]
        text = [self.tracetta, "cat", "-q", "--style=babeltrace2", "--clock-gmt", trace]
        self.compare_text(label, trace)
        self.job(f"{label}: framing", [self.measure, "scan", trace], dummy, "dummy (all fields)", events)
        self.job(f"{label}: every field walked", [self.measure, "fields", trace], dummy, "dummy", events)
        self.job(f"{label}: stat, names as recorded", [self.tracetta, "stat", "-q", "--raw", trace], [trace, "-c", "sink.utils.counter"], "sink.utils.counter", events)
        self.job(f"{label}: text", text, ["--clock-gmt", trace], "text", events)
        self.job(f"{label}: JSON Lines", [self.tracetta, "cat", "-q", "--format=jsonl", trace], ["--clock-gmt", trace], "text (has no JSON)",
                 events)
        start = info["end_ns"] - info["duration_ns"] // 20
        self.job(f"{label}: text of the last 5 %", [*text, f"--start={start}"],
                 ["--clock-gmt", f"--begin={start // 10**9}.{start % 10**9:09d}", trace], "text, --begin")
        self.copy(label, trace, events)

    def merge(self):
        events = self.arguments.events // 2
        for n in STREAMS:
            folder = self.bench.path(f"streams-{n}")
            subprocess.run([os.path.join(self.arguments.build, "bench", "streams"), str(events), str(n), folder], check=True)
            self.job(f"merge of {n} streams, every field walked", [self.measure, "fields", folder], ["-o", "dummy", folder], "dummy", events)
            shutil.rmtree(folder)

    def run(self, corpus):
        if not self.peer:
            self.bench.skip("ratios to babeltrace2", f"{self.arguments.babeltrace2} is not installed")
        traces = (("LTTng", os.environ.get("TTR_BENCH_CTF", ""), "TTR_BENCH_CTF names no LTTng trace"),
                  ("kernel", os.path.join(corpus, "ctf", "tracecompass", "many-threads"), "it is not in TTR_CORPUS"))
        for label, trace, why in traces:
            if os.path.isdir(trace):
                self.trace(label, trace)
            else:
                self.bench.skip(f"{label} trace", why)
        self.merge()

    def table(self):
        version = "not installed"
        if self.peer:
            version = subprocess.run([self.peer, "--version"], capture_output=True, check=True, text=True).stdout.split("\n", maxsplit=1)[0]
        yield f"CTF against babeltrace2 ({version}): CPU seconds, medians of {self.arguments.runs} runs each, in turn."
        yield ""
        yield "| what | CPU s | spread | ns/event | peak MiB | babeltrace2 | CPU s | spread | peak MiB | ratio |"
        yield "|---|---:|---:|---:|---:|---|---:|---:|---:|---:|"
        for row in self.rows:
            ours, theirs = row["ours"], row["theirs"]
            each = f"{ours['cpu_s'] * 1e9 / row['events']:.1f}" if row["events"] else ""
            line = f"| {row['name']} | {cells(ours, each + ' | ')} | "
            line += f"{row['peer_job']} | {cells(theirs, '')} | {theirs['cpu_s'] / ours['cpu_s']:.1f} |" if theirs else "not measured | | | | |"
            yield line
        yield ""
        yield from self.notes


def summary(results):
    if not results:
        return None
    cpu = sorted(result["cpu"] for result in results)
    kept = {"cpu_s": max(statistics.median(cpu), 1e-6), "cpu_min": cpu[0], "cpu_max": cpu[-1],
            "peak_kib": max(result["rss"] for result in results)}
    if "output_bytes" in results[0]:
        kept["output_bytes"] = results[0]["output_bytes"]
    return kept


def cells(part, between):
    spread = 100 * (part["cpu_max"] - part["cpu_min"]) / part["cpu_s"]
    return f"{part['cpu_s']:.3f} | {spread:.0f} % | {between}{part['peak_kib'] / 1024:.1f}"


def text_of(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=1 << 20)
