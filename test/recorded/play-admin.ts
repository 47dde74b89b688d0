/** Plays the table of commands, one after another, and notes what each says. */
import { PassThrough } from 'node:stream';
import { admin } from '../admin/admin-run.ts';
import { type AdminGroup, type AdminStep, argumentsOf } from './admin-step.ts';
import { filled, type Scene } from './api-step.ts';
import { type AdminEntry, createNormaliser, type Normaliser } from './normalise.ts';
import type { Stage } from './stage.ts';

export async function playCommands(groups: readonly AdminGroup[], stage: Stage): Promise<AdminEntry[]> {
  const entries: AdminEntry[] = [];
  for (const group of groups) entries.push(...(await playGroup(group, stage)));
  return entries;
}

async function playGroup({ name, prepare, steps, after }: AdminGroup, stage: Stage): Promise<AdminEntry[]> {
  stage.tick();
  const client = await stage.service.client({ name: 'Atelier', postRate: '1000', getRate: '1000' });
  const values = new Map<string, string>([
    ['account', client.account.id],
    ['key', client.record.id],
    ['inbox', stage.service.machine.inboxUrl],
  ]);
  const scene: Scene = { stage, client, values };
  const normaliser = createNormaliser(stage.startedAt);
  normaliser.learn('folder', stage.service.folder);
  normaliser.learn('key id', client.record.id);
  await prepare?.(scene);
  const entries: AdminEntry[] = [];
  for (const step of steps) {
    await step.before?.(scene);
    await learnAccounts(stage, normaliser);
    const { code, out, complaint } = await run(step, scene);
    await learnAccounts(stage, normaliser);
    for (const [value, field] of Object.entries(step.save ?? {})) values.set(value, fieldOf(out, field));
    for (const kept of ['key', 'key2']) normaliser.learn('key id', values.get(kept) ?? client.record.id);
    const why = step.what === undefined ? '' : ` (${step.what})`;
    entries.push({
      title: `${name}: ${step.run}${why}`,
      command: step.run,
      code,
      out: lines(normaliser.text(out)),
      complaint: lines(normaliser.text(complaint)),
    });
  }
  await after?.(scene);
  return entries;
}

/** An account's id is ten letters, as many a word is: only ids that exist are replaced. */
async function learnAccounts({ service }: Stage, normaliser: Normaliser): Promise<void> {
  for (const { id } of await service.operator.accounts.list()) normaliser.learn('account', id);
}

function lines(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

function fieldOf(out: string, field: string): string {
  const value = (JSON.parse(out) as Readonly<Record<string, unknown>>)[field];
  if (typeof value !== 'string') throw new Error(`${field} is no text in ${out}`);
  return value;
}

/** The command as it runs without a terminal, wherever this process runs. */
async function run({ run: line, input = '' }: AdminStep, { stage, values }: Scene): ReturnType<typeof admin> {
  const stdin = new PassThrough();
  stdin.end(input);
  const restore = [
    replaced(process, 'stdin', stdin),
    replaced(process.stdout, 'isTTY', false),
    replaced(process.stderr, 'isTTY', false),
  ];
  try {
    return await admin(
      stage.service.folder,
      ...argumentsOf(line).map((argument) => filled(argument, values)),
    );
  } finally {
    for (const undo of restore) undo();
  }
}

/** Puts another value in the place of a property; the answer puts the old one back. */
function replaced(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}
