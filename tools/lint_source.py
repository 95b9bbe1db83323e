"""The C files of the tree and their functions, as the scripts tools/lint-* see them.

Each script is one subject: it defines CHECKS, functions that get a Tree and report findings.  tools/lint runs them all over
one Tree; a script that is started alone runs its own: tools/lint-NAME [ROOT [LIBRARY.a]].  Needs universal-ctags.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

C_FOLDERS = ("src", "include", "tests", "examples", "bench", "tools")
LEXEME = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


class Source:
    """One file: its text, its code without comments and strings (same length), and the functions ctags found."""

    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")
        self.comments = []
        self.strings = []
        self.code = LEXEME.sub(self.blank, self.text)
        self.code_lines = self.code.split("\n")
        self.functions = []
        self.prototypes = []
        self.is_test = path.endswith(("_test.c", "_test.h")) or not path.startswith(("src/", "include/"))

    def blank(self, match):
        lexeme = match.group()
        if lexeme.startswith("/"):
            self.comments.append((match.start(), lexeme))
        elif lexeme.startswith('"'):
            self.strings.append((match.start(), lexeme))
        return re.sub(r"[^\n]", " ", lexeme)

    def line_at(self, position):
        return self.text.count("\n", 0, position) + 1

    def code_of(self, function):
        return "\n".join(self.code_lines[function["line"] - 1:function["end"]])


class Tree:
    """All files below ROOT, and the findings so far: (path, line, rule, text)."""

    def __init__(self, root, library):
        self.root = root
        self.library = library
        self.findings = []
        self.paths = sorted(self.walk())
        self.sources = {path: Source(root, path) for path in self.paths
                        if path.endswith((".c", ".h")) and path.startswith(C_FOLDERS)}
        self.find_functions()

    def walk(self):
        for folder, folders, files in os.walk(self.root):
            at_root = os.path.samefile(folder, self.root)
            folders[:] = [name for name in folders if not name.startswith(".git") and name != "__pycache__"
                          and not (at_root and name.startswith(("build", "dist", "demo-out", "node_modules", ".cache")))]
            for name in files:
                path = os.path.join(folder, name)
                if not os.path.islink(path) and name != ".git":
                    yield os.path.relpath(path, self.root)

    def find_functions(self):
        command = ["ctags", "--output-format=json", "--languages=C", "--langmap=C:.c.h", "--kinds-C=fp",
                   "--fields=+neSs", "-I", "TTR_MUST,TTR_API,TTR_PRINTF+", "-f", "-", "-L", "-"]
        tags = subprocess.run(command, input="\n".join(self.sources), capture_output=True, text=True, check=True,
                              cwd=self.root).stdout
        for tag in map(json.loads, tags.splitlines()):
            source = self.sources[tag["path"]]
            (source.functions if tag["kind"] == "function" else source.prototypes).append(tag)

    def report(self, path, line, rule, text):
        self.findings.append((path, line, rule, text))

    def report_matches(self, source, pattern, rule, text):
        for match in pattern.finditer(source.code):
            self.report(source.path, source.line_at(match.start()), rule, text.format(match.group().strip(" (")))

    def read_list(self, path):
        """The lines of a list of exceptions, without comments: [(line number, text)]; none if there is no such file."""
        path = os.path.join(self.root, path)
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [(number, line.strip()) for number, line in enumerate(file, 1) if line.strip() and not line.startswith("#")]

    def print_findings(self):
        """Prints all findings and their number.  Returns the exit status: 1 if there is any."""
        for path, line, rule, text in sorted(self.findings):
            print(f"{path}:{line}: {rule}: {text}")
        print(f"{len(self.findings)} findings in {len(self.sources)} C files")
        return 1 if self.findings else 0


def open_tree():
    """The tree that the command line names: [ROOT [LIBRARY.a]]."""
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return Tree(root, sys.argv[2] if len(sys.argv) > 2 else os.path.join(root, "build/libtracetta.a"))


def main(checks):
    """Runs the checks of one script.  Returns the exit status."""
    tree = open_tree()
    for check in checks:
        check(tree)
    return tree.print_findings()
