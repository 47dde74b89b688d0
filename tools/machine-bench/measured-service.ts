/** `npm start` of any checkout, as a process of its own whose usage is measured. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import * as z from 'zod';
import { connect } from '../../admin/connect.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { usageOf, type ProcessUsage } from './process-usage.ts';

export interface MeasuredService {
  readonly api: string;
  /** The address under which the service of one machine is controlled. */
  readonly local: string;
  readonly operator: OperatorServices;
  readonly usage: () => ProcessUsage;
  /** How many creations have ended so far, by their end. */
  readonly ended: Readonly<Record<'completed' | 'failed', number>>;
  /** From start to the ready line, in milliseconds. */
  readonly startMillis: number;
  readonly stop: () => Promise<void>;
}

export interface MeasuredOptions {
  /** The folder of the checkout. Its packages are installed. */
  readonly root: string;
  /** The data folder. */
  readonly folder: string;
  /** Values for the variables of the functions. */
  readonly environment: Readonly<Record<string, string>>;
}

const readySchema = z.object({ event: z.literal('ready'), api: z.string(), local: z.string() });
const eventSchema = z.object({ event: z.string() });

const packageSchema = z.object({ scripts: z.object({ start: z.string() }) });

/** The arguments of Node in the script `npm start` of the checkout. */
async function startArguments(root: string): Promise<string[]> {
  const { scripts } = packageSchema.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const [, , , ...args] = scripts.start.split(' ');
  return args;
}

/** Starts the service and waits for its ready line. Throws with what the service printed when it ends before. */
export async function startMeasured({
  root,
  folder,
  environment,
}: MeasuredOptions): Promise<MeasuredService> {
  const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const node = join(root, 'node_modules', 'node', 'bin', 'node');
  const args = ['--json', '--data', folder, '--port', '0', ...variables];
  const began = performance.now();
  const child = spawn(node, [...(await startArguments(root)), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(String(chunk)));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const ready = Promise.withResolvers<z.infer<typeof readySchema>>();
  void exited.then(() => ready.reject(new Error(`the service ended: ${complaints.join('')}`)));
  const ended = { completed: 0, failed: 0 };
  lines.on('line', (line) => {
    const { event } = eventSchema.parse(JSON.parse(line));
    if (event === 'completed' || event === 'failed') ended[event] += 1;
    else if (event === 'ready') ready.resolve(readySchema.parse(JSON.parse(line)));
  });
  const { api, local } = await ready.promise;
  const { pid } = child;
  if (pid === undefined) throw new Error('the service has no process');
  return {
    api,
    local,
    ended,
    operator: await connect({ data: folder }),
    usage: () => usageOf(pid),
    startMillis: performance.now() - began,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
