/** No alarm is raised by ordinary traffic, whatever its size, and each is raised by its fault. */
import { describe, expect, it } from 'vitest';
import { metrics } from '../../service/contract/metrics.ts';
import { evaluate, isRaised, valueIn } from './alarm-math.ts';
import { type AlarmProperties, alarms, optionalAlarms } from './alarm-words.ts';
import { ordinary, type Values, valuesIn } from './ordinary-traffic.ts';
import { resolved, resourcesOf, wordOf } from './template.ts';

/** Creations a day: none, ten, two an hour, one in 100 s, and up to what the page of quotas promises. */
const sizes = [0, 10, 48, 864, 86_400, 1_728_000, 86_400_000];

const aSecond = (perDay: number): number => perDay / 86_400;

/** Two in six hours, in five minutes. */
const twoInSixHours = 2 / 72;

const event = (name: string, count: number): Values => ({ [`OperatorAlarms ${name}`]: count });

/** What each alarm is for: the values of five minutes, with so many creations accepted in them. */
const faults: Readonly<Record<string, (accepted: number) => Values>> = {
  ServerErrors: (accepted) => ({ '5xx': 5 + accepted * 0.08 }),
  RequestsFailing: (accepted) => event('request_failed', 3 + accepted * 0.008),
  RequestsShed: (accepted) => ({ RequestsShed: 10 + accepted * 0.08 }),
  AcceptSlow: () => ({ AcceptTime: 2_500 }),
  StartsRefused: (accepted) => event('start_refused', 3 + accepted / 100),
  StartsUnclear: (accepted) => ({ StartsUnclear: 10 + accepted / 100 }),
  CreationsPastDeadline: (accepted) => event('creation_past_deadline', 3 + accepted / 1_000),
  CreationsRecoveredAgain: (accepted) => event('creation_recovered_again', 3 + accepted / 1_000),
  RequestsFailingForHours: (accepted) => event('request_failed', twoInSixHours + accepted * 6),
  ExecutionsFailingForHours: (accepted) => ({ ExecutionsAborted: twoInSixHours + accepted * 0.6 }),
  InternalFailuresForHours: (accepted) => ({
    'CreationsFailed InternalFailure': twoInSixHours + accepted * 0.6,
  }),
  WebhookDeliveriesBrokenForHours: (accepted) =>
    event('webhook_delivery_broke', twoInSixHours + accepted * 0.6),
  ProvidersUnavailableForHours: (accepted) => ({
    'CreationsFailed ServiceUnavailable': twoInSixHours + accepted * 0.6,
  }),
  ExecutionsFailing: (accepted) => ({ ExecutionsTimedOut: 5 + accepted / 100 }),
  InternalFailures: (accepted) => ({ 'CreationsFailed InternalFailure': 3 + accepted / 100 }),
  ImagesNotStored: (accepted) => event('image_not_stored', 3 + accepted / 200),
  ImagesSlow: () => ({ CreationTime: 130_000 }),
  TasksNotEnded: (accepted) => event('task_not_ended', 3 + accepted / 200),
  WebhookDeliveriesBroken: (accepted) => event('webhook_delivery_broke', 3 + accepted / 200),
  WebhookSecretsLost: () => event('webhook_secret_lost', 1),
  ProvidersUnavailable: (accepted) => ({ 'CreationsFailed ServiceUnavailable': 5 + accepted / 20 }),
  ProviderCredentialsRefused: () => event('provider_refused_credentials', 1),
  ProviderCircuitOpened: () => event('provider_circuit_opened', 1),
  ProviderAnswersUnknown: (accepted) => event('provider_answer_unknown', 3 + accepted / 200),
  ProviderCallsBreaking: (accepted) => event('provider_call_broke', 3 + accepted / 200),
  CallbacksRefused: (accepted) => event('callback_refused', 5 + accepted / 100),
  StreamServerErrors: (accepted) => ({ '5XXError': 5 + accepted * 0.16 }),
  HeldRequestsRefused: (accepted) => ({ 'Throttles @OpenaiImages': 5 + accepted * 0.16 }),
  RefundsFailing: (accepted) => ({ 'Errors @RefundCharge': 5 + accepted / 100 }),
  RefundNotMade: () => event('refund_not_made', 3),
  BooksOutOfBalance: () => ({ BooksOutOfBalance: 1 }),
  AuditFailing: () => ({ 'Errors @AuditBooks': 0.25 }),
  ErasuresFailing: () => ({ 'Errors @EraseContent': 0.25 }),
  OperatorKeysRefused: () => ({ OperatorKeysRefused: 10 }),
  PaymentsHeld: () => event('payment_held', 1),
  PaymentKeyRefused: () => event('payment_key_refused', 1),
  PaymentsUnknown: () => event('payment_unknown', 1),
  PaymentsBehind: () => event('payments_behind', 1),
  AuditOverdue: () => ({ AuditFinished: undefined }),
  ReconcilerNotRunning: () => ({ ReconcilerRuns: undefined }),
  ReconcilingFailing: (accepted) => event('reconcile_failed', 5 + accepted / 1_000),
  FunctionsThrottled: (accepted) => ({ 'Throttles @RenderImage': 10 + accepted / 100 }),
  CapacityNearlyUsed: () => ({ OpenCreations: 1_600 }),
  ConcurrencyNearlyUsed: () => ({ UnreservedConcurrentExecutions: 850 }),
  ExecutionsThrottled: (accepted) => ({ ExecutionThrottled: 20 + accepted / 10 }),
  TableThrottled: (accepted) => ({ WriteThrottleEvents: 50 + accepted / 20 }),
  TransactionConflicts: (accepted) => ({ TransactionConflict: 100 + accepted / 2 }),
  CanaryFailing: () => ({ CanarySucceeded: undefined }),
  TrafficGone: () => ({ CreationsAccepted: undefined }),
};

