/**
 * Every row of every vendor's table, from the request to the webhook: the fake answers as
 * the vendor's documentation says, and the client gets the fixed message, the refund and
 * one webhook.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../core/creation.ts';
import { failures, type FailureName } from '../../core/failure.ts';
import { answering, startImageOrigin, type ImageOrigin } from '../api/image-origin.ts';
import type { Client } from '../fixtures/service.ts';
import type { VendorRow } from '../../tools/vendors/fakes/fake-vendor.ts';
import { fakes, type VendorName } from '../../tools/vendors/fakes/all-fakes.ts';
import { pictureOf } from '../../tools/vendors/fakes/pictures.ts';
import { movementsOf, settled, submit } from '../workflow/creations.ts';
import { startReceiver, type Receiver } from '../workflow/receiver.ts';
import { startFleet, type Fleet } from './fleet.ts';

const vendorNames = Object.keys(fakes) as VendorName[];
const rows = vendorNames.flatMap((vendor) => fakes[vendor].rows.map((row) => ({ vendor, ...row })));
/** What must be found nowhere but in the record and the client's own answers. */
const promptWord = 'lighthouse';

let fleet: Fleet;
let receiver: Receiver;
let origin: ImageOrigin;
const rowsAtOnce = 12;
const runs = new Map<string, Ran | Error>();
const keyOf = (vendor: VendorName, { row }: VendorRow): string => `${vendor} ${row}`;
const clients = new Map<VendorName, Client>();
beforeAll(async () => {
  [fleet, receiver, origin] = await Promise.all([startFleet(), startReceiver(), startImageOrigin()]);
  for (const vendor of vendorNames) clients.set(vendor, await fleet.clientOf(vendor));
  // Side by side: most of a row's time is waiting between polls.
  const queue = rows.values();
  await Promise.all(
    Array.from({ length: rowsAtOnce }, async () => {
      for (const row of queue) {
        const ended = run(row.vendor, row).catch((error: unknown) => error as Error);
        runs.set(keyOf(row.vendor, row), await ended);
      }
    }),
  );
});
afterAll(async () => {
  await Promise.all([receiver.close(), origin.close()]);
  await fleet.end();
});

interface Ran {
  readonly record: CreationRecord;
  readonly client: Client;
  readonly hook: string;
}

/** One row, to its settled end. */
async function run(vendor: VendorName, { row, sources = 0 }: VendorRow): Promise<Ran> {
  const client = clients.get(vendor);
  if (!client) throw new Error(`no client of ${vendor}`);
  const hook = `${vendor}-${row}`;
  const image = origin.at('/source.png', answering(200, pictureOf('png', 512, 512)));
  const id = await submit(fleet.service, client.key, {
    model: fakes[vendor].model,
    prompt: `a ${promptWord} in a storm [row:${row}]`,
    webhook_url: receiver.hook(hook, 200),
    ...(sources > 0 && { image_urls: Array.from({ length: sources }, () => image) }),
  });
  // Its webhook comes last, and costs nothing to wait for; reading the record again and again does.
  await receiver.until(hook, 1);
  return { record: await settled(fleet.service, id), client, hook };
}

describe('a creation whose only provider', () => {
  it.each(rows)('$vendor answers "$row" ($says) ends as $ends', async ({ vendor, ...row }) => {
    const ran = runs.get(keyOf(vendor, row));
    if (!ran || ran instanceof Error) throw ran ?? new Error('it was not run');
    const { record, client, hook } = ran;
    const tried = JSON.stringify(record.attempts);
    expect({ row: row.row, ends: record.failure ?? record.status }, tried).toEqual({
      row: row.row,
      ends: row.ends,
    });

    const { body } = (await fleet.service.send(`/creations/${record.id}`, { key: client.key })) as {
      body: Completed;
    };
    expect(body).toMatchObject(
      row.ends === 'completed' ? { status: 'completed', amount_refunded: 0 } : failedWith(row.ends),
    );
    expect(await movementsOf(fleet.service, record)).toEqual(
      row.ends === 'completed' ? ['charge'] : ['charge', 'refund'],
    );
    expect(receiver.arrivals(hook).map(({ headers }) => headers['x-webhook-event'])).toEqual([
      row.ends === 'completed' ? 'creation.completed' : 'creation.failed',
    ]);

    // Nothing of the vendor reaches the client, whose own prompt and address apart; all of it the operator.
    expect(JSON.stringify({ ...body, prompt: '', webhook: {} })).not.toMatch(
      new RegExp(`\\b${vendor}\\b|provider|HTTP [0-9]`),
    );
    expect(record.attempts).toMatchObject([
      { provider: vendor, outcome: row.ends === 'completed' ? 'rendered' : (expect.any(String) as string) },
    ]);
    if (row.ends === 'completed') await expectPicture(body);
  });
});

interface Completed {
  readonly output_format: string;
  readonly results: readonly {
    readonly url: string;
    readonly width: number;
    readonly height: number;
    readonly content_type: string;
    readonly bytes: number;
  }[];
}

function failedWith(failure: FailureName): object {
  const { message, retryable } = failures[failure];
  return { status: 'failed', error: message, retryable, webhook: { status: 'delivered', attempts: 1 } };
}

async function expectPicture({ output_format: format, results: [image] }: Completed): Promise<void> {
  const response = await fetch(image?.url ?? '');
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect({ type: response.headers.get('content-type'), bytes: bytes.byteLength }).toEqual({
    type: `image/${format}`,
    bytes: image?.bytes,
  });
  expect(image?.content_type).toBe(`image/${format}`);
  expect(Math.min(image?.width ?? 0, image?.height ?? 0)).toBeGreaterThanOrEqual(512);
}

describe('after all of it', () => {
  it('the books balance', async () => {
    expect(await fleet.service.audit()).toEqual([]);
  });

  it('no credential, no prompt and no address of an image stands in a log line or an execution history', () => {
    const written = [...fleet.service.log, JSON.stringify(fleet.service.machine.executions.list())].join(
      '\n',
    );
    expect(written.length).toBeGreaterThan(1_000);
    const secrets = Object.values(fakes).flatMap(({ key }) => key ?? []);
    for (const secret of [promptWord, ...secrets, ...[...clients.values()].map(({ key }) => key)])
      expect(written).not.toContain(secret);
    expect(written).not.toMatch(/https?:\/\/|X-Amz-|[?&]sig(nature)?=/i);
  });
});
