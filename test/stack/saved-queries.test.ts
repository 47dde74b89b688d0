/** The saved queries ask the right logs for events and fields that these logs have. */
import { describe, expect, it } from 'vitest';
import { alarmEvents } from '../../service/contract/metrics.ts';
import { resolved, resourcesOf, wordOf } from './template.ts';

interface Query {
  readonly Name: unknown;
  readonly QueryString: string;
  readonly LogGroupNames: readonly unknown[];
}
const queries = resourcesOf('AWS::Logs::QueryDefinition').map(
  ([, { Properties }]) => Properties as unknown as Query,
);
/** ProtectTable comes after all other resources, and has nothing to do with a creation. */
const functionLogs = resolved.functions.length - 1;

describe('a saved query', () => {
  it('Each name begins with the name of the stack, and is different', () => {
    const names = queries.map(({ Name }) => wordOf(Name));
    expect(names.length).toBeGreaterThan(4);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^Darkroom\/[A-Z][\w ]+$/);
  });

  it('Each query reads the access log, or the logs of all functions, which are at most 50', () => {
    for (const { Name, LogGroupNames } of queries)
      expect([1, functionLogs], wordOf(Name)).toContain(LogGroupNames.length);
    expect(functionLogs).toBeLessThan(50);
  });

  it('Each event is one that the functions log', () => {
    const events = queries.flatMap(({ QueryString: text }) => [...text.matchAll(/event = "(\w+)"/g)]);
    expect(events.length).toBeGreaterThan(0);
    for (const [, event] of events) expect(alarmEvents).toContain(event);
  });

  it('Each field of the access log is in its format', () => {
    const formats = JSON.stringify(resourcesOf('AWS::ApiGatewayV2::Stage'));
    const slow = queries.filter(({ LogGroupNames }) => LogGroupNames.length === 1);
    const fields = slow.flatMap(
      ({ QueryString: text }) => /^fields (.*)$/m.exec(text)?.[1]?.split(', ') ?? [],
    );
    expect(fields).toContain('latencyMillis');
    for (const field of fields) expect(formats).toContain(`\\"${field}\\":`);
  });
});
