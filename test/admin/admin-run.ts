/** Runs the operator's command in this process. */
import * as z from 'zod';
import { runAdmin } from '../../admin/program.ts';

export interface Said {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly complaint: string;
}

/** Runs a command for the service of the folder. `args` does not contain --data. */
export async function admin(folder: string, ...args: readonly string[]): Promise<Said> {
  const [out, complaint]: [string[], string[]] = [[], []];
  const code = await runAdmin(['--data', folder, ...args], {
    print: (line) => out.push(line),
    complain: (line) => complaint.push(line),
  });
  return { code, out: out.join('\n'), complaint: complaint.join('\n') };
}

/** Runs a command that succeeds, and gives its JSON document. */
export async function adminJson(
  folder: string,
  ...args: readonly string[]
): Promise<Readonly<Record<string, unknown>>> {
  const { code, out, complaint } = await admin(folder, '--json', ...args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${complaint}`);
  return z.record(z.string(), z.unknown()).parse(JSON.parse(out));
}

/** Runs a command that is refused with exit code 1, and gives its message. */
export async function refusal(folder: string, ...args: readonly string[]): Promise<string> {
  const { code, out, complaint } = await admin(folder, ...args);
  if (code !== 1) throw new Error(`${args.join(' ')} ended with ${code}: ${out}`);
  return complaint;
}
