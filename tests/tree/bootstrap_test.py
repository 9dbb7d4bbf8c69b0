"""What ./bootstrap says where it can do nothing."""
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import zipfile

SCRIPT = os.path.join(sys.argv.pop(1), "bootstrap")


def bootstrap(*arguments, **environment):
    return subprocess.run([SCRIPT, *arguments], cwd="/", env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")


def folder_of_tools(folder, *names):
    """Makes a folder for PATH that holds these programs alone."""
    for name in names:
        for place in os.environ["PATH"].split(os.pathsep):
            if os.path.exists(os.path.join(place, name)):
                os.symlink(os.path.join(place, name), os.path.join(folder, name))
                break
    return folder


class Bootstrap(unittest.TestCase):
    def test_help(self):
        result = bootstrap("help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("usage: ./bootstrap COMMAND\n"))
        self.assertEqual(bootstrap().stdout, result.stdout)

    def test_an_unknown_command(self):
        result = bootstrap("tset")
        self.assertEqual(result.returncode, 2)
        self.assertTrue(result.stderr.startswith("bootstrap: 'tset' is no command\n"))

    def test_too_many_arguments(self):
        self.assertEqual(bootstrap("test", "demo").returncode, 2)

    def test_a_number_of_jobs_that_is_none(self):
        result = bootstrap("build", TILEWRIGHT_JOBS="many")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "bootstrap: TILEWRIGHT_JOBS is 'many'; it must be a number from 1\n")

    def test_another_system_without_tools(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder_of_tools(folder, "bash", "dirname", "env", "head", "sed", "tr")
            release = os.path.join(folder, "os-release")
            with open(release, "w", encoding="utf-8") as stream:
                stream.write('ID=other\nVERSION_ID="7"\nPRETTY_NAME="Other 7"\n')
            result = bootstrap("deps", PATH=path, OS_RELEASE=release)
        self.assertEqual(result.returncode, 1)
        self.assertIn("packages are installed on Debian 12 only, and this is Other 7; it lacks c++ cmake ninja python3.", result.stderr)
        self.assertIn("libmlir-22-dev", result.stderr)

    @unittest.skipUnless(os.geteuid() != 0 or os.path.exists("/usr/bin/setpriv"), "needs a user other than root, or setpriv to become one")
    def test_neither_root_nor_sudo(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = folder_of_tools(folder, "bash", "dirname", "env", "grep", "head", "sed", "tr")
            for name, text in {"dpkg-query": "#!/bin/sh\necho 'installed cmake'\n", "os-release": "ID=debian\nVERSION_ID=\"12\"\n",
                               "bootstrap": pathlib.Path(SCRIPT).read_text("utf-8")}.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                    stream.write(text)
                os.chmod(os.path.join(folder, name), 0o755)
            as_nobody = [] if os.geteuid() else ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            result = subprocess.run([*as_nobody, os.path.join(folder, "bootstrap"), "deps"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                    env={"PATH": path, "OS_RELEASE": os.path.join(folder, "os-release")}, encoding="utf-8", cwd="/")
        self.assertEqual(result.returncode, 1)
        self.assertIn("without root or sudo they cannot be installed", result.stderr)
        self.assertIn("Let an administrator run: apt-get install --no-install-recommends catch2 g++ libboost-context-dev ", result.stderr)
        self.assertNotIn(" cmake ", result.stderr)

    # A Python whose pip knows a wheel with this in it, or none.
    PYTHON = """#!/bin/sh
    case "$*" in
      "-m pip --version") exit 0 ;;
      "-m pip download"*)
        for last; do :; done
        echo "$last" >>"$ASKED"
        case "$last" in $KNOWN) ;; *) echo "pip: no $last" >&2; exit 1 ;; esac
        while [ "$1" != --dest ]; do shift; done
        cp "$WHEEL" "$2" ;;
      *) exec "$PYTHON" "$@" ;;
    esac
    """

    def nvrtc(self, folder, known, files, command="nvrtc", more_tools=(), **environment):
        """Runs `bootstrap nvrtc` (or another command that gets it) where pip has packages `known` (a pattern), with these files.
        Gives the result, the names that pip was asked for, and what is in the folder afterwards."""
        tools = os.path.join(folder, "tools")
        os.mkdir(tools)
        path = folder_of_tools(tools, "bash", "cat", "chmod", "cp", "dirname", "env", "mkdir", "mktemp", "mv", "rm", "sh")
        with open(os.path.join(tools, "python3"), "w", encoding="utf-8") as stream:
            stream.write(textwrap.dedent(self.PYTHON))
        os.chmod(stream.name, 0o755)
        wheel, asked = os.path.join(folder, "some.whl"), os.path.join(folder, "asked")
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in files:
                archive.writestr(name, name)
        result = bootstrap(command, PATH=os.pathsep.join([path, *more_tools]), **environment, XDG_CACHE_HOME=os.path.join(folder, "cache"),
                           WHEEL=wheel, KNOWN=known, ASKED=asked, PYTHON=sys.executable)
        place = os.path.join(folder, "cache", "tilewright")
        found = {name: sorted(os.listdir(os.path.join(place, name))) for name in os.listdir(place)} if os.path.isdir(place) else {}
        return result, pathlib.Path(asked).read_text("utf-8").split() if os.path.exists(asked) else [], found

    FILES = ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cu13/lib/libnvrtc-builtins.so.13.0", "nvidia/cu13/lib/libnvrtc.alt.so.13", "nvidia/cu13/include/nvrtc.h")

    def test_nvrtc_comes_from_its_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            result, asked, found = self.nvrtc(folder, "*", self.FILES)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(asked, ["nvidia-cuda-nvrtc==13.0.*"])
        self.assertEqual(found, {"nvrtc": ["libnvrtc-builtins.so.13.0", "libnvrtc.so.13"]})

    def test_another_package_where_the_first_is_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            result, asked, found = self.nvrtc(folder, "*cu12*", [name.replace("cu13", "cuda_nvrtc").replace(".13", ".12") for name in self.FILES])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(asked, ["nvidia-cuda-nvrtc==13.0.*", "nvidia-cuda-nvrtc-cu12>=12.4"])
        self.assertEqual(found, {"nvrtc": ["libnvrtc-builtins.so.12.0", "libnvrtc.so.12"]})

    def test_without_a_wheel_it_fails_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            result, _, found = self.nvrtc(folder, "none", self.FILES)
            self.assertIn("bootstrap: warning: no NVRTC: it could not be downloaded. All but kernels for GPUs works without", result.stderr)
        self.assertEqual((result.returncode, found), (1, {}))

    def test_without_a_wheel_other_commands_go_on(self):
        with tempfile.TemporaryDirectory() as folder:
            own = folder_of_tools(folder, "sed", "tr", "head")
            for name in ("c++", "cmake", "ninja"):
                os.symlink("/bin/true", os.path.join(own, name))
            result, _, _ = self.nvrtc(folder, "none", self.FILES, command="deps", OS_RELEASE="/dev/null", more_tools=[own])
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "==> Nothing more to install"))

    def test_a_wheel_of_something_else(self):
        with tempfile.TemporaryDirectory() as folder:
            result, _, found = self.nvrtc(folder, "*", ["other/thing.py"])
        self.assertIn("bootstrap: warning: no NVRTC", result.stderr)
        self.assertEqual((result.returncode, found), (1, {}))


if __name__ == "__main__":
    unittest.main()
