"""Installs what the runs need into `.cache`, once per version, and says where it is.

`TAILRACE_CLIENTS_CACHE` moves the cache, so that several checkouts can share one.
"""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = pathlib.Path(os.environ.get("TAILRACE_CLIENTS_CACHE", HERE / ".cache")).resolve()


_PYTHON = "{}.{}".format(*sys.version_info)
_PIP = [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-script-location"]
_PIP += ["--root-user-action=ignore", "--disable-pip-version-check"]


class InstallFailed(SystemExit):
    """Ends the program with the installer's own words, unless it is caught."""


def python_package(*requirements):
    """A folder for PYTHONPATH with exactly these requirements, such as "redis==8.1.0"."""
    return _once(
        f"python-{_PYTHON}-{'-'.join(requirements)}",
        lambda folder: _run([*_PIP, "--target", folder, *requirements]),
    )


def python_wheels(*requirements):
    """A folder with the wheels of these requirements and of what they need, for installs without a network."""
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    return _once(
        f"wheels-{_PYTHON}-{'-'.join(requirements)}",
        lambda folder: _run([*download, "--only-binary", ":all:", "--dest", folder, *requirements]),
    )


def python_requirements(name):
    """A folder for PYTHONPATH with exactly what python/NAME.txt lists."""
    requirements = HERE / "python" / f"{name}.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    return _once(
        f"python-{_PYTHON}-{name}-{digest}",
        lambda folder: _run([*_PIP, "--no-deps", "--target", folder, "-r", requirements]),
    )


def node_modules(place=HERE / "node"):
    """A folder for NODE_PATH that holds what the package-lock.json in that place names."""
    manifest, lock = place / "package.json", place / "package-lock.json"

    def install(folder):
        shutil.copy(manifest, folder)
        shutil.copy(lock, folder)
        _run(["npm", "ci", "--loglevel=error", "--no-audit", "--no-fund", "--prefix", folder])

    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    return _once(f"node-{digest}", install) / "node_modules"


def rust_binary(package, name, profile="dev"):
    """Builds a binary of the Cargo package in that folder. Cargo itself knows what is up to date."""
    target = CACHE / "rust"
    manifest = ROOT / package / "Cargo.toml"
    _run(
        ["cargo", "build", "--quiet", "--locked", "--manifest-path", manifest],
        ["--profile", profile, "--bin", name, "--target-dir", target],
    )
    return target / ("debug" if profile == "dev" else profile) / name


def redis_cli():
    """The path of redis-cli, from Debian's redis-tools."""
    if not shutil.which("redis-cli"):
        _debian("redis-tools")
    return pathlib.Path(shutil.which("redis-cli"))


def ruby():
    """The path of a Ruby that has redis-rb, from Debian's ruby-redis."""
    found = shutil.which("ruby")
    command = [found, "-e", "require 'redis'"]
    if not found or subprocess.run(command, capture_output=True).returncode:
        _debian("ruby-redis")
    return pathlib.Path(shutil.which("ruby"))


def shellcheck():
    """The path of shellcheck, from Debian."""
    if not shutil.which("shellcheck"):
        _debian("shellcheck")
    return pathlib.Path(shutil.which("shellcheck"))


# Go finds the packages that Debian has, and no others.
GO_ENVIRONMENT = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": ""}


def go():
    """The path of Go with the client redigo, from Debian."""
    redigo = pathlib.Path(GO_ENVIRONMENT["GOPATH"], "src/github.com/gomodule/redigo")
    if not shutil.which("go") or not redigo.exists():
        _debian("golang-go", "golang-github-gomodule-redigo-dev")
    return pathlib.Path(shutil.which("go"))


def _debian(*packages):
    apt = ["apt-get", "-qq", "-o=Dpkg::Use-Pty=0"]
    _run([*apt, "update"])
    _run([*apt, "install", "-y", "--no-install-recommends", *packages])


def _once(name, install):
    """The folder `name` in the cache; `install` fills it if it is not there yet."""
    folder = CACHE / name
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            # Renamed when complete, so that an install that was cut short is not taken for one.
            unfinished = CACHE / f"{name}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            install(unfinished)
            unfinished.rename(folder)
    return folder


def _run(*parts):
    command = [str(word) for part in parts for word in part]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise InstallFailed(f"{' '.join(command)}\nfailed:\n{done.stdout}{done.stderr}")