const watched: readonly (AlarmProperties & { readonly name: string })[] = [...alarms, ...optionalAlarms];

describe('Ordinary traffic', () => {
  it.each(sizes)('Ordinary traffic of %d creations a day raises no alarm', (perDay) => {
    const values = valuesIn(ordinary(aSecond(perDay)));
    const raised = watched.filter((alarm) => isRaised(alarm, values)).map(({ name }) => name);
    // The setting of TrafficGone expects a creation in each half hour, and a small service has fewer.
    expect(raised).toEqual(perDay < 100 ? ['TrafficGone'] : []);
  });
});

describe('A fault', () => {
  it('This table has a fault for every alarm and for no other', () => {
    expect(Object.keys(faults).sort()).toEqual(watched.map(({ name }) => name).sort());
  });

  it.each(watched)('The alarm $name is raised by its fault at every size of traffic', (alarm) => {
    for (const perDay of sizes) {
      const accepted = aSecond(perDay) * 300;
      const values = valuesIn({ ...ordinary(aSecond(perDay)), ...faults[alarm.name]?.(accepted) });
      expect(
        { perDay, isRaised: isRaised(alarm, values) },
        `${alarm.name}: ${String(valueIn(alarm, values))} against ${alarm.Threshold}`,
      ).toEqual({ perDay, isRaised: true });
    }
  });
});

describe('A total failure', () => {
  it.each(sizes.filter((perDay) => perDay > 0))(
    'A total failure raises each alarm of six hours at %d creations a day',
    (perDay) => {
      const accepted = aSecond(perDay) * 300;
      const values = valuesIn({
        ...ordinary(aSecond(perDay)),
        ...event('request_failed', accepted * 8),
        'CreationsFailed InternalFailure': accepted,
        'CreationsFailed ServiceUnavailable': accepted,
        'ExecutionsFailed @CreationStateMachine': accepted,
        // The first attempt of each webhook.
        'OperatorAlarms webhook_delivery_broke': accepted,
      });
      const raised = watched.filter((alarm) => isRaised(alarm, values)).map(({ name }) => name);
      expect(raised).toEqual(
        expect.arrayContaining([
          'ExecutionsFailingForHours',
          'InternalFailuresForHours',
          'ProvidersUnavailableForHours',
          'RequestsFailingForHours',
          'WebhookDeliveriesBrokenForHours',
        ]),
      );
    },
  );
});

