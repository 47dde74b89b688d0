/** `npm run demo`: one prompt through everything, in a temporary folder, and the picture to keep. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pc from 'picocolors';
import { asMicros, formatUsd, fromUsd, type Micros } from '../core/money.ts';
import { startService, type RunningService } from '../start/service.ts';

const prompt = 'A quiet mountain lake under the northern lights';
const patienceMillis = 20_000;

interface Creation {
  readonly id: string;
  readonly status: string;
  readonly cost: number;
  readonly error?: string;
  readonly result_urls?: readonly string[];
  readonly results?: readonly {
    readonly width: number;
    readonly height: number;
    readonly bytes: number;
    readonly content_type: string;
  }[];
}

const started = performance.now();

function say(line: string): void {
  console.log(`${pc.dim(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s`)}  ${line}`);
}

async function api<Answer>({ machine, demo }: RunningService, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${machine.apiUrl}${path}`, {
    headers: { authorization: `Bearer ${demo.key}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer;
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

async function available({ operator, demo }: RunningService): Promise<Micros> {
  return (await operator.accounts.read(demo.accountId))?.availableMicros ?? asMicros(0);
}

/** Polls, as a client would, until the creation has ended. */
async function outcome(service: RunningService, id: string): Promise<Creation> {
  let last = '';
  for (const until = performance.now() + patienceMillis; performance.now() < until;) {
    const creation = await api<Creation>(service, `/creations/${id}`);
    if (creation.status !== last) say(creation.status);
    last = creation.status;
    if (last === 'completed') return creation;
    if (last === 'failed') throw new Error(`the creation failed: ${creation.error ?? ''}`);
    await sleep(1_100);
  }
  throw new Error(`the creation was still ${last} after ${patienceMillis / 1000} s`);
}

async function verifiedWebhook({ machine }: RunningService, id: string): Promise<string> {
  for (const until = performance.now() + patienceMillis; performance.now() < until;) {
    const { data } = (await (await fetch(machine.inboxUrl)).json()) as {
      data: { id: string; event: string; verified: boolean; verification: string }[];
    };
    const webhook = data.find((received) => received.id === id);
    if (webhook && !webhook.verified)
      throw new Error(`the webhook's signature is wrong: ${webhook.verification}`);
    if (webhook) return webhook.event;
    await sleep(100);
  }
  throw new Error('no webhook arrived');
}

/** Kept where the person is, not in the folder that goes. */
async function keepImage(creation: Creation): Promise<string> {
  const response = await fetch(creation.result_urls?.[0] ?? '');
  if (!response.ok) throw new Error(`the image could not be fetched: ${response.status}`);
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-image-'));
  const path = join(folder, `${creation.id}.png`);
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
  return path;
}

async function demo(folder: string): Promise<void> {
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
    const { id } = await api<Creation>(service, '/images/generate', request);
    say(`accepted as ${id}`);
    const creation = await outcome(service, id);
    say(`webhook ${await verifiedWebhook(service, id)}: ${pc.green('signature verified')}`);
    const path = await keepImage(creation);
    const [image] = creation.results ?? [];
    say(
      `${image?.width ?? 0} x ${image?.height ?? 0} pixels, ${image?.content_type ?? ''}, ${Math.round((image?.bytes ?? 0) / 1024)} KiB`,
    );
    console.log(`\nimage: ${path}`);
    console.log(`cost: ${formatUsd(fromUsd(creation.cost))}`);
    console.log(`wallet: ${formatUsd(before)} before, ${formatUsd(await available(service))} after`);
  } finally {
    await service.machine.stop();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'darkroom-demo-'));
try {
  await demo(folder);
} catch (error) {
  console.error(`The demo failed: ${error instanceof Error ? error.message : String(error)}.`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
