/** The listener alone, with a log of events in memory: no event is skipped, whenever it is killed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../../client/command/listen/cursor-file.ts';
import type { Forwarded } from '../../../client/command/listen/forward.ts';
import {
  createListener,
  type Delivery,
  type ListenerOptions,
} from '../../../client/command/listen/listener.ts';
import { ConnectionError } from '../../../client/src/errors.ts';
import type { Event, EventPage } from '../../../client/src/types/generated.ts';

class Killed extends Error {}

const eventOf = (number: number): Event =>
  ({
    id: `evt_${number}`,
    event: number % 3 === 0 ? 'creation.failed' : 'creation.completed',
    created_at: new Date(number * 1000).toISOString(),
    payload: { id: `c${number}`, event: 'creation.completed' },
    redelivery_of: null,
  }) as unknown as Event;

const ok: Forwarded = { kind: 'answered', status: 200 };
const away: Forwarded = { kind: 'away', code: 'ECONNREFUSED' };

/** A world that outlives listeners: the log of the service, the cursor on disk, and the local server. */
function newWorld(count: number) {
  const log = Array.from({ length: count }, (_item, index) => eventOf(index));
  const world = {
    log,
    disk: undefined as Place | undefined,
    arrived: [] as string[],
    told: [] as string[],
    delivered: [] as Delivery[],
    slept: [] as number[],
    /** Called before each step of a listener. Throws to kill it. */
    step: (_what: string): void => undefined,
    answer: (_event: Event): Forwarded => ok,
    pageSize: 3,
    start: (more: Partial<ListenerOptions> = {}) => {
      const stop = new AbortController();
      const options: ListenerOptions = {
        read: async ({ after }) => {
          world.step('read');
          const from = after === undefined ? log.length : Number(after);
          const data = log.slice(from, from + world.pageSize);
          const page: EventPage = { data, next_cursor: String(from + data.length) };
          if (data.length === 0 && after !== undefined) stop.abort();
          return Promise.resolve(page);
        },
        send: async (event) => {
          world.step('send');
          const answer = world.answer(event);
          if (answer.kind === 'answered' || answer.kind === 'silent') world.arrived.push(event.id);
          world.step('sent');
          return Promise.resolve(answer as Exclude<Forwarded, { kind: 'untrusted' }>);
        },
        store: {
          file: 'cursor.json',
          read: async () => Promise.resolve(world.disk),
          write: async (place) => {
            world.step('write');
            world.disk = place;
            world.step('written');
            return Promise.resolve();
          },
          forget: async () => Promise.resolve(),
        },
        wants: () => true,
        looksBack: false,
        machinery: {
          now: () => 0,
          sleep: async (millis, signal) => {
            signal?.throwIfAborted();
            world.slept.push(millis);
            return Promise.resolve();
          },
          random: () => 0.5,
          uuid: () => 'uuid',
        },
        signal: stop.signal,
        tell: {
          delivered: (delivery) => void world.delivered.push(delivery),
          waitsForServer: (code) => void world.told.push(`server ${code}`),
          waitsForService: ({ message }) => void world.told.push(`service ${message}`),
          isBack: () => void world.told.push('back'),
        },
        ...more,
      };
      return { ...createListener(options), stop };
    },
  };
  return world;
}

type World = ReturnType<typeof newWorld>;

/** Runs until all events are read. */
async function run(world: World, more: Partial<ListenerOptions> = {}): Promise<void> {
  const { run: listen } = world.start(more);
  await expect(listen()).rejects.toMatchObject({ name: 'AbortError' });
}

const fromTheBegin: Place = { after: '0', taken: [] };
const ids = (world: World): string[] => world.log.map(({ id }) => id);

