/**
 * The first code in a function's worker thread: it installs the virtual clock, imports the bundle and answers
 * invocations, as Lambda's runtime interface client does. It is plain JavaScript without imports of the project, because
 * type stripping would cost each new worker 35 ms. messages.ts has the types of its messages.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readlinkSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

// In AWS a render takes no time from the API, so here it has a lower priority. Only Linux has one per thread.
if (workerData.inBackground && process.platform === 'linux') {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()), 10);
  } catch {
    // Without the lower priority the API is only slower.
  }
}

const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
const cells = new BigInt64Array(workerData.clock);

function virtualNow() {
  const standsAt = Number(Atomics.load(cells, 1));
  return standsAt === 0 ? realNow() + Number(Atomics.load(cells, 0)) : standsAt;
}

// A proxy: with a subclass, Date() without `new` and `instanceof` would fail.
const VirtualDate = new Proxy(RealDate, {
  construct: (target, values, newTarget) =>
    Reflect.construct(
      target,
      values.length === 0 ? [virtualNow()] : values,
      newTarget === VirtualDate ? target : newTarget,
    ),
  apply: () => new RealDate(virtualNow()).toString(),
});
RealDate.now = virtualNow;
RealDate.prototype.constructor = VirtualDate;
globalThis.Date = VirtualDate;

// The main thread reads these cells before it gives this thread one more invocation (messages.ts).
const vitals = new BigInt64Array(workerData.vitals);
const [turnCell, callsCell, begunCell] = [0, 1, 2];
const beatMillis = 100;
const noteTurn = () => Atomics.store(vitals, turnCell, BigInt(realNow()));
let isBeating = false;

/** Notes the turns of the event loop while invocations are open. An idle thread does nothing. */
function beat() {
  noteTurn();
  isBeating = open.size > 0;
  if (isBeating) setTimeout(beat, beatMillis).unref();
}

// The request id of the running code. Node keeps it across timers, promises, sockets and uncaught errors.
const request = new AsyncLocalStorage();
const open = new Set();
const crashed = new Set();

for (const stream of [process.stdout, process.stderr]) {
  let rest = '';
  // Each line of Lambda's log has its request, as several may share this thread.
  stream.write = (chunk, encoding, written) => {
    const lines = (rest + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).split('\n');
    rest = lines.pop() ?? '';
    const requestId = request.getStore();
    if (!crashed.has(requestId))
      for (const line of lines) parentPort.postMessage({ type: 'log', requestId, line });
    const done = typeof encoding === 'function' ? encoding : written;
    done?.();
    return true;
  };
}

function asLambdaError(error) {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
}

/** Ends the whole thread, and with it every open invocation. */
const exitThread = process.exit.bind(process);

function endThread(error, exitCode) {
  parentPort.postMessage({ type: 'thread-crashed', error });
  exitThread(exitCode);
}

/** Ends one invocation as a crash does. A crash that belongs to no open invocation ends the thread. */
function crash(error, exitCode) {
  const requestId = request.getStore();
  if (crashed.has(requestId)) return;
  if (!open.has(requestId)) endThread(error, exitCode);
  crashed.add(requestId);
  parentPort.postMessage({ type: 'crashed', requestId, error });
}

process.on('uncaughtException', (error) => crash(asLambdaError(error), 129));
process.on('unhandledRejection', (reason) => {
  crash({ ...asLambdaError(reason), errorType: 'Runtime.UnhandledPromiseRejection' }, 128);
});

/** The exit code of a process that was ended by SIGKILL. */
const killedCode = 137;

/** Stops the code of an invocation that has ended its process. */
class Crashed extends Error {
  name = 'Crashed';
}

function exitInvocation(code) {
  const requestId = request.getStore();
  const errorMessage = `RequestId: ${requestId} Error: Runtime exited with error: exit status ${code}`;
  crash({ errorType: 'Runtime.ExitError', errorMessage }, Number(code));
}

// All invocations share the process. An invocation that ends "its" process must end only itself.
process.exit = (code = process.exitCode ?? 0) => {
  exitInvocation(code);
  throw new Crashed('this invocation has ended its process');
};
const realKill = process.kill.bind(process);
process.kill = (pid, signal) =>
  pid === process.pid && signal !== 0 ? process.exit(killedCode) : realKill(pid, signal);
process.abort = () => process.exit(134);

// No thread can stop the promises of a crashed invocation, so they get no connection and change nothing.
function refuseCrashed() {
  if (crashed.has(request.getStore())) throw new Crashed('this invocation has crashed');
}

// Work nearly always has a call to AWS open, and waiting for a provider has none: so open calls count work.
const turns = [];
const awsOrigin = new URL(process.env.AWS_ENDPOINT_URL).host;
const beginCall = () => Atomics.add(vitals, callsCell, 1n);
function endCall() {
  Atomics.sub(vitals, callsCell, 1n);
  turns.shift()?.();
}

