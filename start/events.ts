/** The printed events of a running service: one line for a person, or one object for a program. */
import pc from 'picocolors';
import * as z from 'zod';
import { failures, failureNamed } from '../service/contract/failures.ts';
import { asMicros, formatUsd } from '../service/values/money.ts';
import { visibleText } from '../client/command/terminal/visible-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Parses a structured log line of a function. Gives undefined for every other line of its output. */
export function parseLogLine(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return withoutMetrics(lineSchema.parse(JSON.parse(line)));
  } catch {
    return undefined;
  }
}

const metricsSchema = z.object({
  CloudWatchMetrics: z.array(z.object({ Metrics: z.array(z.object({ Name: z.string() })) })),
});
const lineSchema = z.looseObject({ _aws: metricsSchema.optional() });

/** The metrics of a line repeat other fields of the line, so a person does not need them. */
function withoutMetrics({ _aws, ...fields }: z.infer<typeof lineSchema>): Fields {
  const names = new Set(_aws?.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name)));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}

/**
 * One line for a person, with the time, the event and the creation or notice. Undefined for events that only the log
 * needs.
 */
export function eventLine(logged: Fields): string | undefined {
  const fields = visible(logged);
  const text = sentence(fields);
  if (text === undefined) return undefined;
  const time = String(fields['at']).slice(11, 19);
  const named = ['creationId', 'noticeId'].find((name) => name in fields);
  const id = named === undefined ? '' : `  ${pc.dim(String(fields[named]))}`;
  return `${pc.dim(time)}  ${text}${id}`;
}

/** Texts from clients and vendors must not move the cursor of the terminal. */
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
      return `${pc.cyan('accepted')}   ${String(fields['model'])}, ${usd(fields['costMicros'])}`;
    case 'creation_completed':
      return `${pc.green('completed')}  in ${(Number(fields['millis']) / 1000).toFixed(1)} s`;
    case 'creation_failed':
      return `${pc.red('failed')}     ${messageOf(fields['failure'])} (refunded ${usd(fields['refundedMicros'])})`;
    case 'webhook_attempted':
      return `${pc.magenta('webhook')}    ${attemptText(fields)}`;
    case 'notice_told':
      return `${pc.magenta('notice')}     ${String(fields['type'])}`;
    default:
      return fields['level'] === 'alarm'
        ? `${pc.yellow('alarm')}      ${String(fields['event'])}`
        : undefined;
  }
}

const usd = (micros: unknown): string => formatUsd(asMicros(Number(micros)));
const messageOf = (failure: unknown): string => failures[failureNamed(String(failure))].message;

/** The status is that of the receiver's answer, and is missing when no answer came. */
function attemptText(fields: Fields): string {
  const status = 'status' in fields ? ` (${String(fields['status'])})` : '';
  return `attempt ${String(fields['attempt'])}: ${String(fields['outcome'])}${status}`;
}

/** The same event for a program, with names in snake_case as in the API. */
export function eventObject(fields: Fields): Fields | undefined {
  if (sentence(fields) === undefined) return undefined;
  const { event, level: _level, component: _component, ...rest } = fields;
  const snake = Object.entries(rest).map(([name, value]): [string, unknown] => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return { event: String(event).replace('creation_', ''), ...Object.fromEntries(snake) };
}
