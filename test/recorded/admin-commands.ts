/** Invocations of the operator's command: each command, what it refuses, and its help. */
import type { AdminGroup } from './admin-step.ts';

const commands: Readonly<Record<string, readonly string[]>> = {
  accounts: ['create', 'list', 'show', 'set'],
  keys: ['create', 'list', 'revoke', 'set'],
  wallet: ['top-up', 'adjust', 'ledger'],
  webhooks: ['secret', 'rotate', 'reseal', 'log', 'redeliver', 'test'],
  creations: ['list', 'find', 'show', 'restart', 'refund'],
  blocks: ['show', 'lift'],
  providers: ['list', 'set', 'remove', 'check'],
  catalog: ['check'],
  audit: [],
};

const helpLines = Object.entries(commands).flatMap(([name, subs]) => [`${name} --help`, ...subs.map((sub) => `${name} ${sub} --help`)]);
const steps = (...lines: readonly string[]): { run: string }[] => lines.map((run) => ({ run }));

export const adminGroups: readonly AdminGroup[] = [
  { name: 'help', steps: steps('--help', 'help accounts', ...helpLines) },
];
