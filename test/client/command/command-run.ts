/** Runs the command `darkroom` in this process, with streams, time and files of the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll } from 'vitest';
import type { Input, Io } from '../../../client/command/io.ts';
import { runCommand } from '../../../client/command/program.ts';
import { type Client, sharedTestService, type TestService } from '../../fixtures/service.ts';

export interface Said {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
}

export interface Person {
  /** The folder in which the person works. */
  readonly folder: string;
  readonly home: string;
  readonly env: Record<string, string>;
  /** Runs a command. */
  readonly run: (args: readonly string[], surroundings?: Surroundings) => Promise<Said>;
  /** Runs a command that succeeds, and gives its JSON document. */
  readonly json: (...args: readonly string[]) => Promise<unknown>;
  /** Starts a command that goes on. */
  readonly start: (args: readonly string[], surroundings?: Surroundings) => Running;
  readonly remove: () => Promise<void>;
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input: a text, or a stream. Empty unless given. */
  readonly input?: string | Input;
  /** Standard output and error are a terminal. */
  readonly isTTY?: boolean;
  readonly signal?: AbortSignal;
  readonly io?: Partial<Io>;
}

export interface Running {
  /** What was printed so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Types into standard input. */
  readonly type: (text: string) => void;
  /** As Ctrl-C does. Gives the exit code. */
  readonly stop: () => Promise<number>;
  readonly ended: Promise<Said>;
}

export async function newPerson(env: Readonly<Record<string, string>> = {}): Promise<Person> {
  const home = await mkdtemp(join(tmpdir(), 'darkroom-person-'));
  const person = { home, folder: home, env: { ...env } };
  const run: Person['run'] = async (args, surroundings = {}) => {
    const said = { out: '', err: '' };
    const printerOf = (name: 'out' | 'err'): Io['out'] => ({
      write: (text) => (said[name] += text),
      isTTY: surroundings.isTTY ?? false,
    });
    const { input = '' } = surroundings;
    const code = await runCommand(args, {
      env: { ...person.env, ...surroundings.env },
      out: printerOf('out'),
      err: printerOf('err'),
      input: typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input,
      folder: person.folder,
      home,
      signal: surroundings.signal ?? new AbortController().signal,
      open: () => undefined,
      now: () => Date.now(),
      // A tenth of each wait: no test waits long, and none spins.
      sleep: async (millis, signal) => {
        signal?.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, Math.min(50, millis / 10)));
        signal?.throwIfAborted();
      },
      random: () => 0.5,
      uuid: () => crypto.randomUUID(),
      ...surroundings.io,
    });
    return { code, ...said };
  };
  return {
    ...person,
    run,
    json: async (...args) => {
      const { code, out, err } = await run(['--json', ...args]);
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`);
      return JSON.parse(out) as unknown;
    },
    start: (args, surroundings = {}) => {
      const stop = new AbortController();
      const input = new PassThrough();
      const said = { out: '', err: '' };
      const printerOf = (name: 'out' | 'err'): Io['out'] => ({
        write: (text) => (said[name] += text),
        isTTY: surroundings.isTTY ?? false,
      });
      const io = { out: printerOf('out'), err: printerOf('err'), ...surroundings.io };
      const ended = run(args, { input, signal: stop.signal, ...surroundings, io }).then(({ code }) => ({
        code,
        ...said,
      }));
      return {
        out: () => said.out,
        err: () => said.err,
        type: (text) => input.write(text),
        stop: async () => {
          stop.abort();
          return (await ended).code;
        },
        ended,
      };
    },
    remove: async () => rm(home, { recursive: true, force: true }),
  };
}

/** A person with a key of the service, for a test file. */
export interface ServedPerson {
  readonly service: TestService;
  readonly client: Client;
  readonly person: Person;
  /** The address of the service, as a person knows it. */
  readonly baseUrl: string;
}

/** Before the tests of a file: a service and a person whose environment has a key. */
export function useServedPerson(): ServedPerson {
  let served: ServedPerson;
  beforeAll(async () => {
    const [service, person] = await Promise.all([sharedTestService(), newPerson()]);
    const client = await service.client({ postRate: '1000' });
    const baseUrl = new URL(service.machine.apiUrl).origin;
    Object.assign(person.env, { DARKROOM_API_KEY: client.key, DARKROOM_BASE_URL: baseUrl });
    served = { service, client, person, baseUrl };
  });
  afterAll(async () => {
    await served.person.remove();
    await served.service.end();
  });
  return {
    get service() {
      return served.service;
    },
    get client() {
      return served.client;
    },
    get person() {
      return served.person;
    },
    get baseUrl() {
      return served.baseUrl;
    },
  };
}

const pngHead = Buffer.from('89504e470d0a1a0a', 'hex');
export const isPng = (bytes: Uint8Array): boolean => pngHead.equals(bytes.subarray(0, 8));
