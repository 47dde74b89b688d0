/** The drill: a table is restored to a moment, and what came afterwards is entered by a command that is killed. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AttributeValue, RestoreTableToPointInTimeCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../admin/connect.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { AnswerLost } from '../../local/aws/aws-error.ts';
import { itemsInCopy } from '../../local/copied-items.ts';
import { deleteItem, putItem } from '../../service/aws/dynamodb/send.ts';
import type { Item } from '../../service/aws/dynamodb/table.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { differencesIn } from '../fixtures/books.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { allItems, checkDrill, createLife, nameOf, type Order, randomFrom } from './drill.ts';
import { generate } from './load.ts';
import { startServe } from './serve-child.ts';
import { type AdminChild, runAdmin, type StandInStack, startStack } from './stand-in-stack.ts';

/** `DRILL_KILLS=20 npm test -- test/serve/drill.test.ts` kills more often, and `DRILL_SEED` repeats a run. */
const kills = Number(process.env['DRILL_KILLS'] ?? 2);
const seed = Number(process.env['DRILL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

it(
  `a restored table gets everything that came later, once, in ${kills} kills (seed ${seed})`,
  { timeout: 120_000 + kills * 20_000 },
  async () => {
    const random = randomFrom(seed);
    const folder = join(newFolder(), 'stack');
    const stack = await startStack(folder, { recoverMillis: 3_600_000 });
    onTestFinished(stack.end);
    const { operator, machine } = stack;
    const life = createLife(operator, orderAt(new URL(machine.apiUrl).origin, random), random);
    let isOver = false;
    const living = life.run(() => isOver);
    await sleep(2_500 + random() * 1_500);
    await life.each();
    // The restore cuts transactions of about this age in the middle.
    await sleep(400);
    const sinceMillis = Date.now();
    await life.each();
    await sleep(500 + random() * 1_500);
    isOver = true;
    await living;
    await life.settle();
    const damaged = await damage(operator, sinceMillis - 2_000);
    await operator.serviceSwitch.close({ message: 'We restore.', since: new Date().toISOString() });
    const table = 'Darkroom-restored';
    await operator.raw.dynamo.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: operator.table.name,
        TargetTableName: table,
        RestoreDateTime: new Date(sinceMillis),
      }),
    );
    const restored: OperatorServices = { ...operator, table: { ...operator.table, name: table } };
    const before = await allItems(restored);
    const listed = await listedBy(stack, 'compare', table);
    expect(await allItems(restored)).toEqual(before);
    let killed = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const run = stack.admin('backup', 'enter', '--table', table);
      let writesLeft = 1 + Math.floor((random() * listed.length * 1.4) / kills);
      machine.interceptAws(async (call, serve) => {
        if (
          !/^(Put|Update|Delete|Transact)/.test(call.operation) ||
          !JSON.stringify(call.input).includes(table)
        )
          return serve();
        writesLeft -= 1;
        if (writesLeft === 0) run.kill();
        // The call on which the process dies has or has not taken effect.
        if (writesLeft <= 0 && random() < 0.5) throw new AnswerLost();
        return serve();
      });
      if ((await run.ended).code === null) killed += 1;
    }
    machine.interceptAws((_call, serve) => serve());
    await listedBy(stack, 'enter', table);
    const { done, left } = life;
    const old = await allItems(operator);
    const drilled = { old, before, damaged, listed, done, left, sinceMillis };
    await checkDrill(restored, { ...drilled, after: await allItems(restored) });
    const again = await listedBy(stack, 'enter', table);
    expect(again.filter((one) => one.left === null)).toEqual([]);
    expect(again.length, 'what was damaged').toBe(1);
    await stack.end();

    // The setting restoredTable, and a deployment.
    const next = await startStack(folder, { templatePath: await templateOn(table) });
    onTestFinished(next.end);
    const newOrder = orderAt(new URL(next.machine.apiUrl).origin, random);
    const [holder] = life.holders;
    const key = holder?.keys[0]?.key ?? '';
    expect(await newOrder(key, 'a lake')).toMatchObject({ status: 503 });
    await next.operator.serviceSwitch.open();
    expect(await newOrder(key, 'a lake')).toMatchObject({ status: 202 });
    for (const dead of life.revoked) expect((await newOrder(dead, 'a lake')).status).toBe(401);
    await next.operator.accounts.change(holder?.account.id as AccountId, { name: 'changed since' });
    // The service is in use now, so nothing is turned back.
    const late = await listedBy(next, 'enter', table);
    expect(late.filter((one) => one.left === null)).toEqual([]);
    expect(late.some(({ id, left: why }) => id === 'ACCOUNT' && why?.includes('was used'))).toBe(true);
    expect(await differencesIn(next.operator.table)).toEqual([]);
    process.stderr.write(`${listed.length} things came later, ${killed} of ${kills} kills before the end\n`);
  },
);

