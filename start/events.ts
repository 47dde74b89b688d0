/** What happens in a running service, as a person or a program reads it. */
import pc from 'picocolors';
import { failures, failureNamed } from '../core/failure.ts';
import { asMicros, formatUsd } from '../core/money.ts';
import { visibleText } from '../terminal/visible-text.ts';

type Fields = Readonly<Record<string, string | number | undefined>>;

/** The structured line that a function logged; undefined for anything else on its output. */
export function parseLogLine(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return withoutMetrics(JSON.parse(line) as Fields & Embedded);
  } catch {
    return undefined;
  }
}

interface Embedded {
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly { readonly Metrics: readonly { readonly Name: string }[] }[];
  };
}

/** What of a line is meant for CloudWatch tells a person nothing that its fields do not. */
function withoutMetrics({ _aws, ...fields }: Fields & Embedded): Fields {
  const names = new Set(_aws?.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name)));
  return Object.fromEntries(Object.entries(fields as Fields).filter(([name]) => !names.has(name)));
}

/** One line for a person: the time, what happened, to which creation. Undefined for what only an operator's log needs. */
export function eventLine(logged: Fields): string | undefined {
  const fields = visible(logged);
  const text = sentence(fields);
  if (text === undefined) return undefined;
  const time = String(fields['at']).slice(11, 19);
  const creation = fields['creationId'] === undefined ? '' : `  ${pc.dim(String(fields['creationId']))}`;
  return `${pc.dim(time)}  ${text}${creation}`;
}

/** What a client or a vendor wrote must not move the terminal's cursor. */
function visible(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? visibleText(value) : value,
    ]),
  );
}

function sentence(fields: Fields): string | undefined {
  switch (fields['event']) {
    case 'creation_accepted':
      return `${pc.cyan('accepted')}   ${String(fields['model'])}, ${formatUsd(asMicros(Number(fields['costMicros'])))}`;
    case 'creation_completed':
      return `${pc.green('completed')}  in ${(Number(fields['millis']) / 1000).toFixed(1)} s`;
    case 'creation_failed':
      return `${pc.red('failed')}     ${failures[failureNamed(String(fields['failure']))].message} (refunded ${formatUsd(asMicros(Number(fields['refundedMicros'])))})`;
    case 'webhook_attempted':
      return `${pc.magenta('webhook')}    attempt ${String(fields['attempt'])}: ${String(fields['outcome'])}${fields['status'] === undefined ? '' : ` (${String(fields['status'])})`}`;
    default:
      return fields['level'] === 'alarm'
        ? `${pc.yellow('alarm')}      ${String(fields['event'])}`
        : undefined;
  }
}

/** The same for a program: snake_case, as in the API. */
export function eventObject(fields: Fields): Fields | undefined {
  if (sentence(fields) === undefined) return undefined;
  const { event, level: _level, component: _component, ...rest } = fields;
  const snake = Object.entries(rest).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return { event: String(event).replace('creation_', ''), ...Object.fromEntries(snake) } as Fields;
}
