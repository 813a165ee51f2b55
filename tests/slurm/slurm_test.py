#!/usr/bin/env python3
"""The job script of docs/slurm.md on a Slurm of one node, which this test starts and ends: an array of eight runs, with a
warning signal, a requeue by hand and a preemption, gives the runs of a sweep that nothing disturbed.

Needs root, munge and slurm-wlm. Environment: CHARGPT, the program.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

CHARGPT = os.environ["CHARGPT"]
PAGE = Path(__file__).parents[2] / "docs" / "slurm.md"
LIMIT = 400  # seconds for the whole array
HOST = socket.gethostname().split(".")[0]
CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge.socket
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
ReturnToService=2
SchedulerParameters=sched_interval=2,bf_interval=2
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=low Nodes={host} Default=YES PriorityTier=1 GraceTime=60
PartitionName=high Nodes={host} PriorityTier=2
"""
BASE = {
    "model": {"layers": 1, "heads": 2, "width": 32, "context": 32},
    "train": {"steps": 1500, "batch": 8, "eval_every": 500, "save_every": 100},
}
GRID = {"grid": {"model.width": [32, 64], "optimizer.learning_rate": [0.001, 0.003]}, "seeds": 2}


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def job_script():
    """The script that the page shows, with the test's own times, limits and program."""
    text = PAGE.read_text(encoding="utf-8")
    script = "\n".join(line[4:] for line in re.search(r"(?:    .*\n)+", text)[0].splitlines()) + "\n"
    return script.replace("chargpt sweep", f"{CHARGPT} sweep").replace("my.txt", "d.txt")


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(CONFIG.format(host=HOST, dir=folder, ports=free_ports(2)))
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o600)
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}

    def start(self):
        munge = [f"--{name}={self.folder / 'munge.'}{end}" for name, end in (
            ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]
        self.launch("munged", "--foreground", "--force", *munge)
        self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
        self.launch("slurmctld", "-D")
        self.launch("slurmd", "-D", "-N", HOST)
        self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False), "an idle node")

    def launch(self, program, *words):
        path = shutil.which(program, path="/usr/sbin:/usr/bin")
        if path is None:
            raise AssertionError(f"{program} is not installed: run ./dev test --all, which installs it")
        log = open(self.folder / f"{program}.out", "wb")
        self.processes.append(subprocess.Popen([path, *words], stdout=log, stderr=log, env=self.environment))

    def stop(self):
        subprocess.run(["scancel", "--user=root"], env=self.environment, check=False)
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()

    def run(self, *words, check=True):
        result = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        if check and result.returncode != 0:
            raise AssertionError(f"{words}: {result.returncode}: {result.stdout}{result.stderr}")
        return result.stdout

    def wait_for(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                logs = "".join(p.read_text(errors="replace")[-3000:] for p in sorted(self.folder.glob("*.log")))
                raise AssertionError(f"no {what} after {seconds} s; {self.run('squeue', check=False)}\n{logs}")
            time.sleep(0.2)


def losses(folder):
    """Per run, all its records but for the times."""
    runs = {}
    for path in sorted(folder.glob("*/metrics.jsonl")):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        runs[path.parent.name] = [{k: v for k, v in r.items() if k != "seconds"} for r in records]
    return runs


class Slurm(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="chargpt-slurm-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "d.txt").write_text("".join(f"the cat sat on mat {i * 37 % 101}\n" for i in range(2000)))
        (self.folder / "base.json").write_text(json.dumps(BASE))
        (self.folder / "grid.json").write_text(json.dumps(GRID))
        (self.folder / "job.sh").write_text(job_script())
        self.cluster = Cluster(self.folder)
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def run_log(self, name):
        path = self.folder / "runs" / "grid" / name / "log.txt"
        return path.read_text() if path.exists() else ""

    def begun(self, name):
        return "step " in self.run_log(name)

    def job_ids(self):
        return dict(line.split() for line in self.cluster.run("squeue", "-h", "-t", "R", "-o", "%K %A").splitlines())

    def hold(self, index):
        """Stops the processes of a run that is in progress, and returns them."""
        mine = re.compile(rb"[^\0]*chargpt\0sweep\0.*--index\x00%d\x00$" % index, re.DOTALL)
        pids = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if mine.match(self.bytes_of(path))]
        self.assertNotEqual(pids, [])
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        return pids

    @staticmethod
    def release(pids):
        for pid in pids:
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGCONT)

    @staticmethod
    def bytes_of(path):
        try:
            return path.read_bytes()
        except OSError:  # a process that has ended
            return b""

    def has_got(self, pid, number):
        """Slurm lets a stopped process go on with its signal, which then may have ended already."""
        pending = re.search(rb"ShdPnd:\s*(\w+)", self.bytes_of(Path(f"/proc/{pid}/status")))
        return pending is None or int(pending[1], 16) >> (number - 1) & 1 == 1

    def test_a_disturbed_array_gives_the_runs_of_an_undisturbed_sweep(self):
        sweep = ["sweep", "--config", "base.json", "--grid", "grid.json", "--data", "d.txt"]
        planned = json.loads(self.cluster.run(CHARGPT, *sweep, "--dry-run", "--json"))["runs"]
        self.assertEqual(len(planned), 8)
        names = [run["run"] for run in planned]
        self.cluster.run("sbatch", "job.sh")

        # Two processors: runs 0 and 1 begin. Both are held, so that neither is over before its turn comes.
        self.cluster.wait_for(lambda: self.begun(names[0]) and self.begun(names[1]), "step of the first two runs")
        first, second = self.hold(0), self.hold(1)
        # Slurm looks every half minute whose time ends: two minutes from the start is within the warning time.
        self.cluster.run("scontrol", "update", f"JobId={self.job_ids()['0']}", "TimeLimit=2")
        self.cluster.wait_for(lambda: any(self.has_got(pid, signal.SIGTERM) for pid in first), "signal of --signal", 100)
        self.release(first)
        self.cluster.wait_for(lambda: "stopped and saved" in self.run_log(names[0]), "save at the warning")

        # Run 2 takes the place, and is requeued by hand.
        self.cluster.wait_for(lambda: self.begun(names[2]), "step of the third run")
        third = self.hold(2)
        self.cluster.run("scontrol", "requeue", self.job_ids()["2"])
        self.release(third)

        # A job of higher priority takes both processors from whatever runs, run 1 at least.
        self.cluster.run("sbatch", "--partition=high", "--cpus-per-task=2", "--wrap", "sleep 1")
        self.release(second)
        self.cluster.wait_for(lambda: not self.cluster.run("squeue", "-h"), "end of the array", LIMIT)

        self.cluster.run(CHARGPT, *sweep, "--out", "straight")
        self.assertEqual(losses(self.folder / "runs" / "grid"), losses(self.folder / "straight"))
        rows = json.loads(self.cluster.run(CHARGPT, "sweep", "table", "runs/grid", "--json"))["rows"]
        self.assertEqual([row["state"] for row in rows], ["finished"] * 8)
        for run in (0, 1):
            self.assertIn("stopped and saved", self.run_log(names[run]))
        # Nobody but the preemption had run 1 begin anew.
        self.assertIn("Requeuing JobId=1_1", (self.folder / "slurmctld.log").read_text())


if __name__ == "__main__":
    unittest.main()
