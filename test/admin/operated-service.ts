/** The service of a test file that runs the operator's commands, with a new client for each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { sharedTestService, type Client, type TestService } from '../fixtures/service.ts';
import { admin, adminJson, refusal, type Said } from './admin-run.ts';

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
