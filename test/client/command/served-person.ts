/** A person with a key of the service, for a test file. */
import { afterAll, beforeAll } from 'vitest';
import { type Client, sharedTestService, type TestService } from '../../fixtures/service.ts';
import { newPerson, type Person } from './command-run.ts';

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
