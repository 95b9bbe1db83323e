"""Types into a shell of query on a terminal of its own, and checks what it prints.

usage: shell_drive.py TRACETTA TRACE.  Prints a line "ok NAME" or "not ok NAME: OUTPUT" for each case.
"""
import os
import pty
import select
import signal
import sys
import time

MORE = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;\n"


class Shell:
    def __init__(self, tracetta, trace):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="xterm", COLUMNS="100")
            os.execv(tracetta, [tracetta, "query", "-i", trace])
        self.text = ""

    def type(self, text):
        self.text = ""
        os.write(self.terminal, text.encode())

    def wait_for(self, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.text and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    break
        return text in self.text


def report(name, is_fine, text):
    print(f"ok {name}" if is_fine else f"not ok {name}: {text!r}")


def main():
    shell = Shell(sys.argv[1], sys.argv[2])
    report("prompt_is_shown", shell.wait_for("tracetta> "), shell.text)
    shell.type("SELECT 40 +\n")
    report("statement_goes_on_in_the_next_line", shell.wait_for("...> "), shell.text)
    shell.type("2 AS answer;\n")
    report("answer_is_printed", shell.wait_for("42") and shell.wait_for("tracetta> "), shell.text)
    if "libedit" in open(f"/proc/{shell.process}/maps").read():
        shell.type("SELECT media\t32 + depth * 0) AS completed FROM slice WHERE thread_na\t IS NOT NULL;\n")
        report("words_are_completed", shell.wait_for("completed\r\n") and shell.wait_for("32") and shell.wait_for("tracetta> "),
               shell.text)
    else:
        print("ok words_are_completed # SKIP no libedit")
    shell.type(MORE)
    time.sleep(1)
    os.kill(shell.process, signal.SIGINT)
    report("interrupt_ends_the_statement", shell.wait_for("was interrupted") and shell.wait_for("tracetta> "), shell.text)
    shell.type("SELECT 'half")
    shell.wait_for("half")
    time.sleep(0.5)  # Ctrl-C comes while the shell waits for a key
    shell.type("\x03")
    shell.wait_for("tracetta> ", 5)
    shell.type("SELECT 17 AS later;\n")
    report("interrupt_drops_the_line", shell.wait_for("later\r\n") and shell.wait_for("tracetta> "), shell.text)
    shell.type(".quit\n")
    _, status = os.waitpid(shell.process, 0)
    report("quit_ends_the_shell", status == 0, str(status))


main()
