"""data/fetch, against a server on this machine."""

import contextlib
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import pathlib
import socket
import tempfile
import threading
import unittest
import zipfile

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "data" / "fetch"


def load():
    loader = importlib.machinery.SourceFileLoader("fetch", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch", loader))
    loader.exec_module(module)
    return module


fetch = load()
CONTENTS = bytes(range(256)) * 40


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the bytes of the server's `files` from the place that is asked for, and notes the places."""

    def do_GET(self):
        contents = self.server.files[self.path]
        begin = 0 if self.server.sends_all else int(self.headers.get("Range", "bytes=0-")[len("bytes="):-1])
        self.server.begins.append(begin)
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(contents) - begin))
        self.end_headers()
        self.wfile.write(contents[begin:self.server.sent_at_most])

    def log_message(self, *_):
        pass


def zipped(name, contents):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, contents)
    return archive.getvalue()


class FetchTest(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.files = {"/a.txt": CONTENTS, "/b.zip": zipped("b", CONTENTS)}
        self.server.begins = []
        self.server.sends_all = False
        self.server.sent_at_most = None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.texts = [self.text("a.txt", "/a.txt"), self.text("b", "/b.zip")]

    def text(self, name, path):
        contents = self.server.files[path]
        address = f"http://127.0.0.1:{self.server.server_port}{path}"
        return fetch.Text(name, address, len(contents), hashlib.sha256(contents).hexdigest(), "none")

    def run_fetch(self, *words):
        """Exit code, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = fetch.main([*words, "--to", str(self.folder)], self.texts)
        return code, out.getvalue(), err.getvalue()

    def test_fetches_and_unpacks(self):
        self.assertEqual(self.run_fetch("a.txt", "b")[0], 0)
        self.assertEqual((self.folder / "a.txt").read_bytes(), CONTENTS)
        self.assertEqual((self.folder / "b").read_bytes(), CONTENTS)

    def test_goes_on_where_it_stopped(self):
        (self.folder / "a.txt.part").write_bytes(CONTENTS[:1000])
        self.assertEqual(self.run_fetch("a.txt")[0], 0)
        self.assertEqual(self.server.begins, [1000])
        self.assertEqual((self.folder / "a.txt").read_bytes(), CONTENTS)

    def test_writes_anew_what_a_server_sends_whole(self):
        self.server.sends_all = True
        (self.folder / "a.txt.part").write_bytes(b"x" * 1000)
        self.assertEqual(self.run_fetch("a.txt")[0], 0)
        self.assertEqual((self.folder / "a.txt").read_bytes(), CONTENTS)

    def test_a_connection_that_breaks_keeps_what_came(self):
        self.server.sent_at_most = 3000
        code, _, err = self.run_fetch("a.txt")
        self.assertEqual(code, 1)
        self.assertIn("3000 of 10240 bytes", err)
        self.server.sent_at_most = None
        self.assertEqual(self.run_fetch("a.txt")[0], 0)
        self.assertEqual(self.server.begins, [0, 3000])

    def test_an_answer_without_a_byte_is_told(self):
        self.server.sent_at_most = 0
        code, _, err = self.run_fetch("a.txt")
        self.assertEqual(code, 1)
        self.assertIn("0 of 10240 bytes", err)

    def test_an_answer_that_is_no_http_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer():
                connection = server.accept()[0]
                connection.recv(1 << 16)
                connection.sendall(b"what?\n\n")
                connection.close()

            threading.Thread(target=answer, daemon=True).start()
            address = f"http://127.0.0.1:{server.getsockname()[1]}/a.txt"
            self.texts = [fetch.Text("a.txt", address, 10, "0" * 64, "none")]
            code, _, err = self.run_fetch("a.txt")
        self.assertEqual(code, 1)
        self.assertIn("cannot fetch", err)

    def test_a_full_disk_is_told_as_one(self):
        (self.folder / "a.txt.part").symlink_to("/dev/full")
        code, _, err = self.run_fetch("a.txt")
        self.assertEqual(code, 1)
        self.assertIn("cannot write", err)
        self.assertIn("No space left", err)

    def test_does_not_fetch_what_is_there(self):
        self.run_fetch("a.txt")
        self.assertEqual(self.run_fetch("a.txt")[0], 0)
        self.assertEqual(len(self.server.begins), 1)

    def test_fetches_a_damaged_file_again(self):
        (self.folder / "a.txt").write_bytes(CONTENTS[:-1] + b"x")
        self.assertEqual(self.run_fetch("a.txt")[0], 0)
        self.assertEqual((self.folder / "a.txt").read_bytes(), CONTENTS)

    def test_keeps_no_other_file_than_the_one_it_knows(self):
        self.server.files["/a.txt"] = CONTENTS[:-1] + b"x"
        code, _, err = self.run_fetch("a.txt")
        self.assertEqual(code, 1)
        self.assertIn("another file now", err)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_says_what_to_do_without_a_network(self):
        self.server.shutdown()
        self.server.server_close()
        code, _, err = self.run_fetch("a.txt")
        self.assertEqual(code, 1)
        self.assertIn("when there is a network", err)
        self.assertIn(str(self.folder / "a.txt"), err)

    def test_names_the_texts_there_are(self):
        self.assertIn("a.txt", self.run_fetch()[1])
        with self.assertRaises(SystemExit) as stopped:
            self.run_fetch("c")
        self.assertEqual(stopped.exception.code, 2)

    def test_knows_sizes_and_hashes_of_every_text(self):
        for text in fetch.TEXTS:
            self.assertRegex(text.sha256, "^[0-9a-f]{64}$")
            self.assertGreater(text.size, 0)


if __name__ == "__main__":
    unittest.main()
