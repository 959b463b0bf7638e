"""Slurm on this machine: its daemons, three nodes, and what can be done to them."""

import os
import pathlib
import pwd
import signal
import socket
import subprocess
import uuid

from trials import until

NODES = ("n1", "n2", "n3")
DAEMONS = os.environ["PATH"] + ":/usr/sbin:/sbin"


reserved = []


def free_ports(count):
    """Ports that belong to this program until its end: only servers that ask for them get them."""
    for _ in range(count):
        holder = socket.socket()
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        reserved.append(holder)
    return [holder.getsockname()[1] for holder in reserved[-count:]]


def children(process):
    """All processes below one."""
    below = {}
    for path in pathlib.Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parent = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue  # It has ended.
            below.setdefault(parent, []).append(int(path.name))
    found, rest = [], [process]
    while rest:
        more = below.get(rest.pop(), [])
        found += more
        rest += more
    return found


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Slurm:
    """munged, slurmctld, and a slurmd for each node. All their files are in a directory, and they end with the block."""

    def __init__(self, home):
        self.home = home
        home.mkdir()
        # munged insists on it.
        home.chmod(0o755)
        (home / "key").write_bytes(os.urandom(1024))
        (home / "key").chmod(0o400)
        controller, *ports = free_ports(1 + len(NODES))
        host = socket.gethostname()
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 State=UNKNOWN"
            for node, port in zip(NODES, ports))
        (home / "slurm.conf").write_text(f"""
            ClusterName=formstream
            SlurmctldHost={host}(127.0.0.1)
            SlurmctldPort={controller}
            SlurmUser={user()}
            SlurmdUser={user()}
            AuthType=auth/munge
            AuthInfo=socket={home}/munge
            CredType=cred/munge
            StateSaveLocation={home}/state
            SlurmdSpoolDir={home}/spool-%n
            SlurmctldPidFile={home}/slurmctld.pid
            SlurmdPidFile={home}/slurmd-%n.pid
            SlurmctldLogFile={home}/slurmctld.log
            SlurmdLogFile={home}/slurmd-%n.log
            ProctrackType=proctrack/pgid
            TaskPlugin=task/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_CPU
            SlurmdParameters=config_overrides
            ReturnToService=2
            JobRequeue=1
            KillWait=2
            MessageTimeout=10
            SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
            MaxArraySize=1001
            MpiDefault=none
            {nodes}
            PartitionName=all Nodes={','.join(NODES)} Default=YES State=UP
            """.replace("\n            ", "\n"))
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (home / name).mkdir()
        self.environment = {**os.environ, "PATH": DAEMONS, "SLURM_CONF": str(home / "slurm.conf")}
        self.log = open(home / "daemons.log", "wb")
        self.daemons = [self.start("munged", "--foreground", "--force", f"--key-file={home}/key",
                                   f"--socket={home}/munge", f"--pid-file={home}/munged.pid",
                                   f"--log-file={home}/munged.log", f"--seed-file={home}/seed")]
        assert until((home / "munge").exists), (home / "daemons.log").read_text()
        self.daemons.append(self.start("slurmctld", "-D"))
        self.nodes = {}
        # Processes of nodes that are lost, and go on.
        self.lost = []
        for node in NODES:
            self.start_node(node)
        assert until(lambda: self.call("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(len(NODES)), 60), \
            self.call("sinfo") + (home / "slurmctld.log").read_text()

    def start(self, *words):
        return subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def start_node(self, node):
        """Starts a node that looks like another machine: it has a boot of its own."""
        boot = self.home / f"boot-{node}"
        boot.write_text(f"{uuid.uuid4()}\n")
        script = 'mount --bind "$1" /proc/sys/kernel/random/boot_id && exec slurmd -D -N "$2"'
        self.nodes[node] = self.start("unshare", "--mount", "sh", "-c", script, "sh", str(boot), node)

    def call(self, *words, **variables):
        """Runs a program of Slurm with more variables, and returns its output, and its errors if it failed."""
        done = subprocess.run(words, env={**self.environment, **variables}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        return done.stdout if done.returncode == 0 else done.stdout + done.stderr

    def running(self):
        """The running tasks: their ids and nodes."""
        return [line.split() for line in self.call("squeue", "-h", "-r", "-t", "R", "-o", "%i %N").splitlines()
                if len(line.split()) == 2]

    def is_busy(self):
        return bool(self.call("squeue", "-h").strip())

    def lose(self, node, with_tasks):
        """Kills a node's daemon, with its tasks or without them, and starts it again."""
        daemon = self.nodes[node]
        tasks = children(daemon.pid)
        kill(daemon.pid)
        daemon.wait()
        for task in tasks:
            if with_tasks:
                kill(task)
            else:
                self.lost.append(task)
        if not with_tasks:
            # The new daemon must not find the tasks, as if the node were cut off from the network.
            spool = self.home / f"spool-{node}"
            spool.rename(self.home / f"spool-{node}-{daemon.pid}")
            spool.mkdir()
        self.call("scontrol", "update", f"nodename={node}", "state=down", "reason=lost")
        self.start_node(node)
        self.call("scontrol", "update", f"nodename={node}", "state=resume")

    def help_waiting(self):
        """Does what an administrator does: lets tasks that were requeued start at once, and takes nodes back."""
        for line in self.call("squeue", "-h", "-r", "-t", "PD", "-o", "%i %r").splitlines():
            task, reason = (line.split(None, 1) + [""])[:2]
            if reason == "BeginTime":
                self.call("scontrol", "update", f"jobid={task}", "starttime=now")
            elif "held" in reason:
                self.call("scontrol", "release", task)
        for node in self.call("sinfo", "-h", "-N", "-t", "drain,down", "-o", "%N").split():
            self.call("scontrol", "update", f"nodename={node}", "state=resume")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("scancel", "--user", user())
        until(lambda: not self.is_busy(), 30)
        for daemon in [*self.nodes.values(), *reversed(self.daemons)]:
            below = children(daemon.pid)
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
            for process in below:
                kill(process)
        for process in self.lost:
            kill(process)
        self.log.close()


def user():
    return pwd.getpwuid(os.geteuid()).pw_name
