import type { VirtualClock } from './clock.ts';
import type { FlyingInvocation } from './lambda/functions.ts';
import type { Runtime } from './runtime.ts';
import type { LocalTemplate } from './template.ts';

/** The parts from which the answer of GET /_local/state is made. */
export interface StateSources {
  readonly clock: VirtualClock;
  readonly folder: string;
  readonly template: LocalTemplate;
  /** The values that replace the template's in the functions' environments. */
  readonly environment: Readonly<Record<string, string>>;
  readonly runtime: Pick<Runtime, 'executions' | 'functions' | 'schedule' | 'aws'>;
  readonly addresses: {
    readonly apiUrl: string;
    readonly localUrl: string;
    readonly inboxUrl: string;
    readonly awsUrl: string;
  };
}

/** Describes the service's present state, for people and tests. */
export function describeState({
  clock,
  folder,
  template,
  environment,
  runtime,
  addresses,
}: StateSources): Record<string, unknown> {
  const flying = runtime.functions.inFlight();
  return {
    now: new Date(clock.now()).toISOString(),
    offset_seconds: clock.offset() / 1_000,
    frozen: clock.isFrozen(),
    folder,
    environment,
    api: addresses.apiUrl,
    local: addresses.localUrl,
    inbox: addresses.inboxUrl,
    aws: addresses.awsUrl,
    functions: template.functions.map(({ id, timeoutSeconds }) => ({
      id,
      timeout_seconds: timeoutSeconds,
      in_flight: countOf(flying, id),
    })),
    executions: countBy(runtime.executions.list().map(({ status }) => status)),
    schedule: runtime.schedule
      .state()
      .map(({ name, nextAt }) => ({ name, next: new Date(nextAt).toISOString() })),
    faults: runtime.aws.faults.list(),
  };
}

function countOf(flying: readonly FlyingInvocation[], functionId: string): number {
  return flying.filter((one) => one.functionId === functionId).length;
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
