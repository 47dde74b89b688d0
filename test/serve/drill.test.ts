/** The drill: a table is restored to a moment, and what came afterwards is entered by a command that is killed. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RestoreTableToPointInTimeCommand } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { AnswerLost } from '../../local/aws/aws-error.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { allItems, checkDrill, createLife, type Order, randomFrom } from './drill.ts';
import { startStack } from './stand-in-stack.ts';

/** `DRILL_KILLS=20 npm test -- test/serve/drill.test.ts` kills more often, and `DRILL_SEED` repeats a run. */
const kills = Number(process.env['DRILL_KILLS'] ?? 3);
const seed = Number(process.env['DRILL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

it(
  `a restored table gets everything that came later, once, in ${kills} kills (seed ${seed})`,
  { timeout: 120_000 + kills * 20_000 },
  async () => {
    const random = randomFrom(seed);
    const stack = await startStack(join(newFolder(), 'stack'), { recoverMillis: 3_600_000 });
    onTestFinished(stack.end);
    const { operator, machine } = stack;
    const order: Order = async (key, prompt) => {
      const answer = await fetch(`${machine.apiUrl}/images/generate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sandbox-sketch', prompt, user: random() < 0.5 ? 'one' : 'two' }),
      });
      return { status: answer.status, id: ((await answer.json()) as { id?: string }).id };
    };
    const life = createLife(operator, order, random);
    await createAccount(operator, { name: 'first', balance: '1' });
    let isOver = false;
    const living = life.run(() => isOver);
    await sleep(2_500 + random() * 1_500);
    const sinceMillis = Date.now();
    await sleep(1_500 + random() * 1_500);
    isOver = true;
    await living;
    await life.settle();
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
    const compared = await stack.admin('backup', 'compare', '--table', table).ended;
    expect(compared.code, compared.complaint).toBe(0);
    expect(await allItems(restored)).toEqual(before);
    const { data: listed } = JSON.parse(compared.out) as { data: { of: string; id: string }[] };
    let killed = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const run = stack.admin('backup', 'enter', '--table', table);
      let writesLeft = 1 + Math.floor((random() * listed.length * 1.4) / kills);
      machine.watchAws(async (call, serve) => {
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
      const { code } = await run.ended;
      if (code === null) killed += 1;
    }
    machine.watchAws((_call, serve) => serve());
    const last = await stack.admin('backup', 'enter', '--table', table).ended;
    expect(last.code, last.complaint + last.out).toBe(0);
    const drilled = {
      ...{ old: await allItems(operator), before, after: await allItems(restored) },
      ...{ damaged: new Set<string>(), listed, done: life.done, sinceMillis },
    };
    await checkDrill(restored, drilled);
    const again = await stack.admin('backup', 'enter', '--table', table).ended;
    expect(JSON.parse(again.out)).toEqual({ data: [] });
    process.stderr.write(
      `${listed.length} things came after the moment, ${killed} of ${kills} kills came before the end\n`,
    );
  },
);
