/**
 * Lets several renderers compete for one creation. A seed decides after which request which renderer goes on,
 * and how long each of them stands still, so that leases run out between any two requests.
 */
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { createDirectClient } from '../../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable } from '../../../lab/simulation/aws/simulated-table.ts';
import { createDice, type Dice } from '../../../lab/simulation/world/dice.ts';
import type { Table } from '../../../service/aws/dynamodb/table.ts';
import { creationToItem } from '../../../service/creations/creation-items.ts';
import { fakeClock, stub } from '../../api/fakes.ts';
import { aCreation, creationId, now, seededBytes } from '../../fixtures/records.ts';
import type { Release } from './renderers.ts';

export interface Course {
  /** What went wrong. Empty when no two renderers worked at once. */
  readonly wrong: readonly string[];
  /** Who took the creation over from whom, as "older>newer" by the names of their releases. */
  readonly takeovers: readonly string[];
  /** The number of saves that came too late and were refused. */
  readonly fenced: number;
}

const leaseMillis = 6_000;
const steps = 120;

/** The gate of one renderer. Each of its requests waits there until it is its turn. */
interface Gate {
  readonly pass: () => Promise<void>;
  /** Lets one request through and waits for the next one. */
  readonly step: () => Promise<void>;
}

function createGate(): Gate {
  let open = Promise.withResolvers<undefined>();
  let arrived = Promise.withResolvers<undefined>();
  return {
    pass: async () => {
      const mine = Promise.withResolvers<undefined>();
      open = mine;
      arrived.resolve(undefined);
      await mine.promise;
    },
    step: async () => {
      await arrived.promise;
      arrived = Promise.withResolvers<undefined>();
      open.resolve(undefined);
      await arrived.promise;
    },
  };
}

/** Runs the renderers of these releases with this seed. */
export async function compete(releases: Readonly<Record<string, Release>>, seed: number): Promise<Course> {
  const dice = createDice(seed);
  let time = now;
  const memory = createSimulatedTable({ now: () => time });
  const client = createDirectClient((operation, input) => memory.perform(operation, input));
  await client.send(new PutCommand({ TableName: 'table', Item: creationToItem(aCreation()) }));
  const course = { wrong: [] as string[], takeovers: [] as string[], fenced: 0 };
  /** Until when each renderer may believe that it alone works, and who took the creation last. */
  const believed = new Map<string, number>();
  let latest: { readonly renderer: string; readonly holder: string } | undefined;
  let saved = 0;

  async function render(name: string, gate: Gate): Promise<never> {
    const table: Table = {
      name: 'table',
      clock: fakeClock(),
      randomBytes: seededBytes,
      client: stub<DynamoDBDocumentClient>({
        send: async (command: Parameters<typeof client.send>[0]) => {
          await gate.pass();
          return client.send(command);
        },
      }),
    };
    const lease = releases[name.split(' ')[0] ?? '']?.(table, creationId);
    if (!lease) throw new Error(`there is no release ${name}`);
    for (let run = 1; ; run += 1) {
      const holder = `${name} ${run}`;
      const until = time + leaseMillis;
      const creation = await lease.take(holder, until, time);
      if (!creation) continue;
      for (const [other, end] of believed)
        if (other !== name && end > time) course.wrong.push(`${holder} took the lease of ${other}`);
      if (creation.attempts.length !== saved) course.wrong.push(`${holder} does not see all attempts`);
      if (latest) course.takeovers.push(`${latest.renderer.split(' ')[0] ?? ''}>${name.split(' ')[0] ?? ''}`);
      latest = { renderer: name, holder };
      believed.set(name, until);
      for (let work = 1; dice.chance(`${holder} works on ${work}`, 0.85); work += 1) {
        if (dice.chance(`${holder} saves ${work}`, 0.4)) {
          const attempts = Array.from({ length: saved + 1 }, () => attempt);
          const isSaved = await lease.save(holder, attempts);
          if (isSaved && latest.holder !== holder)
            course.wrong.push(`${holder} saved after ${latest.holder}`);
          if (isSaved) saved = attempts.length;
          else course.fenced += 1;
        } else {
          const end = time + leaseMillis;
          if (await lease.renew(holder, end)) believed.set(name, end);
        }
      }
      believed.delete(name);
      if (dice.chance(`${holder} gives back`, 0.3)) await lease.renew(holder, time);
    }
  }

  const names = Object.keys(releases).flatMap((release) => [`${release} 1`, `${release} 2`]);
  const gates = names.map((name) => {
    const gate = createGate();
    render(name, gate).catch((error: unknown) => course.wrong.push(String(error)));
    return gate;
  });
  for (let step = 0; step < steps; step += 1) {
    if (dice.chance(`time ${step}`, 0.5)) time += pauseOf(dice, step);
    await gates[dice.between(`turn ${step}`, 0, gates.length - 1)]?.step();
  }
  return course;
}

const attempt = { provider: 'sandbox', providerModel: 'standard', startedAt: '', resultKey: 'results/x.png' };

function pauseOf(dice: Dice, step: number): number {
  return dice.between(`pause ${step}`, 1, dice.chance(`long pause ${step}`, 0.2) ? 9_000 : 1_500);
}
