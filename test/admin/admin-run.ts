/** Runs the operator's command in this process. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import * as z from 'zod';
import { runAdmin } from '../../admin/program.ts';
import { type Client, sharedTestService, type TestService } from '../fixtures/service.ts';

interface Said {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly complaint: string;
}

/** Runs a command for the service of the folder. `args` does not contain --data. */
export async function admin(folder: string, ...args: readonly string[]): Promise<Said> {
  const [out, complaint]: [string[], string[]] = [[], []];
  const code = await runAdmin(['--data', folder, ...args], {
    print: (line) => out.push(line),
    complain: (line) => complaint.push(line),
  });
  return { code, out: out.join('\n'), complaint: complaint.join('\n') };
}

/** Runs a command that succeeds, and gives its JSON document. */
export async function adminJson(
  folder: string,
  ...args: readonly string[]
): Promise<Readonly<Record<string, unknown>>> {
  const { code, out, complaint } = await admin(folder, '--json', ...args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${complaint}`);
  return z.record(z.string(), z.unknown()).parse(JSON.parse(out));
}

/** Runs a command that is refused with exit code 1, and gives its message. */
export async function refusal(folder: string, ...args: readonly string[]): Promise<string> {
  const { code, out, complaint } = await admin(folder, ...args);
  if (code !== 1) throw new Error(`${args.join(' ')} ended with ${code}: ${out}`);
  return complaint;
}

/** The service of a test file that runs the operator's commands, with a new client for each test. */
export interface OperatedService {
  readonly service: TestService;
  /** The client of the test that runs. */
  readonly client: Client;
  /** Runs a command and gives its result, whatever the exit code. */
  admin(...args: readonly string[]): Promise<Said>;
  /** Runs a command that succeeds, and gives its JSON document. */
  run(...args: readonly string[]): ReturnType<typeof adminJson>;
  /** Runs a command that is refused, and gives the message. */
  refused(...args: readonly string[]): Promise<string>;
}

/**
 * Takes a service before the tests of a file, and gives the service back after them. A fault of one test ends
 * with this test.
 *
 * @param take how the file gets its service
 */
export function useOperatedService(take: () => Promise<TestService> = sharedTestService): OperatedService {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await take();
  });
  beforeEach(async () => {
    client = await service.client();
  });
  afterEach(() => service.machine.faults.clear());
  afterAll(() => service.end());
  return {
    get service() {
      return service;
    },
    get client() {
      return client;
    },
    admin: (...args) => admin(service.folder, ...args),
    run: (...args) => adminJson(service.folder, ...args),
    refused: (...args) => refusal(service.folder, ...args),
  };
}
