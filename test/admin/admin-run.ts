/** The operator's command in this process, as a person runs it. */
import { runAdmin } from '../../admin/program.ts';

export interface Said {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly complaint: string;
}

/** A command for the service of the folder; `args` without --data. */
export async function admin(folder: string, ...args: readonly string[]): Promise<Said> {
  const [out, complaint]: [string[], string[]] = [[], []];
  const code = await runAdmin(['--data', folder, ...args], {
    print: (line) => out.push(line),
    complain: (line) => complaint.push(line),
  });
  return { code, out: out.join('\n'), complaint: complaint.join('\n') };
}

/** The JSON document of a command that succeeds. */
export async function adminJson(
  folder: string,
  ...args: readonly string[]
): Promise<Readonly<Record<string, unknown>>> {
  const { code, out, complaint } = await admin(folder, '--json', ...args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${complaint}`);
  return JSON.parse(out) as Readonly<Record<string, unknown>>;
}

/** What a command that is refused says, with exit code 1. */
export async function refusal(folder: string, ...args: readonly string[]): Promise<string> {
  const { code, out, complaint } = await admin(folder, ...args);
  if (code !== 1) throw new Error(`${args.join(' ')} ended with ${code}: ${out}`);
  return complaint;
}
