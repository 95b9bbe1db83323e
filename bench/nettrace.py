"""What bench/run measures of nettrace: headers, stacks and fields alone, and whole commands; TraceEvent's time beside them where there is one.

The trace is TTR_BENCH_NETTRACE, else the recorded load100.nettrace of TTR_CORPUS (100 MB, 1,432,828 events), unpacked.  TTR_BENCH_TRACEEVENT names a
program that reads a trace with TraceEvent: PROGRAM scan|stacks|fields FILE, which starts traceevent.cs, compiled.
"""
import lzma
import os
import shutil

# What is measured of the library, how the peer's program calls that, and the mode of bench/measure.
PATHS = (("headers and order", "scan", "scan"), ("stacks", "stacks", "kstacks"), ("every field", "fields", "fields"))


class NetTrace:
    def __init__(self, bench):
        self.bench = bench

    def trace(self, corpus):
        """The trace to read, and the same packed (None where there is none)."""
        path = os.environ.get("TTR_BENCH_NETTRACE", "")
        if path:
            return path, None
        packed, path = os.path.join(corpus, "nettrace", "recorded", "load100.nettrace.xz"), self.bench.path("load100.nettrace")
        if not os.path.exists(packed):
            self.bench.skip("nettrace", f"{packed} is missing; TTR_BENCH_NETTRACE names another trace")
            return None, None
        with lzma.open(packed) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)
        return path, packed

    def peer(self, path, size):
        program = os.environ.get("TTR_BENCH_TRACEEVENT", "")
        if not program:
            self.bench.skip("TraceEvent", "TTR_BENCH_TRACEEVENT names no program that reads with it")
            return
        for name, mode, _ in PATHS:
            self.bench.row(f"TraceEvent: {name}", [program, mode, path], size)

    def run(self, corpus):
        path, packed = self.trace(corpus)
        if not path:
            return
        size, tracetta = os.path.getsize(path), self.bench.tracetta
        for name, _, mode in PATHS:
            self.bench.row(f"nettrace: {name}", [self.bench.measure, mode, path], size)
        self.bench.row("nettrace: check", [tracetta, "check", "-q", path], size)
        self.bench.row("nettrace: stat", [tracetta, "stat", "-q", path], size)
        self.bench.row("nettrace: report topn", [tracetta, "report", "topn", "-q", path], size)
        flame = self.bench.path("flame.speedscope.json")
        self.bench.row("nettrace: flame to speedscope", [tracetta, "flame", "-q", path, "-o", flame, "--overwrite"], size, output=flame)
        self.bench.row("nettrace: JSON Lines", [tracetta, "cat", "-q", "--format=jsonl", path], size)
        if packed:
            self.bench.row("nettrace in xz: check", [tracetta, "check", "-q", packed], os.path.getsize(packed))
        self.peer(path, size)
