// Perfetto's trace processor as a filter: requests in on stdin, replies out on stdout, both in the framing of its own
// TraceProcessorRpcStream, which may be cut anywhere. Who calls it writes and reads the messages with Perfetto's bindings.
//
//   node perfetto_engine.cjs FOLDER      FOLDER holds engine_bundle.js and the .wasm files beside it
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const folder = process.argv[2];

// The bundle is written for a web worker of a browser. A context of its own has none of Node's globals, so it takes itself for
// one; these are the parts of a worker that it touches.
class LocalFileRequest {
  open(_method, url) {
    this.url = url;
  }

  setRequestHeader() {}

  send() {
    const content = fs.readFileSync(path.join(folder, path.basename(this.url)));
    this.status = 200;
    this.response = new Uint8Array(content).buffer;
  }
}

const worker = {
  location: { href: 'http://localhost/engine_bundle.js' },
  XMLHttpRequest: LocalFileRequest,
  WorkerGlobalScope: class {},
  importScripts() {},
  console: { log() {}, info() {}, debug() {}, warn() {}, error() {} },
  // The bundle checks what arrives with instanceof, so both sides must mean the same class.
  Uint8Array,
  TextDecoder,
  performance,
  setTimeout,
  crypto,
};
worker.self = worker;
vm.createContext(worker);
vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), worker, { filename: 'engine_bundle.js' });

const port = { postMessage: (reply) => process.stdout.write(reply) };
worker.onmessage({ data: port });

// The engine is ready a few microtasks after the bundle ran; reading stdin waits longer than that.
process.stdin.on('data', (chunk) => port.onmessage({ data: new Uint8Array(chunk) }));
