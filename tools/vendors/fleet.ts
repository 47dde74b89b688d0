/** The whole service on one machine, with a fake of every vendor and its credential. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { startService, type RunningService } from '../../start/service.ts';
import { fakes, vendorNames, type VendorName } from './fakes/all-fakes.ts';
import type { FakeVendor } from './fakes/fake-vendor.ts';
import type { Paint } from './fakes/pictures.ts';

export interface Fleet {
  readonly service: RunningService;
  /** The API key of a new account that may use this vendor alone. */
  keyFor(vendor: VendorName): Promise<string>;
  end(): Promise<void>;
}

/** Starts the fakes of all vendors. */
export async function startFakes(paint?: Paint): Promise<ReadonlyMap<VendorName, FakeVendor>> {
  return new Map(
    await Promise.all(vendorNames.map(async (name) => [name, await fakes[name].start(paint)] as const)),
  );
}

/** The environment variable that tells the functions the addresses of the fakes. */
export function environmentOf(
  vendors: Iterable<readonly [name: string, vendor: FakeVendor]>,
): Readonly<Record<string, string>> {
  const addresses = [...vendors].map(([name, { url }]) => [name, url]);
  return { PROVIDER_BASE_URLS: JSON.stringify(Object.fromEntries(addresses)) };
}

/** Sets the key of every vendor and enables it. The keys share one secret, so the vendors take turns. */
export async function enableAll({
  credentials,
  providers,
}: Pick<OperatorServices, 'credentials' | 'providers'>): Promise<void> {
  for (const name of vendorNames) {
    const { key } = fakes[name];
    if (key !== undefined) await credentials.set(name, key);
    await providers.enable(name);
  }
}

export async function startFleet(): Promise<Fleet> {
  const vendors = await startFakes();
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-vendors-'));
  const service = await startService({
    folder,
    port: 0,
    strictOutbound: false,
    environment: environmentOf(vendors),
  });
  const { operator, machine } = service;
  await enableAll(operator);
  return {
    service,
    keyFor: async (vendor) => {
      const account = await createAccount(operator, { name: vendor, balance: '25' });
      await operator.accounts.change(account.id, { providers: [vendor] });
      return (await issueKey(operator, account, { name: vendor })).key;
    },
    end: async () => {
      await machine.stop();
      await rm(folder, { recursive: true, force: true });
      await Promise.all([...vendors.values()].map((vendor) => vendor.stop()));
    },
  };
}
