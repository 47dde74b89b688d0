/**
 * Every row of the table of every vendor, and of every server that an operator configures, from the request to the
 * webhook. The fake answers as the vendor documents. The client gets the failure's fixed message, the refund and
 * one webhook.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fieldsOf, pictureOf, pngWith, type VendorRow } from '../../../lab/vendors/fakes/fake-vendor.ts';
import { fleetFakes, fleetNames, rowsOf } from '../../../lab/vendors/fleet.ts';
import { type FailureName, failures } from '../../../service/contract/failures.ts';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import type { Client } from '../../fixtures/service.ts';
import { answering, type ImageOrigin, startImageOrigin } from '../../whole/image-origin.ts';
import { movementsOf, settled, submit } from '../../whole/workflow/creations.ts';
import { type Receiver, startReceiver } from '../../whole/workflow/receiver.ts';
import { startTestFleet, type TestFleet } from './fleet.ts';

const fakes = new Map(Object.entries(fleetFakes));
const rows = fleetNames.flatMap((vendor) => rowsOf(vendor).map((row) => ({ vendor, ...row })));
/** A word of the prompt. Only the record and the answers to the client may contain it. */
const promptWord = 'lighthouse';

let fleet: TestFleet;
let receiver: Receiver;
let origin: ImageOrigin;
const rowsAtOnce = 12;
const anyText: unknown = expect.any(String);
const keyOf = (vendor: string, { row }: VendorRow): string => `${vendor} ${row}`;
/** How each row ended. The rows run in the order of the tests, so no test waits long for its row. */
const runs = new Map(rows.map((row) => [keyOf(row.vendor, row), Promise.withResolvers<Ran | Error>()]));
const clients = new Map<string, Client>();
let allRuns: Promise<unknown>;
beforeAll(async () => {
  [fleet, receiver, origin] = await Promise.all([startTestFleet(), startReceiver(), startImageOrigin()]);
  for (const vendor of fakes.keys()) clients.set(vendor, await fleet.clientOf(vendor));
  // The rows run in parallel, since a row mostly waits between polls.
  const queue = rows.values();
  allRuns = Promise.all(
    Array.from({ length: rowsAtOnce }, async () => {
      for (const row of queue) {
        const ended = run(row.vendor, row).catch((error: unknown) =>
          error instanceof Error ? error : new Error(String(error)),
        );
        runs.get(keyOf(row.vendor, row))?.resolve(await ended);
      }
    }),
  );
});
afterAll(async () => {
  await allRuns;
  await Promise.all([receiver.close(), origin.close()]);
  await fleet.end();
});

interface Ran {
  readonly record: CreationRecord;
  readonly client: Client;
  readonly hook: string;
}

/** Of another colour than what the fakes paint. */
const darkSource = pngWith(512, 512, 0, Buffer.alloc(513 * 512, 0x20));
/** White above, and black below. */
const maskOfHalf = pngWith(
  512,
  512,
  0,
  Buffer.concat([Buffer.alloc(513 * 256, 0xff), Buffer.alloc(513 * 256)]),
);

/** Runs one row until the creation and its webhook have ended. */
async function run(vendor: string, { row, sources = 0, isMasked, fields }: VendorRow): Promise<Ran> {
  const client = clients.get(vendor);
  if (!client) throw new Error(`no client of ${vendor}`);
  const hook = `${vendor}-${row}`;
  const colour = isMasked ? darkSource : pictureOf('png', 512, 512);
  const image = origin.at(isMasked ? '/dark.png' : '/source.png', answering(200, colour));
  const id = await submit(fleet.service, client.key, {
    model: fakes.get(vendor)?.model ?? '',
    prompt: `a ${promptWord} in a storm [row:${row}]`,
    webhook_url: receiver.hook(hook, 200),
    ...(sources > 0 && { image_urls: Array.from({ length: sources }, () => image) }),
    ...(isMasked && { mask_url: origin.at('/mask.png', answering(200, maskOfHalf)) }),
    ...fields,
  });
  // The webhook comes last. Waiting for it costs no CPU time; reading the record again and again does.
  await receiver.until(hook, 1);
  return { record: await settled(fleet.service, id), client, hook };
}

