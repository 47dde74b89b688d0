import { expect, it } from 'vitest';
import { eventObject, parseLogLine } from '../../start/events.ts';
import { embeddedMetrics } from '../../adapters/embedded-metrics.ts';

it('The metrics that CloudWatch takes out of a log line are left out of the printed event', () => {
  const fields = { creationId: '019aa5a0', failure: 'NothingRendered', refundedMicros: 40_000 };
  const logged = {
    at: '2026-11-21T12:00:00.000Z',
    level: 'info',
    component: 'refund-charge',
    event: 'creation_failed',
    ...fields,
  };
  const line = JSON.stringify({
    ...logged,
    ...embeddedMetrics('Darkroom', 0, { event: 'creation_failed', level: 'info', fields }),
  });
  expect(line).toContain('CreationsFailed');
  expect(parseLogLine(line)).toEqual(logged);
  expect(eventObject(parseLogLine(line) ?? {})).toEqual({
    event: 'failed',
    at: '2026-11-21T12:00:00.000Z',
    creation_id: '019aa5a0',
    failure: 'NothingRendered',
    refunded_micros: 40_000,
  });
});
