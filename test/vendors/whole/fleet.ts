/** The service of a test file, with the fakes of all vendors and of own servers, and their credentials. */
import type { Paint } from '../../../lab/vendors/fakes/fake-vendor.ts';
import { enableAll, environmentOf, startFakes } from '../../../lab/vendors/fleet.ts';
import { addOwnServers, startOwnServers } from '../../../lab/vendors/own-servers.ts';
import { type Client, startTestService, type TestService } from '../../fixtures/service.ts';

export interface TestFleet {
  readonly service: TestService;
  /** A client whose account may use this provider alone. */
  clientOf(provider: string): Promise<Client>;
  end(): Promise<void>;
}

/** @param paint what the fakes send instead of plain pictures */
export async function startTestFleet(paint?: Paint): Promise<TestFleet> {
  const [vendors, own] = await Promise.all([startFakes(paint), startOwnServers(paint)]);
  const service = await startTestService({ environment: environmentOf(vendors) });
  await enableAll(service.operator);
  await addOwnServers(service.operator, own);
  return {
    service,
    clientOf: async (provider) => {
      const client = await service.client({ postRate: '1000', maxConcurrent: '200' });
      await service.operator.accounts.change(client.account.id, { providers: [provider] });
      return client;
    },
    end: async () => {
      await service.end();
      await Promise.all([...vendors.values(), ...own.values()].map((fake) => fake.stop()));
    },
  };
}
