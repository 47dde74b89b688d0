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