describe('the listener', () => {
  it('brings every event at least once and in order, however often it is killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        async (count, kills, pageSize) => {
          const world = newWorld(count);
          Object.assign(world, { disk: fromTheBegin, pageSize });
          for (const steps of kills) {
            let left = steps;
            world.step = () => {
              if ((left -= 1) < 0) throw new Killed();
            };
            await world
              .start()
              .run()
              .catch((error: unknown) => expect(error).toSatisfy(isKillOrEnd));
          }
          world.step = () => undefined;
          await run(world);
          expect([...new Set(world.arrived)]).toEqual(ids(world));
          // A kill repeats at most the event that it struck.
          expect(world.arrived.length).toBeLessThanOrEqual(count + kills.length);
          expect(world.disk).toEqual({ after: String(count), taken: [] });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('repeats the event alone whose note was lost, and none before it', async () => {
    const world = newWorld(3);
    world.disk = fromTheBegin;
    world.step = (what) => {
      if (what === 'write' && world.arrived.length === 2) throw new Killed();
    };
    await expect(world.start().run()).rejects.toThrow(Killed);
    world.step = () => undefined;
    await run(world);
    expect(world.arrived).toEqual(['evt_0', 'evt_1', 'evt_1', 'evt_2']);
  });

  it('waits for a server that is away, says so once, and keeps the order', async () => {
    const world = newWorld(3);
    world.disk = fromTheBegin;
    let refusals = 5;
    world.answer = ({ id }) => (id === 'evt_1' && (refusals -= 1) >= 0 ? away : ok);
    await run(world);
    expect(world.arrived).toEqual(ids(world));
    expect(world.told).toEqual(['server ECONNREFUSED']);
    expect(world.slept.slice(0, 5)).toEqual([250, 500, 1000, 2000, 2000]);
  });

  it('goes on after an answer of 4xx or 5xx, and after a server that does not answer in time', async () => {
    const world = newWorld(3);
    world.disk = fromTheBegin;
    const answers: readonly Forwarded[] = [{ kind: 'answered', status: 500 }, { kind: 'silent' }, ok];
    world.answer = ({ id }) => answers[Number(id.slice(4))] ?? ok;
    await run(world);
    expect(world.delivered.map(({ status }) => status)).toEqual([500, undefined, 200]);
  });

  it('begins with the events from now on, and notes this at once', async () => {
    const world = newWorld(2);
    await run(world);
    expect([world.arrived, world.disk]).toEqual([[], { after: '2', taken: [] }]);
  });

  it('starts at the login only when this is asked for', async () => {
    const world = newWorld(2);
    world.disk = { ...fromTheBegin, isOfLogin: true };
    await run(world);
    expect(world.arrived).toEqual([]);
    world.disk = { ...fromTheBegin, isOfLogin: true };
    await run(world, { looksBack: true });
    expect(world.arrived).toEqual(ids(world));
  });

  it('passes by the events that are not wanted', async () => {
    const world = newWorld(4);
    world.disk = fromTheBegin;
    await run(world, { wants: ({ event }) => event === 'creation.failed' });
    expect(world.arrived).toEqual(['evt_0', 'evt_3']);
    expect(world.disk).toEqual({ after: '4', taken: [] });
  });

  it('goes on when the service was away, and ends when it refuses', async () => {
    const world = newWorld(1);
    world.disk = fromTheBegin;
    let outages = 3;
    world.step = (what) => {
      if (what === 'read' && (outages -= 1) >= 0) throw new ConnectionError('no connection');
    };
    await run(world);
    expect(world.arrived).toEqual(['evt_0']);
    expect(world.told).toEqual(['service no connection', 'back']);
    world.step = () => {
      throw new Killed('refused');
    };
    await expect(world.start().run()).rejects.toThrow('refused');
  });

  it('a read that is not held is not repeated within a second', async () => {
    const world = newWorld(0);
    world.disk = fromTheBegin;
    const { run: listen, stop } = world.start({
      read: async ({ after }) => Promise.resolve({ data: [], next_cursor: after ?? '0' }),
      machinery: {
        now: () => 0,
        sleep: async (millis) => {
          world.slept.push(millis);
          if (world.slept.length === 3) stop.abort();
          return Promise.resolve();
        },
        random: () => 0.5,
        uuid: () => 'uuid',
      },
    });
    await expect(listen()).rejects.toMatchObject({ name: 'AbortError' });
    expect(world.slept).toEqual([1000, 1000, 1000]);
  });

  it('repeats the last event on demand', async () => {
    const world = newWorld(2);
    world.disk = fromTheBegin;
    const listener = world.start();
    expect(await listener.repeat()).toBe(false);
    await expect(listener.run()).rejects.toMatchObject({ name: 'AbortError' });
    expect(await listener.repeat()).toBe(true);
    expect(world.arrived).toEqual(['evt_0', 'evt_1', 'evt_1']);
    expect(world.delivered.map(({ isRepeated }) => isRepeated)).toEqual([false, false, true]);
  });
});

function isKillOrEnd(error: unknown): boolean {
  return error instanceof Killed || (error instanceof Error && error.name === 'AbortError');
}
