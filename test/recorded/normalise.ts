/** What a recording holds, and how a person reads one entry of it. */
import { readFileSync } from 'node:fs';

export interface ApiEntry {
  /** What is tried. No two entries have the same. */
  readonly title: string;
  /** In one line, as the table of requests has it. */
  readonly request: string;
  /** Absent of a webhook, which is a request of the service's own. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AdminEntry {
  readonly title: string;
  /** As a person types it. */
  readonly command: string;
  readonly code: number;
  /** The lines of standard output. */
  readonly out: readonly string[];
  /** The lines of standard error. */
  readonly complaint: readonly string[];
}

export interface Recording {
  readonly api: readonly ApiEntry[];
  readonly admin: readonly AdminEntry[];
}

export const apiFile = new URL('api.json', import.meta.url);
export const adminFile = new URL('admin.json', import.meta.url);

export function readRecording(): Recording {
  return {
    api: JSON.parse(readFileSync(apiFile, 'utf8')) as ApiEntry[],
    admin: JSON.parse(readFileSync(adminFile, 'utf8')) as AdminEntry[],
  };
}

/** Everything of an answer in lines: so a difference names the line. A body is broken at its commas. */
export function readableAnswer({ request, status, headers, body }: ApiEntry): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [request, `status ${status ?? 'none'}`, ...lines, '', body.replaceAll(',"', ',\n"')].join('\n');
}

export function readableRun({ command, code, out, complaint }: AdminEntry): string {
  return [
    command,
    `exit code ${code}`,
    '--- standard output',
    ...out,
    '--- standard error',
    ...complaint,
  ].join('\n');
}

// Makes two recordings equal although each draws ids of its own. What differs by chance becomes a
// placeholder, such as <id 1>. Equal values get the same number within a group of requests: so the
// recording still tells which are equal. Nothing else is hidden.

/** These ids are written in the tables of requests: they are the same in every recording. */
export const absentId = '01939f4e-0000-7000-8000-000000000000';
const fixed = new Set([
  absentId,
  '00000000-0000-0000-0000-000000000000',
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
]);

const hourMillis = 3_600_000;
const isoTime = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** What can be told by its form alone. The first that fits wins. */
const forms: readonly (readonly [kind: string, form: string])[] = [
  ['time', isoTime],
  ['api key', String.raw`\bdk_live_[0-9A-Za-z]{40}\b`],
  ['secret', String.raw`\bwhsec_[0-9A-Za-z+/]{43}=`],
  ['plain signature', String.raw`\bsha256=[0-9a-f]{64}\b`],
  ['standard signature', String.raw`\bv1,[0-9A-Za-z+/]{43}=`],
  ['cursor', String.raw`\bMD[0-9A-Za-z_-]{46}(?![0-9A-Za-z_-])`],
  // A UUIDv7: a creation's, or a delivery's.
  ['id', '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}'],
  [
    'request',
    String.raw`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.\w{10}\.[0-9a-z]{6}\b`,
  ],
  ['uuid', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['file', String.raw`(?<=\b(?:results|sources)/)[0-9A-Za-z_-]{32}`],
  ['port', String.raw`(?<=\b127\.0\.0\.1:)[1-9]\d{4}\b`],
  ['days', String.raw`(?<=stale: read )\d+(?= days ago)|(?<=ends on \S+, in )\d+ days?`],
  ['seconds', String.raw`(?<=try again in )\d+(?= s\b)|(?<="retry_after": ?)\d+`],
  ['ms', String.raw`(?<="ms": ?)\d+|(?<=^ms {2,})\d+$`],
];

/** Kinds whose values say nothing by being equal: two times are equal by the machine's speed. */
const unnumbered = new Set(['days', 'seconds', 'ms']);

export interface Normaliser {
  /** From now on this value is replaced wherever it stands as a whole word. */
  learn(kind: string, value: string): void;
  text(text: string): string;
  headers(headers: Headers | Readonly<Record<string, string>>): Record<string, string>;
}

/** @param nowMillis when the recording was made: a distant time is told by its distance */
export function createNormaliser(nowMillis: number): Normaliser {
  const learned = new Map<string, string>();
  const placeholders = new Map<string, string>();
  const counts = new Map<string, number>();

  const numbered = (kind: string, value: string): string => {
    const known = placeholders.get(value);
    if (known !== undefined) return known;
    const number = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, number);
    placeholders.set(value, `<${kind} ${number}>`);
    return `<${kind} ${number}>`;
  };
  const replaced = (kind: string, value: string): string => {
    if (fixed.has(value)) return value;
    if (kind === 'time') return timeOf(value, nowMillis);
    if (kind === 'cursor') return `<cursor of ${text(Buffer.from(value, 'base64url').toString('latin1'))}>`;
    return unnumbered.has(kind) ? `<${kind}>` : numbered(kind, value);
  };
  const text = (original: string): string => {
    const words = [...learned.keys()].map((value) => `(?<![0-9A-Za-z])${escaped(value)}(?![0-9A-Za-z])`);
    const all = new RegExp([...forms.map(([, form]) => `(${form})`), ...words].join('|'), 'gm');
    return withoutMillis(original).replace(all, (found, ...groups: unknown[]) => {
      const at = groups.slice(0, forms.length).findIndex((group) => group !== undefined);
      return replaced(forms[at]?.[0] ?? learned.get(found) ?? 'unknown', found);
    });
  };
  return {
    learn: (kind, value) => learned.set(value, kind),
    text,
    headers: (headers) => {
      const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
      const sorted = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(sorted.map(([name, value]) => [name, changing[name] ?? text(value)]));
    },
  };
}

/** Headers that follow the clock in another form than the bodies. */
const changing: Readonly<Record<string, string>> = {
  date: '<date>',
  'x-timestamp': '<seconds>',
  'webhook-timestamp': '<seconds>',
};

/** A time near the recording's own says nothing; one far away says how far. */
function timeOf(text: string, nowMillis: number): string {
  if (text.endsWith('-01T00:00:00.000Z')) return '<month start>';
  // The use of a key is kept to the hour, which may have begun a minute or most of an hour before.
  if (text.endsWith(':00:00.000Z')) return '<full hour>';
  const hours = Math.round((Date.parse(text) - nowMillis) / hourMillis);
  return hours === 0 ? '<time>' : `<time ${hours > 0 ? '+' : ''}${hours} h>`;
}

/** The column `ms` of a table is as wide as its longest number. The columns around it stay as they are. */
function withoutMillis(text: string): string {
  const lines = text.split('\n');
  const head = / ms +(?=next_attempt_at)/.exec(lines[0] ?? '');
  if (head === null) return text;
  const [start, end] = [head.index + 1, head.index + head[0].length];
  return lines
    .map((line, row) => `${line.slice(0, start)}${row === 0 ? 'ms' : '<ms>'}  ${line.slice(end)}`)
    .join('\n');
}

function escaped(value: string): string {
  return value.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
