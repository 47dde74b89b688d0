/** The whole service before the fakes of every vendor, each with its credential. */
import type { Client, TestService } from '../fixtures/service.ts';
import { startTestService } from '../fixtures/service.ts';
import type { FakeVendor } from '../../tools/vendors/fakes/fake-vendor.ts';
import { fakes, type VendorName } from '../../tools/vendors/fakes/all-fakes.ts';
import type { OperatorServices } from '../../admin/services.ts';

export interface Fleet {
  readonly service: TestService;
  readonly vendors: Readonly<Record<VendorName, FakeVendor>>;
  /** An account that may use these providers alone. */
  clientOf(...providers: readonly VendorName[]): Promise<Client>;
  end(): Promise<void>;
}

async function startFakes(): Promise<Readonly<Record<VendorName, FakeVendor>>> {
  const started = await Promise.all(
    Object.entries(fakes).map(async ([name, { start }]) => [name, await start()] as const),
  );
  return Object.fromEntries(started) as Record<VendorName, FakeVendor>;
}

/** What tells the functions where the fakes are. */
export function environmentOf(
  vendors: Readonly<Record<string, FakeVendor>>,
): Readonly<Record<string, string>> {
  return {
    PROVIDER_BASE_URLS: JSON.stringify(
      Object.fromEntries(Object.entries(vendors).map(([name, { url }]) => [name, url])),
    ),
  };
}

/** As an operator does by `providers set`, one after the other: they share a secret. */
export async function enableAll({
  credentials,
  providers,
}: Pick<OperatorServices, 'credentials' | 'providers'>): Promise<void> {
  for (const [name, { key }] of Object.entries(fakes)) {
    if (key !== undefined) await credentials.set(name, key);
    await providers.enable(name);
  }
}

export async function startFleet(): Promise<Fleet> {
  const vendors = await startFakes();
  const service = await startTestService({ environment: environmentOf(vendors) });
  await enableAll(service.operator);
  return {
    service,
    vendors,
    clientOf: async (...providers) => {
      const client = await service.client({ postRate: '1000', maxConcurrent: '200' });
      await service.operator.accounts.change(client.account.id, { providers });
      return client;
    },
    end: async () => {
      await service.end();
      await Promise.all(Object.values(vendors).map((vendor) => vendor.stop()));
    },
  };
}
