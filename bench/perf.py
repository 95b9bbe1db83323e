"""What bench/run measures of perf.data: each job by tracetta, perf and perf-decode, run in turn, and the ratios of their CPU times.

Files: EventHeader events that bench/eventheader writes (700,000 of five shapes); and tracepoints of the kernel, TTR_BENCH_PERF, else recorded
here for a few seconds where the kernel lets us (sched:sched_switch and all system calls).
"""
import json
import os
import shutil
import subprocess

from ctf import cells, summary

EVENTS = 700000
SECONDS = 6


class Perf:
    def __init__(self, bench):
        self.bench = bench
        self.tracetta, self.measure = bench.tracetta, bench.measure
        self.perf = shutil.which("perf")
        self.decode = shutil.which(bench.arguments.perf_decode)
        self.rows = []

    def job(self, name, size, events, **commands):
        """Measures all in turn, so that what else the machine does meets all."""
        results = {who: [] for who, command in commands.items() if command}
        for _ in range(self.bench.arguments.runs):
            for who in list(results):
                result = self.bench.run_once(commands[who], keep_output=False)
                if result["rc"] and not (who == "decode" and result["cpu"] > 0):
                    self.bench.skip(f"{name} by {commands[who][0]}", result["err"].strip().split("\n")[0] or f"exit status {result['rc']}")
                    del results[who]
                    continue
                results[who].append(result)
        if results.get("ours"):
            self.rows.append({"name": name, "bytes": size, "events": events} | {who: summary(of) for who, of in results.items()})

    def all_jobs(self, label, path):
        size = os.path.getsize(path)
        info = json.loads(subprocess.run([self.tracetta, "info", "--json", path], capture_output=True, check=True).stdout)
        events = info["events"]
        perf = [self.perf] if self.perf else None
        script = perf and [*perf, "script", "-f", "-i", path]
        decode = self.decode and [self.decode, path]
        cat = [self.tracetta, "cat", "-q", path]
        self.job(f"{label}: info", size, events, ours=[self.tracetta, "info", "-q", path],
                 perf=perf and [*perf, "report", "-f", "--stats", "-i", path])
        self.job(f"{label}: scan", size, events, ours=[self.measure, "scan", path])
        self.job(f"{label}: every field", size, events, ours=[self.measure, "fields", path])
        self.job(f"{label}: JSON Lines", size, events, ours=[*cat, "--format=jsonl"], perf=script, decode=decode)
        self.job(f"{label}: JSON as perf-decode", size, events, ours=[*cat, "--style=microsoft"], decode=decode)
        self.job(f"{label}: text as perf script", size, events, ours=[*cat, "--style=perf"], perf=script)

    def kernel(self):
        path = os.environ.get("TTR_BENCH_PERF", "")
        if path:
            return path
        path = self.bench.path("kernel.data")
        done = subprocess.run([self.tracetta, "record", "perf", "-e", "sched:sched_switch,syscalls:*", "-o", path, "--", "sh", "-c",
                               f"timeout {SECONDS} sh -c 'while :; do cat /proc/stat; done' > /dev/null; true"],
                              capture_output=True, check=False, text=True)
        if done.returncode or not os.path.exists(path):
            self.bench.skip("tracepoints of the kernel", done.stderr.strip().split("\n")[0])
            return None
        return path

    def run(self):
        if not self.perf:
            self.bench.skip("ratios to perf", "perf is not installed")
        if not self.decode:
            self.bench.skip("ratios to perf-decode", f"{self.bench.arguments.perf_decode} is not installed")
        path = self.bench.path("eventheader.data")
        subprocess.run([os.path.join(self.bench.arguments.build, "bench", "eventheader"), str(EVENTS), path], check=True)
        self.all_jobs("EventHeader", path)
        path = self.kernel()
        if path:
            self.all_jobs("kernel", path)

    def table(self):
        yield f"perf.data against perf script (report --stats for info) and perf-decode: CPU seconds, medians of {self.bench.arguments.runs} runs each, in turn."
        yield ""
        yield "| what | CPU s | spread | M events/s | MB/s | peak MiB | perf CPU s | spread | peak MiB | ratio | perf-decode CPU s | spread | peak MiB | ratio |"
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        for row in self.rows:
            ours = row["ours"]
            between = f"{row['events'] / ours['cpu_s'] / 1e6:.2f} | {row['bytes'] / ours['cpu_s'] / 1e6:.0f} | "
            line = f"| {row['name']} | {cells(ours, between)} | "
            for who in ("perf", "decode"):
                peer = row.get(who)
                line += f"{cells(peer, '')} | {peer['cpu_s'] / ours['cpu_s']:.1f} | " if peer else " | | | | "
            yield line.rstrip()
