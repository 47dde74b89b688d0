/**
 * The whole service on one machine, with a fake of every vendor and its credential, and with servers of an operator.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import type { OperatorServices } from '../../admin/services.ts';
import type { VendorName } from '../../service/catalog/providers.ts';
import { type RunningService, startService } from '../../start/service.ts';
import { fakes, vendorNames } from './fakes/all-fakes.ts';
import type { Fake } from './fakes/facts.ts';
import { everywhereRows, type FakeVendor, type Paint, type VendorRow } from './fakes/fake-vendor.ts';
import {
  addOwnServers,
  type OwnServerName,
  ownServerNames,
  ownServers,
  startOwnServers,
} from './own-servers.ts';

export interface Fleet {
  readonly service: RunningService;
  /** The API key of a new account that may use this provider alone. */
  keyFor(provider: string): Promise<string>;
  end(): Promise<void>;
}

/** A vendor that is built in, or a server of an operator. */
export type FleetName = VendorName | OwnServerName;
export const fleetFakes: Readonly<Record<FleetName, Fake>> = { ...fakes, ...ownServers };
export const fleetNames: readonly FleetName[] = [...vendorNames, ...ownServerNames];

/** Every way in which a vendor of the fleet can answer. */
export function rowsOf(name: FleetName): readonly VendorRow[] {
  return [...fleetFakes[name].rows, ...everywhereRows];
}

/** Starts the fakes of all vendors. */
export async function startFakes(paint?: Paint): Promise<ReadonlyMap<VendorName, FakeVendor>> {
  return new Map(
    await Promise.all(vendorNames.map(async (name) => [name, await fakes[name].start(paint)] as const)),
  );
}

/** The environment variable with the addresses of the fakes for the functions. */
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
  const [vendors, own] = await Promise.all([startFakes(), startOwnServers()]);
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-vendors-'));
  const service = await startService({
    folder,
    port: 0,
    strictOutbound: false,
    // The thumbnails take more of a processor than all else of a creation.
    environment: { ...environmentOf(vendors), THUMBNAILS: 'off' },
  });
  const { operator, machine } = service;
  await enableAll(operator);
  await addOwnServers(operator, own);
  return {
    service,
    keyFor: async (provider) => {
      const account = await createAccount(operator, { name: provider, balance: '25' });
      await operator.accounts.change(account.id, { providers: [provider] });
      return (await issueKey(operator, account, { name: provider })).key;
    },
    end: async () => {
      await machine.stop();
      await rm(folder, { recursive: true, force: true });
      await Promise.all([...vendors.values(), ...own.values()].map((fake) => fake.stop()));
    },
  };
}