describe('a creation with one provider', () => {
  it.each(rows)('whose vendor $vendor answers "$row" ($says) ends as $ends', async ({ vendor, ...row }) => {
    const ran = await runs.get(keyOf(vendor, row))?.promise;
    if (!ran || ran instanceof Error) throw ran ?? new Error('the row was not run');
    const { record, client, hook } = ran;
    const tried = JSON.stringify(record.attempts);
    expect({ row: row.row, ends: record.failure ?? record.status }, tried).toEqual({
      row: row.row,
      ends: row.ends,
    });

    const answer = await fleet.service.send(`/creations/${record.id}`, { key: client.key });
    const body: unknown = answer.body;
    expect(body).toMatchObject(
      row.ends === 'completed' ? { status: 'completed', amount_refunded: 0 } : failedWith(row.ends),
    );
    expect(await movementsOf(fleet.service, record)).toEqual(
      row.ends === 'completed' ? ['charge'] : ['charge', 'refund'],
    );
    expect(receiver.arrivals(hook).map(({ headers }) => headers['x-webhook-event'])).toEqual([
      row.ends === 'completed' ? 'creation.completed' : 'creation.failed',
    ]);

    // The client's own model, prompt and webhook address may name the vendor. Nothing else in the answer may, and
    // only the code provider_unavailable has the word.
    expect(
      JSON.stringify({ ...fieldsOf(body), error_code: '', model: '', prompt: '', webhook: {} }),
    ).not.toMatch(new RegExp(`\\b${vendor}\\b|provider|HTTP [0-9]`));
    // A vendor that names the moment is asked five times. No other answer is asked for twice.
    const asks = row.row === 'throttled-for-a-second' ? 5 : 1;
    expect(record.attempts).toHaveLength(asks);
    for (const attempt of record.attempts)
      expect(attempt).toMatchObject({
        provider: vendor,
        outcome: row.ends === 'completed' ? 'rendered' : anyText,
      });
    if (row.ends === 'completed') await expectPicture(completedSchema.parse(body));
  });
});

const completedSchema = z.object({
  output_format: z.string(),
  results: z.array(
    z.object({
      url: z.string(),
      width: z.number(),
      height: z.number(),
      content_type: z.string(),
      bytes: z.number(),
    }),
  ),
});

function failedWith(failure: FailureName): object {
  const { message, code, retryable } = failures[failure];
  return {
    status: 'failed',
    error: message,
    error_code: code,
    retryable,
    webhook: { status: 'delivered', attempts: 1 },
  };
}

async function expectPicture({
  output_format: format,
  results: [image],
}: z.infer<typeof completedSchema>): Promise<void> {
  const response = await fetch(image?.url ?? '');
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect({ type: response.headers.get('content-type'), bytes: bytes.byteLength }).toEqual({
    type: `image/${format}`,
    bytes: image?.bytes,
  });
  expect(image?.content_type).toBe(`image/${format}`);
  expect(Math.min(image?.width ?? 0, image?.height ?? 0)).toBeGreaterThanOrEqual(512);
}

describe('after all rows', () => {
  it('the books balance', async () => {
    expect(await fleet.service.audit()).toEqual([]);
  });

  it('no log line and no execution history contains a credential, a prompt or the address of an image', () => {
    const written = [...fleet.service.log, JSON.stringify(fleet.service.machine.executions.list())].join(
      '\n',
    );
    expect(written.length).toBeGreaterThan(1_000);
    const secrets = [...fakes.values()].flatMap(({ key }) => key ?? []);
    for (const secret of [promptWord, ...secrets, ...[...clients.values()].map(({ key }) => key)])
      expect(written).not.toContain(secret);
    expect(written).not.toMatch(/https?:\/\/|X-Amz-|[?&]sig(nature)?=/i);
  });
});
