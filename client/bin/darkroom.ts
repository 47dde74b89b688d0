#!/usr/bin/env node
/** `darkroom`: runs one command on this machine. */
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../command/program.ts';
import type { Printer } from '../command/io.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => interrupted.abort());
}
// The reader of a pipe has gone: `darkroom creations list | head -1`.
process.stdout.on('error', () => process.exit());

const printer = (stream: NodeJS.WriteStream): Printer => ({
  write: (text) => stream.write(text),
  isTTY: stream.isTTY,
});

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  out: printer(process.stdout),
  err: printer(process.stderr),
  // Opened when it is read: an open standard input keeps the process alive.
  get input() {
    return process.stdin;
  },
  folder: process.cwd(),
  home: homedir(),
  signal: interrupted.signal,
  open: (file) => {
    const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
    spawn(program, [...args, file], { stdio: 'ignore', detached: true })
      .on('error', () => process.stderr.write(`No program opens ${file}\n`))
      .unref();
  },
  now: () => Date.now(),
  sleep: async (millis, signal) => sleep(millis, undefined, signal && { signal }),
  random: () => Math.random(),
  uuid: () => crypto.randomUUID(),
});
