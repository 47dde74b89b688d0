/** The service of a test file, with the fakes of all vendors and their credentials. */
import type { VendorName } from '../../tools/vendors/fakes/all-fakes.ts';
import type { Paint } from '../../tools/vendors/fakes/pictures.ts';
import { enableAll, environmentOf, startFakes } from '../../tools/vendors/fleet.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';

export interface TestFleet {
  readonly service: TestService;
  /** A client whose account may use this vendor alone. */
  clientOf(vendor: VendorName): Promise<Client>;
  end(): Promise<void>;
}

/** @param paint what the fakes send in the place of plain pictures */
export async function startTestFleet(paint?: Paint): Promise<TestFleet> {
  const vendors = await startFakes(paint);
  const service = await startTestService({ environment: environmentOf(vendors) });
  await enableAll(service.operator);
  return {
    service,
    clientOf: async (vendor) => {
      const client = await service.client({ postRate: '1000', maxConcurrent: '200' });
      await service.operator.accounts.change(client.account.id, { providers: [vendor] });
      return client;
    },
    end: async () => {
      await service.end();
      await Promise.all([...vendors.values()].map((vendor) => vendor.stop()));
    },
  };
}
