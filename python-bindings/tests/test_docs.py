"""The snippets of README.md and docs/python.md run as they stand; where they ask a cluster, a server answers as its API would."""
import ast
import http.server
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
LOG = os.path.join(os.environ['TESTDATA'], 'logs', '2.28.9', 'h200x8-p2p-disabled-shm.log')
KUBECONFIG = '''
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: "http://127.0.0.1:%d"}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {}}]
'''
PODS = ('train-0', 'train-1')


class Api(http.server.BaseHTTPRequestHandler):
    """What Kubernetes answers to a list of pods, and to a log: chunks that are cut anywhere. Each pod has half of the recorded processes."""
    protocol_version = 'HTTP/1.1'
    asked = []

    def do_GET(self):
        self.asked.append(self.path.split('?')[0])
        pod = re.match('/api/v1/namespaces/train/pods/([^/?]+)/log', self.path)
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain' if pod else 'application/json')
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        answer = log_of(pod.group(1)) if pod else json.dumps({'kind': 'PodList', 'apiVersion': 'v1', 'metadata': {}, 'items': [
            {'metadata': {'name': name, 'namespace': 'train', 'labels': {'app': 'train'}}} for name in PODS]}).encode()
        for at in range(0, len(answer), 1000):
            piece = answer[at:at + 1000]
            self.wfile.write(b'%x\r\n%s\r\n' % (len(piece), piece))
        self.wfile.write(b'0\r\n\r\n')

    def log_message(self, *unused):
        pass


def log_of(pod):
    with open(LOG, 'rb') as file:
        lines = file.read().splitlines(True)
    pid = [int(re.match(rb'vm:(\d+):', line).group(1)) if line.startswith(b'vm:') else 0 for line in lines]
    half = sorted(set(pid))[len(set(pid)) // 2]
    return b''.join(line for line, p in zip(lines, pid) if (p >= half) == (pod == PODS[1]))


def imports(snippet):
    for node in ast.walk(ast.parse(snippet)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def snippets(page, language='python'):
    with open(os.path.join(ROOT, page), encoding='utf-8') as file:
        return re.findall(r'```%s\n(.*?)```' % language, file.read(), re.S)


class Docs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_here(self, command):
        shutil.copy(LOG, os.path.join(self.folder, 'job.log'))
        env = dict(os.environ, HOME=self.folder, PATH=os.path.dirname(os.environ['NCCLSCOPE']) + os.pathsep + os.environ['PATH'])
        done = subprocess.run(command, cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ''), command[-1])
        self.assertTrue(done.stdout.strip(), command[-1])
        return done.stdout.decode()

    def serve(self):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Api)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        os.makedirs(os.path.join(self.folder, '.kube'))
        with open(os.path.join(self.folder, '.kube', 'config'), 'w', encoding='utf-8') as file:
            file.write(KUBECONFIG % server.server_port)

    def test_snippets(self):
        self.serve()
        tried = 0
        for page in ('README.md', os.path.join('docs', 'python.md')):
            self.assertTrue(snippets(page), page)
            for snippet in snippets(page):
                missing = [name for name in imports(snippet) if not importlib.util.find_spec(name.split('.')[0])]
                with self.subTest(missing or snippet):
                    if missing:
                        self.skipTest('not here: ' + ', '.join(missing))
                    told = self.run_here([sys.executable, '-c', snippet])
                    tried += 1
                    if 'kubernetes' in snippet:
                        self.assertIn('8 pairs of GPUs of vm (ranks 0-7)', told)
                        self.assertEqual(Api.asked, ['/api/v1/namespaces/train/pods'] + ['/api/v1/namespaces/train/pods/%s/log' % name for name in PODS])
        self.assertGreaterEqual(tried, 8)

    def test_halves(self):
        with open(LOG, 'rb') as file:
            self.assertEqual(sum(len(log_of(name)) for name in PODS), len(file.read()))


if __name__ == '__main__':
    unittest.main()
