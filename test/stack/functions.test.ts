import { readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';
import { operations } from '../../core/contract.ts';
import { bundleOf, nameOf, resolved, resourcesOf } from './template.ts';

const functions = resourcesOf('AWS::Lambda::Function').map(([id, { Properties }]) => ({
  id,
  name: nameOf(id),
  properties: Properties,
}));
const apiNames = [
  ...Object.keys(operations).map((name) => name.charAt(0).toUpperCase() + name.slice(1)),
  'UnknownRoute',
];
const kilobytes = (text: string): number => Buffer.byteLength(text) / 1000;

/** Seconds. An HTTP API gives up after 30; a creation has 12 minutes at most; the reconciler comes every minute; Lambda ends after 15. */
const timeouts: Readonly<Record<string, number>> = {
  RenderImage: 780,
  RefundCharge: 30,
  DeliverWebhook: 30,
  Reconcile: 55,
  AuditBooks: 900,
};

describe('the functions', () => {
  it('are one for each operation, one for what no route takes, three tasks, the reconciler and the audit', () => {
    expect(functions.map(({ name }) => name).sort()).toEqual([...apiNames, ...Object.keys(timeouts)].sort());
  });

  it.each(functions)('$name runs on Node 24 and arm64, within its time limit', ({ name, properties }) => {
    expect(properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: timeouts[name] ?? 29,
    });
  });

  it.each(functions)(
    '$name logs its lines as they are to a group of its own, kept for a month',
    ({ name, properties }) => {
      expect(properties['LoggingConfig']).toMatchObject({ LogFormat: 'Text' });
      const { LogGroup } = properties['LoggingConfig'] as { LogGroup: { Ref: string } };
      expect(nameOf(LogGroup.Ref)).toBe(`${name}Log`);
      const group = resourcesOf('AWS::Logs::LogGroup').find(([id]) => id === LogGroup.Ref);
      expect(group?.[1].Properties).toEqual({ RetentionInDays: 30 });
    },
  );

  it.each(functions)('$name says what it is for', ({ properties }) => {
    expect(String(properties['Description']).length).toBeGreaterThan(10);
  });

  it('have no log group without an end', () => {
    for (const [, { Properties }] of resourcesOf('AWS::Logs::LogGroup'))
      expect(Properties['RetentionInDays']).toBeGreaterThan(0);
  });

  it('have the deployed outbound rules where an address of a client is judged, and nowhere else', () => {
    const bound = functions.filter(({ properties }) =>
      JSON.stringify(properties['Environment'] ?? {}).includes('OUTBOUND_RULES'),
    );
    expect(bound.map(({ name }) => name).sort()).toEqual(['DeliverWebhook', 'GenerateImage', 'QuoteImage']);
    for (const { properties } of bound)
      expect(properties).toMatchObject({ Environment: { Variables: { OUTBOUND_RULES: 'public' } } });
  });
});

describe('the bundle', () => {
  const bundles = resolved.functions.map((fn) => ({ name: nameOf(fn.id), ...bundleOf(fn) }));

  it.each(bundles)('of $name is small enough to start fast', ({ name, text }) => {
    expect(kilobytes(text)).toBeLessThanOrEqual(name === 'RenderImage' ? 700 : 350);
  });

  it.each(bundles)('of $name is minified and of JavaScript alone', ({ folder, text }) => {
    expect(readdirSync(folder, { recursive: true })).toEqual(['index.mjs']);
    // Booleans: a failure that prints a whole bundle helps nobody.
    expect(/\.node['"]\)|process\.dlopen|node-gyp|prebuild-install/.test(text)).toBe(false);
    expect(text.split('\n').length).toBeLessThan(text.length / 200);
  });

  it.each(bundles)('of $name needs nothing at its start but itself and Node', ({ text }) => {
    const imported = [...text.matchAll(/(?:^|[;}])import(?:[\w$*{},\s]*from)?\s?"([^"]+)"/gm)].map(
      ([, module]) => module,
    );
    expect(imported.length).toBeGreaterThan(3);
    expect(imported.filter((module) => !isBuiltin(module ?? ''))).toEqual([]);
  });

  it.each(bundles)('of $name asks none of the modules of Node for names that load more', ({ text }) => {
    expect(/(?:from|import)\s?\(?"(?:node:)?(?:crypto|https?|process)"/.test(text)).toBe(false);
  });

  it('of RenderImage alone has the sandbox provider in it', () => {
    expect(bundles.filter(({ text }) => text.includes('reject-prompt')).map(({ name }) => name)).toEqual([
      'RenderImage',
    ]);
  });
});
