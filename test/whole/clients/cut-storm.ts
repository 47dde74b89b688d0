/** Many calls of the unmodified openai library through the cutting proxy, and what the books say of them. */
import OpenAI, { toFile } from 'openai';
import { type CreationRecord, isTerminal } from '../../../service/creations/creation.ts';
import type { TestService } from '../../fixtures/service.ts';
import { png } from '../image-origin.ts';
import { recordWhen } from '../workflow/creations.ts';
import { type Cut, startCuttingProxy } from './cutting-proxy.ts';

export interface CutStorm {
  readonly service: TestService;
  readonly account: { readonly id: CreationRecord['accountId']; readonly key: string };
  readonly model: string;
  readonly calls: number;
  /** How many calls are open at once. */
  readonly atOnce: number;
  readonly seed: number;
  readonly share: number;
}

/** One call of the program: what the library may repeat, and pays at most `n` pictures for. */
interface Call {
  readonly prompt: string;
  readonly n: number;
  readonly form: 'json' | 'stream' | 'edit';
}

export interface CutStormResult {
  readonly made: Readonly<Record<Cut, number>>;
  /** Requests that the proxy saw, of which the library sent some again. */
  readonly received: number;
  /** Calls that gave all their pictures, and the errors of the others by class. */
  readonly done: number;
  readonly errors: Readonly<Record<string, number>>;
  /** Prompts for which more was paid than their calls asked for. */
  readonly overpaid: readonly string[];
  /** Creations that were paid, and those of them whose picture can be had. */
  readonly paid: number;
  readonly had: number;
}

/**
 * Every fourth prompt belongs to four equal calls that run at the same time. Every tenth prompt asks for two
 * pictures, every seventh for a stream, and every fifth sends a file.
 */
function callsOf(count: number): Call[] {
  const calls: Call[] = [];
  for (let prompt = 0; calls.length < count; prompt += 1) {
    const form = prompt % 7 === 6 ? 'stream' : prompt % 5 === 3 ? 'edit' : 'json';
    const call: Call = { prompt: `lake ${prompt}`, n: prompt % 10 === 9 ? 2 : 1, form };
    for (let same = 0; same < (prompt % 4 === 0 ? 4 : 1); same += 1) calls.push(call);
  }
  return calls.slice(0, count);
}

export async function runCutStorm(storm: CutStorm): Promise<CutStormResult> {
  const { service, account, model, atOnce, seed, share } = storm;
  const proxy = await startCuttingProxy({ target: service.machine.openaiUrl, seed, share });
  const calls = callsOf(storm.calls);
  const errors: Record<string, number> = {};
  let done = 0;
  try {
    const openai = new OpenAI({ apiKey: account.key, baseURL: proxy.url });
    await inLanes(calls, atOnce, async (call) => {
      try {
        const pictures = await picturesOf(openai, model, call);
        if (pictures === call.n) done += 1;
      } catch (error) {
        const { name } = (error as Error).constructor;
        errors[name] = (errors[name] ?? 0) + 1;
      }
    });
  } finally {
    await proxy.stop();
  }
  const creations = await allEnded(service, account.id);
  const paid = creations.filter(({ refundedMicros }) => refundedMicros === 0);
  return {
    made: proxy.made,
    received: proxy.received(),
    done,
    errors,
    overpaid: overpaid(calls, paid),
    paid: paid.length,
    had: await picturesAtHand(service, account.key, new Set(paid.map(({ id }) => id as string))),
  };
}

async function picturesOf(openai: OpenAI, model: string, { prompt, n, form }: Call): Promise<number> {
  if (form === 'edit') {
    const image = await toFile(png(64, 64), 'lake.png', { type: 'image/png' });
    return (await openai.images.edit({ model, prompt, n, image })).data?.length ?? 0;
  }
  if (form === 'json') return (await openai.images.generate({ model, prompt, n })).data?.length ?? 0;
  let pictures = 0;
  for await (const event of await openai.images.generate({ model, prompt, n, stream: true })) {
    if (event.type === 'image_generation.completed') pictures += 1;
  }
  return pictures;
}

async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let item = items[next]; item !== undefined; item = items[next]) {
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** All creations of the account, once each of them has ended. */
async function allEnded(
  service: TestService,
  accountId: CreationRecord['accountId'],
): Promise<readonly CreationRecord[]> {
  const creations = await service.operator.creations.list(accountId, 100_000);
  return Promise.all(
    creations.map(async ({ id }) => recordWhen(service, id, ({ status }) => isTerminal(status))),
  );
}

function overpaid(calls: readonly Call[], paid: readonly CreationRecord[]): string[] {
  const asked = new Map<string, number>();
  for (const { prompt, n } of calls) asked.set(prompt, (asked.get(prompt) ?? 0) + n);
  return [...asked].flatMap(([prompt, most]) => {
    const count = paid.filter((creation) => creation.prompt === prompt).length;
    return count > most ? [`${prompt}: ${count} paid, ${most} asked`] : [];
  });
}

/** How many of the creations the client finds by GET /creations, with a picture that can be fetched. */
async function picturesAtHand(
  service: TestService,
  key: string,
  wanted: ReadonlySet<string>,
): Promise<number> {
  let had = 0;
  let cursor: string | null = null;
  do {
    const page = await service.send(
      `/creations?limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      { key },
    );
    const { data, next_cursor } = page.body as {
      readonly data: readonly {
        readonly id: string;
        readonly results?: readonly { readonly url: string }[];
      }[];
      readonly next_cursor: string | null;
    };
    for (const { id, results = [] } of data) {
      if (!wanted.has(id) || results[0] === undefined) continue;
      const bytes = Buffer.from(await (await fetch(results[0].url)).arrayBuffer());
      if (bytes.subarray(1, 4).toString('latin1') === 'PNG') had += 1;
    }
    cursor = next_cursor;
  } while (cursor !== null);
  return had;
}
