"""A cluster of processes on loopback: a master and workers, at ports that are free."""
import glob
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pyspark
import pytest
from pyspark.sql import SparkSession

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # compiling takes longer than these tests
HOME = str(pathlib.Path(pyspark.__file__).parent)


class Cluster:
    """A master and its workers, which each have a process group of their own."""

    def __init__(self, folder):
        self.folder, self.workers, self.env = folder, [], {
            **os.environ, "JAVA_TOOL_OPTIONS": QUICK, "SPARK_HOME": HOME, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost", "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false", "SPARK_NO_DAEMONIZE": "1", "PYTHONPATH": ""}  # workers have no mercer_spark
        self.master = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self._said("master", self.master, r"Starting Spark master at (spark://\S+)")

    def _start(self, name, what, *words):
        with open(self.folder / f"{name}.log", "w") as log:
            return subprocess.Popen([f"{HOME}/bin/spark-class", f"org.apache.spark.deploy.{what}", *words], stdout=log, stderr=log, env=self.env,
                                    cwd=self.folder, start_new_session=True)

    def _said(self, name, process, pattern):
        while True:
            text = (self.folder / f"{name}.log").read_text()
            if found := re.search(pattern, text):
                return found[1]
            assert process.poll() is None, text
            time.sleep(.05)

    def add(self, cores, memory="1g"):
        """Starts a worker."""
        name = f"worker-{len(self.workers)}"
        self.workers.append(self._start(name, "worker.Worker", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "-c", str(cores), "-m", memory,
                                        "-d", str(self.folder / name), self.url))
        self._said(name, self.workers[-1], r"(Successfully registered) with master")

    def kill(self, i):
        """Kills a worker by SIGKILL, and everything that it has started."""
        os.killpg(self.workers[i].pid, signal.SIGKILL)
        self.workers[i].wait()

    def stop(self):
        for p in [*self.workers, self.master]:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()

    def session(self, **settings):
        """A driver."""
        b = SparkSession.builder.master(self.url).appName("test")
        settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false", "spark.executor.memory": "512m",
                    "spark.executor.cores": "1", "spark.mercer.folder": str(self.folder), "spark.sql.shuffle.partitions": "2",
                    "spark.ui.showConsoleProgress": "false", "spark.sql.session.timeZone": "Europe/Berlin", **settings}
        for k, v in settings.items():
            b = b.config(k, v)
        return b.getOrCreate()


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="more workers, kills, learners and a cross-validation")


@pytest.fixture
def long(request):
    if not request.config.getoption("--long"):
        pytest.skip("needs --long")


@pytest.fixture(scope="session")
def store():
    """The address of an object store, which the environment of all processes names."""
    p = subprocess.Popen([os.environ["MERCER_OBJECTS"]], stdout=subprocess.PIPE, text=True)
    address = p.stdout.readline().strip()
    os.environ.update(AWS_ENDPOINT_URL=address, AWS_REGION="us-east-1", AWS_ACCESS_KEY_ID="someone", AWS_SECRET_ACCESS_KEY="secret")
    yield address
    p.kill()
    p.wait()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory, store):
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", JAVA_TOOL_OPTIONS=QUICK)
    c = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        c.add(1)
        c.add(1)
        yield c
    finally:
        if spark := SparkSession.getActiveSession():
            spark.stop()
        c.stop()


@pytest.fixture(scope="session")
def spark(cluster, request):
    long = request.config.getoption("--long")  # then the driver for PostgreSQL is fetched
    return cluster.session(**({"spark.jars.packages": "org.postgresql:postgresql:42.7.4"} if long else {}))


@pytest.fixture
def postgres(long):
    """The address of a server of PostgreSQL, which refuses to run as root."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    folder = tempfile.mkdtemp(prefix="mercer-postgres-")
    kind = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        kind.update(user="postgres", group="postgres")
    subprocess.run([f"{programs}/initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "owner", "-N"], check=True, **kind)
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = str(s.getsockname()[1])
        server = subprocess.Popen([f"{programs}/postgres", "-D", f"{folder}/data", "-h", "127.0.0.1", "-p", port, "-k", folder, "-F"], **kind)
        while server.poll() is None and subprocess.run([f"{programs}/pg_isready", "-q", "-h", "127.0.0.1", "-p", port]).returncode:
            time.sleep(.05)
        if server.poll() is None:  # or else the port was taken in between
            break
    yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=owner"
    server.kill()
    server.wait()
    shutil.rmtree(folder)
