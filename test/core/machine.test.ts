import { describe, expect, it } from 'vitest';
import { machineOf } from '../../core/machine.ts';
import { providers } from '../../core/providers.ts';

const routes = (...names: string[]) => names.map((provider) => ({ provider }));

describe('the machine of a creation', () => {
  it.each(['fal', 'replicate'])('A creation whose first route is %s runs on the callback machine', (name) => {
    expect(machineOf(routes(name, 'openai'))).toBe('callback');
  });

  it.each(Object.keys(providers).filter((name) => name !== 'fal' && name !== 'replicate'))(
    'A creation whose first route is %s runs on the plain machine, whatever its other routes are',
    (name) => {
      expect(machineOf(routes(name, 'fal'))).toBeUndefined();
    },
  );

  it('A creation without a route, or with a provider that this release does not know, runs on the plain machine', () => {
    expect([machineOf([]), machineOf(routes('nobody'))]).toEqual([undefined, undefined]);
  });
});