/** Resolves when few enough invocations of this thread work. */
async function turn() {
  while (Atomics.load(vitals, callsCell) >= BigInt(workerData.mostWorking))
    await new Promise((resolve) => turns.push(resolve));
}

// An import of node:http costs 20 ms (decision 21). A bundle that imports it gets the changed functions.
for (const module of ['node:http', 'node:https'].map((name) => process.getBuiltinModule(name))) {
  for (const name of ['request', 'get']) {
    const send = module[name];
    module[name] = (...values) => {
      refuseCrashed();
      const outgoing = send(...values);
      if (outgoing.getHeader('host') === awsOrigin) {
        beginCall();
        outgoing.once('close', endCall);
      }
      return outgoing;
    };
  }
}
const realFetch = globalThis.fetch;
globalThis.fetch = async (target, options) => {
  refuseCrashed();
  if (new URL(target.url ?? target).host === awsOrigin) {
    beginCall();
    return realFetch(target, options).finally(endCall);
  }
  const response = await realFetch(target, options);
  // Hundreds of answers may arrive at once. If all went on, their calls to AWS would take too long.
  await turn();
  refuseCrashed();
  return response;
};

function contextOf({ requestId, deadline }) {
  return {
    ...workerData.context,
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - realNow()),
  };
}

/** The processor time that this thread has used, in milliseconds. */
function cpuMillis() {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

// A function that streams is marked. Its head waits for the first write, as in Lambda's own runtime.
const streaming = Symbol.for('aws.lambda.runtime.handler.streaming');
const heads = new WeakMap();
globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { [streaming]: 'response' }),
  HttpResponseStream: {
    from: (stream, head) => {
      heads.set(stream, JSON.parse(JSON.stringify(head)));
      return stream;
    },
  },
};

/** What is to be called when the main thread has taken the last part, by the id of the request. */
const taken = new Map();

/** The stream that a function writes its answer to. Each part waits until the main thread has taken it. */
function answerStream(requestId) {
  const { Writable } = process.getBuiltinModule('node:stream');
  const tell = (message, transferred) => {
    if (!crashed.has(requestId)) parentPort.postMessage({ requestId, ...message }, transferred);
  };
  const stream = new Writable({
    write: (part, _encoding, written) => {
      const head = heads.get(stream);
      heads.delete(stream);
      if (head !== undefined) tell({ type: 'head', head });
      taken.set(requestId, written);
      // A copy, because the memory goes to the main thread, and the function may use its own again.
      const bytes = new Uint8Array(part);
      tell({ type: 'part', bytes }, [bytes.buffer]);
    },
    final: (ended) => {
      tell({ type: 'ended' });
      ended();
    },
  });
  // The function gets its own error from the call that fails.
  stream.on('error', () => undefined);
  return stream;
}

async function stream(handler, message) {
  const { requestId } = message;
  const out = answerStream(requestId);
  try {
    await handler(message.event, out, contextOf(message));
    // The end of the stream comes after its last part.
    if (out.writableEnded && !out.writableFinished)
      await new Promise((resolve) => out.once('close', resolve));
    if (!out.writableFinished) throw new Error('Response stream is not finished.');
  } finally {
    taken.delete(requestId);
  }
}

async function answer(handler, message) {
  const { requestId } = message;
  const from = cpuMillis();
  open.add(requestId);
  let result;
  try {
    const value =
      handler[streaming] === 'response'
        ? await stream(handler, message)
        : await handler(message.event, contextOf(message));
    result = { type: 'answered', requestId, json: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    result = { type: 'failed', requestId, error: asLambdaError(error) };
  }
  open.delete(requestId);
  // The main thread already knows of a crash.
  if (crashed.has(requestId)) return;
  parentPort.postMessage({ type: 'used', cpuMillis: cpuMillis() - from });
  parentPort.postMessage(result);
}

// The first workers save the compiled code for the others.
enableCompileCache(workerData.compiled);
setTimeout(flushCompileCache, 2_000).unref();

const bundle = await import(workerData.module);
const handler = bundle[workerData.handler];
if (typeof handler !== 'function') {
  endThread(
    {
      errorType: 'Runtime.HandlerNotFound',
      errorMessage: `${workerData.handler} is undefined or not exported`,
      trace: [],
    },
    1,
  );
}
parentPort.on('message', (message) => {
  noteTurn();
  if (message.type === 'invoke') {
    void request.run(message.requestId, answer, handler, message);
    Atomics.add(vitals, begunCell, 1n);
    if (!isBeating) beat();
  } else if (message.type === 'taken') {
    const written = taken.get(message.requestId);
    taken.delete(message.requestId);
    if (written) request.run(message.requestId, written);
  } else if (open.has(message.requestId)) request.run(message.requestId, exitInvocation, killedCode);
});
parentPort.postMessage({ type: 'ready' });
