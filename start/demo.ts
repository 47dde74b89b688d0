/** `npm run demo`: one prompt through the whole service, in a temporary folder. The picture stays. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pc from 'picocolors';
import * as z from 'zod';
import { asMicros, formatUsd, fromUsd, type Micros } from '../service/values/money.ts';
import { startService, type RunningService } from './service.ts';

const prompt = 'A quiet mountain lake under the northern lights';
const patienceMillis = 20_000;

const creationSchema = z.object({
  id: z.string(),
  status: z.string(),
  cost: z.number(),
  error: z.string().nullish(),
  result_urls: z.array(z.string()).optional(),
  results: z
    .array(z.object({ width: z.number(), height: z.number(), bytes: z.number(), content_type: z.string() }))
    .optional(),
});
type Creation = z.infer<typeof creationSchema>;

const inboxSchema = z.object({
  data: z.array(
    z.object({
      id: z.string().nullable(),
      event: z.string().nullable(),
      verified: z.boolean(),
      verification: z.string(),
    }),
  ),
});

type Say = (line: string) => void;

/** Runs the demo. A failure is printed as one sentence. Returns the exit code. */
export async function runDemo(print: Say, complain: Say): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-demo-'));
  try {
    await demo(folder, print);
    return 0;
  } catch (error) {
    complain(`The demo failed: ${error instanceof Error ? error.message : String(error)}.`);
    return 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints each line with the seconds since the start. */
function stopwatch(print: Say): Say {
  const started = performance.now();
  return (line) => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    print(`${pc.dim(`${seconds.padStart(5)} s`)}  ${line}`);
  };
}

async function demo(folder: string, print: Say): Promise<void> {
  const say = stopwatch(print);
  const service = await startService({ folder, port: 0, strictOutbound: false, onProgress: say });
  try {
    say(`the service runs at ${service.machine.apiUrl}`);
    const before = await available(service);
    say(`prompt: ${JSON.stringify(prompt)}`);
    const request = {
      model: 'sandbox-standard',
      prompt,
      aspect_ratio: '3:2',
      webhook_url: service.machine.inboxUrl,
    };
    const { id } = creationSchema.parse(await api(service, '/images/generate', request));
    say(`accepted as ${id}`);
    say(`webhook ${await verifiedWebhook(service, id)}: ${pc.green('signature verified')}`);
    const creation = await completed(service, id);
    const path = await keepImage(creation);
    say(`${creation.status}: ${imageLine(creation)}`);
    print(`\nimage: ${path}`);
    print(`cost: ${formatUsd(fromUsd(creation.cost))}`);
    print(`wallet: ${formatUsd(before)} before, ${formatUsd(await available(service))} after`);
  } finally {
    await service.machine.stop();
  }
}

/** Sends a request as a client would. Throws unless the answer is a success. */
async function api(
  { machine, demo: account }: RunningService,
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(`${machine.apiUrl}${path}`, {
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

async function available({ operator, demo: { accountId } }: RunningService): Promise<Micros> {
  return (await operator.accounts.read(accountId))?.availableMicros ?? asMicros(0);
}

/** Reads the creation, as a client would after the webhook. Throws when the creation has failed. */
async function completed(service: RunningService, id: string): Promise<Creation> {
  const creation = creationSchema.parse(await api(service, `/creations/${id}`));
  if (creation.status !== 'completed') throw new Error(`the creation failed: ${creation.error ?? ''}`);
  return creation;
}

/** Waits for the webhook and returns its event. Throws when the signature is wrong. */
async function verifiedWebhook({ machine }: RunningService, id: string): Promise<string> {
  for (const until = performance.now() + patienceMillis; performance.now() < until;) {
    const { data } = inboxSchema.parse(await (await fetch(machine.inboxUrl)).json());
    const webhook = data.find((received) => received.id === id);
    if (webhook && !webhook.verified)
      throw new Error(`the webhook's signature is wrong: ${webhook.verification}`);
    if (webhook) return String(webhook.event);
    await sleep(50);
  }
  throw new Error('no webhook arrived');
}

/** Saves the image in a folder of its own, since the folder of the service is removed at the end. */
async function keepImage(creation: Creation): Promise<string> {
  const response = await fetch(creation.result_urls?.[0] ?? '');
  if (!response.ok) throw new Error(`the image could not be fetched: ${response.status}`);
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-image-'));
  const path = join(folder, `${creation.id}.png`);
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
  return path;
}

function imageLine({ results: [image] = [] }: Creation): string {
  const size = `${image?.width ?? 0} x ${image?.height ?? 0} pixels`;
  return `${size}, ${image?.content_type ?? ''}, ${Math.round((image?.bytes ?? 0) / 1024)} KiB`;
}