describe('The evaluation of a formula', () => {
  const metrics = new Map<string, number | undefined>([
    ['m0', 6],
    ['m1', 400],
    ['m2', undefined],
  ]);

  it.each([
    ['FILL(m0, 0) + FILL(m2, 0) - 1', 5],
    ['100 * (FILL(m0, 0)) / IF((FILL(m1, 0)) > 500, (FILL(m1, 0)), 500)', 1.2],
    ['100 * (FILL(m0, 0)) / IF((FILL(m1, 0)) > 300, (FILL(m1, 0)), 300)', 1.5],
    ['m0 + m2', undefined],
    ['8 / 2 / 2 - 1 - 1', 0],
  ])('The formula %s has the value %s', (formula, value) => {
    expect(evaluate(formula, metrics)).toBe(value);
  });

  it('A formula with an unknown word is no formula', () => {
    expect(() => evaluate('RATE(m0)', metrics)).toThrow('does not know RATE');
    expect(() => evaluate('m0 m1', metrics)).toThrow('does not know m1');
  });
});

interface Widget {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly metrics?: readonly unknown[][];
    readonly alarms?: readonly string[];
    readonly view?: string;
    readonly yAxis?: unknown;
  };
}

/** The body as JSON. Each reference to a resource becomes the word REFERENCE. */
function bodyOf(joined: unknown): { readonly widgets: readonly Widget[]; readonly start?: string } {
  const [, parts] = (joined as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  return JSON.parse(
    parts.map((part) => (typeof part === 'string' ? part : 'REFERENCE')).join(''),
  ) as ReturnType<typeof bodyOf>;
}

const [[, dashboard] = []] = resourcesOf('AWS::CloudWatch::Dashboard');

const body = bodyOf(dashboard?.Properties['DashboardBody']);

/** The whole dashboard: each graph with its position and its metrics on the left and the right axis. */
describe('the dashboard', () => {
  it('The dashboard shows twelve hours, and first the state of every alarm', () => {
    expect(body.start).toBe('-PT12H');
    expect(body.widgets[0]?.properties.alarms).toHaveLength(resourcesOf('AWS::CloudWatch::Alarm').length);
  });

  it('The dashboard has the name of the stack and of the region, and an output names the dashboard', () => {
    expect(wordOf(dashboard?.Properties['DashboardName'])).toBe('Darkroom-@AWS::Region');
    expect(resolved.outputs['DashboardName']).toBe('Darkroom-us-east-1');
  });

  it('The dashboard has a row of alarms above five rows of three graphs each', () => {
    const [alarms, ...graphs] = body.widgets.map(({ type, x, y, width, height, properties }) => [
      ...[type, x, y, width, height],
      properties.title,
    ]);
    expect(alarms).toEqual(['alarm', 0, 0, 24, 4, 'Alarms']);
    expect(graphs.map((graph) => graph.slice(0, 5))).toEqual(
      [4, 10, 16, 22, 28].flatMap((y) => [0, 8, 16].map((x) => ['metric', x, y, 8, 6])),
    );
  });

  it('The dashboard has graphs over time whose axes begin at 0 and show no units', () => {
    const axis = { min: 0, showUnits: false };
    for (const { properties } of body.widgets.slice(1))
      expect(properties).toMatchObject({ view: 'timeSeries', yAxis: { left: axis, right: axis } });
  });

  it('The dashboard shows each metric of the service except those of the audit, the canary and unclear starts', () => {
    const shown = JSON.stringify(body.widgets);
    const absent = metrics.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(shown));
    expect(absent.map(({ name }) => name)).toEqual([
      'StartsUnclear',
      ...['AuditRuns', 'AuditFinished', 'AccountsAudited'],
      ...['CanarySucceeded', 'CanaryMillis'],
    ]);
  });

  it('The dashboard has graphs of five minutes, which is the default period of a metric', () => {
    const periods = body.widgets
      .flatMap(({ properties: { metrics = [] } }) => metrics)
      .map((metric) => metric.at(-1))
      .flatMap((options) => (typeof options === 'object' && options !== null ? Object.entries(options) : []))
      .filter(([name]) => name === 'period')
      .map(([, seconds]): unknown => seconds);
    expect(periods.filter((seconds) => seconds !== 300)).toEqual([]);
  });
});
