/**
 * The first code in a function's worker thread. It installs the virtual clock, imports the bundle and
 * answers invocations, as Lambda's runtime interface client does.
 *
 * This file is plain JavaScript and imports no file of the project, because type stripping would cost
 * each new worker 35 ms. messages.ts has the types of its messages.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readlinkSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

// In AWS a render never takes processor time from the API, so here it gets a lower priority. Linux has a
// priority for each thread. On other systems a thread cannot find out its own number, and all threads stay
// equal.
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

// A proxy, because with a subclass Date() without `new` would fail, and `instanceof` would not work in both
// directions.
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

const request = new AsyncLocalStorage();

for (const stream of [process.stdout, process.stderr]) {
  let rest = '';
  // Lambda's log is made of lines, each with the request that it belongs to. Several invocations may share
  // this thread.
  stream.write = (chunk, encoding, written) => {
    const lines = (rest + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) parentPort.postMessage({ type: 'log', requestId: request.getStore(), line });
    const done = typeof encoding === 'function' ? encoding : written;
    done?.();
    return true;
  };
}

function asLambdaError(error) {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
}

function endWith(error, exitCode) {
  parentPort.postMessage({ type: 'crashed', error });
  process.exit(exitCode);
}

process.on('uncaughtException', (error) => endWith(asLambdaError(error), 129));
process.on('unhandledRejection', (reason) => {
  endWith({ ...asLambdaError(reason), errorType: 'Runtime.UnhandledPromiseRejection' }, 128);
});
// All threads share the pid of the process. A function that kills "its" process must end only its own worker,
// not the service.
const realKill = process.kill.bind(process);
process.kill = (pid, signal) =>
  pid === process.pid && signal !== 0 ? process.exit(137) : realKill(pid, signal);
process.abort = () => process.exit(134);

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

async function answer(handler, message) {
  const from = cpuMillis();
  try {
    const value = await handler(message.event, contextOf(message));
    parentPort.postMessage({ type: 'used', cpuMillis: cpuMillis() - from });
    parentPort.postMessage({
      type: 'answered',
      requestId: message.requestId,
      json: JSON.stringify(value) ?? 'null',
    });
  } catch (error) {
    parentPort.postMessage({ type: 'used', cpuMillis: cpuMillis() - from });
    parentPort.postMessage({ type: 'failed', requestId: message.requestId, error: asLambdaError(error) });
  }
}

// Every worker of a function compiles the same bundle. The first workers save the compiled code for the
// others.
enableCompileCache(workerData.compiled);
setTimeout(flushCompileCache, 2_000).unref();

const bundle = await import(workerData.module);
const handler = bundle[workerData.handler];
if (typeof handler !== 'function') {
  endWith(
    {
      errorType: 'Runtime.HandlerNotFound',
      errorMessage: `${workerData.handler} is undefined or not exported`,
      trace: [],
    },
    1,
  );
}
parentPort.on('message', (message) => void request.run(message.requestId, answer, handler, message));
parentPort.postMessage({ type: 'ready' });
