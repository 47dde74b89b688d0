/** The commands `providers health` and `providers order` against the whole service. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { settled, submit } from '../whole/workflow/creations.ts';
import { startTestService } from '../fixtures/service.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService(startTestService);
const rowsSchema = z.object({ data: z.array(z.record(z.string(), z.unknown())) });

describe('providers health and providers order', () => {
  const ask = async (prompt = 'a lake'): Promise<readonly string[]> => {
    const { service, client } = operated;
    const id = await submit(service, client.key, { model: 'sandbox-pro', resolution: '2K', prompt });
    const { attempts } = await settled(service, id);
    return attempts.map(({ provider, outcome }) => `${provider} ${outcome ?? ''}`);
  };
  const health = async (): Promise<unknown> => {
    const { data } = rowsSchema.parse(await operated.run('providers', 'health'));
    return data.find(({ provider, model }) => provider === 'sandbox' && model === 'pro');
  };
  const opened = (): number =>
    operated.service.log.filter((line) => line.includes('"provider_circuit_opened"')).length;

  it('A route that fails three times is asked last, is probed once, and is well after an image', async () => {
    const { machine } = operated.service;
    const down = 'a lake [sandbox:down=sandbox]';
    for (let time = 0; time < 3; time += 1)
      expect(await ask(down)).toEqual(['sandbox unavailable', 'sandbox-large rendered']);
    // The line is written after the circuit is stored.
    await expect.poll(opened).toBe(1);
    expect(await health()).toMatchObject({ circuit: 'open', failed: 3, rendered: 0, key_refused: 0 });
    expect(await ask()).toEqual(['sandbox-large rendered']);
    await machine.advance(15);
    expect(await ask(down)).toEqual(['sandbox unavailable', 'sandbox-large rendered']);
    expect(await health()).toMatchObject({ circuit: 'probing' });
    expect(await ask(down)).toEqual(['sandbox-large rendered']);
    await machine.advance(15);
    expect(await ask()).toEqual(['sandbox rendered']);
    expect(await health()).toMatchObject({ circuit: 'closed', failed: 0, rendered: 1, open_since: null });
    expect(await ask()).toEqual(['sandbox rendered']);
    expect(opened()).toBe(1);
  });

  it('The routes are asked in the order that the operator sets', async () => {
    expect(await operated.run('providers', 'order')).toEqual({ order: 'given' });
    expect(await operated.run('providers', 'order', 'fastest')).toEqual({ order: 'fastest' });
    expect(await operated.run('providers', 'order')).toEqual({ order: 'fastest' });
    // The times are noted here, since a busy machine makes each rendering as slow as it likes.
    const { health, clock } = operated.service.operator;
    const note = async (provider: string, providerModel: string, millis: number): Promise<void> => {
      const note = { sign: 'rendered', weight: 1_000, millis } as const;
      await health.note({ provider, providerModel }, note, clock.now(), AbortSignal.timeout(10_000));
    };
    const firstOf = async (): Promise<string | undefined> => (await ask())[0];
    await note('sandbox', 'pro', 90_000);
    await note('sandbox-large', 'pro', 30_000);
    await expect.poll(firstOf, { timeout: 30_000 }).toBe('sandbox-large rendered');
    await note('sandbox-large', 'pro', 600_000);
    await expect.poll(firstOf, { timeout: 30_000 }).toBe('sandbox rendered');
    await operated.run('providers', 'order', 'given');
    expect(await operated.refused('providers', 'order', 'slowest')).toBe(
      'There is no order "slowest": known are given, cheapest, fastest.',
    );
  });
});