it(
  `a copy of the folder gets what the old folder has more, after ${kills} kills (seed ${seed})`,
  { timeout: 120_000 + kills * 20_000 },
  async () => {
    const random = randomFrom(seed);
    const [data, copy] = [join(newFolder(), 'data'), join(newFolder(), 'copy')];
    const served = await startServe(data);
    const operator = await connect({ data });
    const order: Order = async (key, prompt) => {
      const { status, text } = await generate(served.port, key, prompt, {}, { user: 'one' });
      return { status, id: (JSON.parse(text) as { id?: string }).id };
    };
    const life = createLife(operator, order, random);
    let isOver = false;
    const first = life.run(() => isOver);
    await sleep(1_000);
    isOver = true;
    await first;
    await life.settle();
    const made = await operator.owned?.backup(copy, () => undefined);
    const since = String(made?.['made_at']);
    isOver = false;
    const second = life.run(() => isOver).catch(() => undefined);
    await life.each();
    await sleep(500 + random() * 1_500);
    // Calls of the life that the kill interrupts may or may not have happened.
    const done = [...life.done];
    await served.end('SIGKILL');
    isOver = true;
    await second;
    const old = new Map((await itemsInFolder(data, operator.table.name)).map((item) => [nameOf(item), item]));
    const next = await startServe(copy);
    onTestFinished(async () => void (await next.end()));
    const restored = await connect({ data: copy });
    const before = await allItems(restored);
    const from = ['--from', data, '--since', since];
    const compared = adminOf(copy, 'backup', 'compare', ...from);
    const listed = dataOf(await compared.ended);
    for (let kill = 0; kill < kills; kill += 1) {
      const run = adminOf(copy, 'backup', 'enter', ...from);
      await Promise.race([sleep(300 + random() * 1_500), run.ended]);
      run.kill();
      await run.ended;
    }
    dataOf(await adminOf(copy, 'backup', 'enter', ...from).ended);
    const after = await allItems(restored);
    await checkDrill(restored, {
      ...{ old, before, after, listed, done, left: life.left, damaged: new Set<string>() },
      sinceMillis: Date.parse(since),
    });
    process.stderr.write(`${listed.length} things were entered from the old folder\n`);
  },
);

async function itemsInFolder(folder: string, table: string): Promise<Item[]> {
  return (await itemsInCopy(folder, table)).map((item) => unmarshall(item as Record<string, AttributeValue>));
}

function adminOf(data: string, ...words: readonly string[]): AdminChild {
  return runAdmin(['--data', data, '--json', ...words]);
}

function dataOf({ code, out, complaint }: Awaited<AdminChild['ended']>): Listed[] {
  expect(code, complaint + out).toBe(0);
  return (JSON.parse(out) as { data: Listed[] }).data;
}

interface Listed {
  readonly of: string;
  readonly id: string;
  readonly change: string;
  readonly left: string | null;
}

async function listedBy(stack: StandInStack, task: 'compare' | 'enter', table: string): Promise<Listed[]> {
  return dataOf(await stack.admin('backup', task, '--table', table).ended);
}

/** The reason for the restore: an early row is gone with its reference, and another row has another amount. */
async function damage({ table }: OperatorServices, beforeMillis: number): Promise<ReadonlySet<string>> {
  const rows = [...(await allItems({ table })).values()].filter(
    ({ sk, kind, at }) =>
      String(sk).startsWith('LEDGER#') && kind === 'top_up' && Date.parse(String(at)) < beforeMillis,
  );
  const [gone, changed] = rows;
  if (!gone || !changed) throw new Error('nobody topped up before the moment');
  const reference = { pk: gone['pk'], sk: `REFERENCE#${String(gone['reference'])}` };
  for (const { pk, sk } of [gone, reference]) await deleteItem(table, { pk: String(pk), sk: String(sk) });
  await putItem(table, { ...changed, pk: String(changed['pk']), sk: String(changed['sk']), amountMicros: 1 });
  return new Set([gone, reference, changed].map(nameOf));
}

function orderAt(origin: string, random: () => number): Order {
  return async (key, prompt) => {
    const answer = await fetch(`${origin}/api/public/v1/images/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox-sketch', prompt, user: random() < 0.5 ? 'one' : 'two' }),
    });
    return { status: answer.status, id: ((await answer.json()) as { id?: string }).id };
  };
}

/** The template as the setting restoredTable makes it. It lies beside its bundles. */
async function templateOn(table: string): Promise<string> {
  const path = await synthesizedTemplate();
  const text = readFileSync(path, 'utf8');
  const [own = ''] = /(?<=")StoreTable[0-9A-F]{8}(?=":)/.exec(text) ?? [];
  const arn = `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`;
  const compact = JSON.stringify(JSON.parse(text))
    .replaceAll(`{"Ref":"${own}"}`, JSON.stringify(table))
    .replaceAll(`{"Fn::GetAtt":["${own}","Arn"]}`, JSON.stringify(arn));
  const restored = path.replace('Darkroom.', `Restored-${process.pid}.`);
  writeFileSync(restored, compact);
  onTestFinished(() => rmSync(restored));
  return restored;
}
