/** What a service for others keeps when it ends, when it is killed, and in a backup. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../admin/connect.ts';
import type { OwnedService } from '../../admin/services.ts';
import { createOwnerControl, type OwnerControlOptions } from '../../local/control/owner-control.ts';
import { listenOnLoopback } from '../../local/http.ts';
import { proofOf, readServiceRecord, serviceFileName } from '../../local/service-record.ts';
import { encodeLine, segmentName } from '../../local/dynamodb/journal/format.ts';
import type { StoredRecord } from '../../local/dynamodb/storage.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { differencesIn } from '../fixtures/books.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { checkWhole, generate, load, newKey } from './load.ts';
import { ask, startServe } from './serve-child.ts';

/** `KILL_ROUNDS=100 npm test -- test/serve/keeps` kills more often. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? 3);

describe('a signal', () => {
  it('lets a held answer end, and ends the service with 0', { timeout: 60_000 }, async () => {
    const folder = join(newFolder(), 'data');
    const { port, lines, end } = await startServe(folder);
    const key = await newKey(folder);
    // The functions are loaded, so that a slow machine need not load them after the signal.
    await generate(port, key, 'a lake', { prefer: 'wait=20' });
    const held = generate(port, key, 'a lake [sandbox:delay=500ms]', { prefer: 'wait=20' });
    await expect
      .poll(() => lines.filter(({ event }) => event === 'creation_accepted').length, { timeout: 20_000 })
      .toBe(2);
    const code = end();
    await sleep(500);
    await expect(ask(port, '/readyz')).rejects.toThrow('ECONNREFUSED');
    expect(JSON.parse((await held).text)).toMatchObject({ status: 'completed' });
    expect(await code).toBe(0);
  });
});

describe('kill -9', () => {
  it(
    `loses no answered creation, ${rounds} times under load`,
    { timeout: 60_000 + rounds * 20_000 },
    async () => {
      const folder = join(newFolder(), 'data');
      const ids: CreationId[] = [];
      let served = await startServe(folder);
      const key = await newKey(folder);
      for (let round = 0; round < rounds; round += 1) {
        const before = ids.length;
        const loading = load(served.port, key, ids);
        await expect.poll(() => ids.length, { timeout: 30_000, interval: 5 }).toBeGreaterThan(before);
        await sleep(Math.random() * 1_500);
        await served.end('SIGKILL');
        await loading;
        served = await startServe(folder);
      }
      expect(ids.length).toBeGreaterThan(rounds);
      await checkWhole(folder, served, ids);
      process.stderr.write(`${ids.length} answered creations in ${rounds} lives, none lost\n`);
      await served.end();
    },
  );
});

describe('a backup', () => {
  it('made under load starts as a service with equal books', { timeout: 120_000 }, async () => {
    const folder = join(newFolder(), 'data');
    const copy = join(newFolder(), 'copy');
    const served = await startServe(folder);
    const key = await newKey(folder);
    const before: CreationId[] = [];
    const after: CreationId[] = [];
    let isOver = false;
    await load(served.port, key, before, () => before.length >= 4);
    const loading = load(served.port, key, after, () => isOver);
    await sleep(300);
    const operator = await connect({ data: folder });
    const made = await operator.owned?.backup(copy, () => undefined);
    await sleep(300);
    isOver = true;
    await loading;
    expect(made).toMatchObject({ to: copy });
    await expect(operator.owned?.backup(copy, () => undefined)).rejects.toThrow('is not empty');
    await served.end();
    for (const entry of readdirSync(copy, { recursive: true, withFileTypes: true }))
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077, entry.name).toBe(0);

    const torn = join(newFolder(), 'torn');
    cpSync(copy, torn, { recursive: true });
    appendFileSync(join(torn, 'objects.jsonl'), '\n');
    await expect(startServe(torn)).rejects.toThrow('objects.jsonl differs from what was copied');

    const restored = await startServe(copy);
    await checkWhole(copy, restored, before);
    expect((await generate(restored.port, key)).status).toBe(202);
    await restored.end();
  });
});

describe('a backup that lasts', () => {
  /** The controls of a service, with another backup than its own. */
  async function slowService(
    backup: OwnerControlOptions['backup'],
  ): Promise<{ owned: OwnedService; end: () => void }> {
    const folder = join(newFolder(), 'data');
    const { end } = await startServe(folder);
    onTestFinished(async () => void (await end()));
    const record = readServiceRecord(folder);
    const secret = 'x'.repeat(32);
    const control = createOwnerControl({
      ...{ secret, backup, betweenLinesMillis: 20 },
      prove: (challenge) => proofOf(secret, challenge),
      state: () => ({ offset_seconds: 0, environment: {} }),
      publication: { answer: () => Promise.resolve() },
    });
    const server = createServer((incoming, outgoing) => void control(incoming, outgoing));
    const localUrl = `http://127.0.0.1:${await listenOnLoopback(server)}/_local`;
    onTestFinished(() => void server.close());
    const other = newFolder();
    writeFileSync(join(other, serviceFileName), JSON.stringify({ ...record, localUrl, secret }));
    const { owned } = await connect({ data: other });
    if (!owned) throw new Error('the service is a test machine');
    return { owned, end: () => server.closeAllConnections() };
  }

  it('reports its progress until it ends', { timeout: 30_000 }, async () => {
    const { promise: over, resolve: endNow } = Promise.withResolvers<undefined>();
    const { owned } = await slowService(async (_to, tell) => {
      tell({ files: 3, bytes: 7 });
      await over;
      return { version: 1, made_at: 'now', files: [] };
    });
    const told: unknown[] = [];
    const made = owned.backup('/to', (copied) => told.push(copied));
    await expect.poll(() => told.length).toBeGreaterThan(3);
    expect(told.at(-1)).toEqual({ files: 3, bytes: 7 });
    endNow(undefined);
    expect(await made).toEqual({ to: '/to', made_at: 'now', files: 0, bytes: 0 });
  });

  it('is none when the service ends', { timeout: 30_000 }, async () => {
    const { owned, end } = await slowService(() => new Promise(() => undefined));
    const made = owned.backup('/to', end);
    await expect(made).rejects.toThrow('The service ended, and /to is no backup: delete this folder.');
  });
});

describe('a folder of an earlier release', () => {
  /** One completed creation, as `npm start` of the releases before the headers left it; without the picture. */
  const folders = fileURLToPath(new URL('folders', import.meta.url));
  it.each(readdirSync(folders))('%s goes on, with equal books', { timeout: 60_000 }, async (name) => {
    const folder = newFolder();
    execFileSync('tar', ['-xzf', join(folders, name), '-C', folder]);
    const served = await startServe(folder);
    const { creations, accounts, table } = await connect({ data: folder });
    const [account] = await accounts.list();
    const page = account && (await creations.list(account.id, 10));
    expect(page).toMatchObject([{ status: 'completed', webhook: { status: 'delivered' } }]);
    const key = await newKey(folder);
    const held = await generate(served.port, key, 'a lake', { prefer: 'wait=25' });
    expect(JSON.parse(held.text)).toMatchObject({ status: 'completed' });
    expect(await differencesIn(table)).toEqual([]);
    await served.end();
    expect(readFileSync(join(folder, 'executions.jsonl'), 'utf8')).toMatch(
      /^\{"format":"darkroom-journal","version":1\}\n/,
    );
  });
});

/** Writes the records of the tables anew, as another release would have written them. */
function rewriteTables(folder: string, change: (record: StoredRecord) => StoredRecord): void {
  const file = join(folder, 'tables', segmentName(1));
  const [header = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const records = lines.map((line) => change(JSON.parse(line.slice(line.indexOf(' '))) as StoredRecord));
  writeFileSync(file, `${header}\n${records.map(encodeLine).join('')}`);
}

describe('a folder whose tables are others', () => {
  it('gets the indexes that it lacks, from its rows', { timeout: 60_000 }, async () => {
    const folder = join(newFolder(), 'data');
    const first = await startServe(folder);
    const key = await newKey(folder);
    await generate(first.port, key, 'a lake', { prefer: 'wait=25' });
    await first.end();
    rewriteTables(folder, (record) => {
      if (record.kind !== 'table') return record;
      const { KeySchema, AttributeDefinitions } = record.table;
      const keys = new Set(KeySchema.map(({ AttributeName }) => AttributeName));
      const own = AttributeDefinitions.filter(({ AttributeName }) => keys.has(AttributeName));
      return { ...record, table: { ...record.table, AttributeDefinitions: own, GlobalSecondaryIndexes: [] } };
    });
    for (let start = 0; start < 2; start += 1) {
      const { end } = await startServe(folder);
      const { accounts, creations, table } = await connect({ data: folder });
      const [account] = await accounts.list();
      expect(account && (await creations.list(account.id, 10))).toMatchObject([{ status: 'completed' }]);
      expect(await differencesIn(table)).toEqual([]);
      await end();
    }
  });

  it(
    'is refused with one sentence when this release does not know a table',
    { timeout: 30_000 },
    async () => {
      const folder = join(newFolder(), 'data');
      await (await startServe(folder)).end();
      rewriteTables(folder, (record) =>
        record.kind === 'table' ? { ...record, table: { ...record.table, TableName: 'Renamed' } } : record,
      );
      await expect(startServe(folder)).rejects.toThrow(
        /^The folder has the table Renamed, which this release does not know: start the release that wrote it, or choose another folder with --data\.\n$/,
      );
    },
  );
});

describe('a folder of a newer release', () => {
  it('is refused with one sentence', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'executions.jsonl'), '{"format":"darkroom-journal","version":2}\n');
    await expect(startServe(folder)).rejects.toThrow(
      /^The file .*executions\.jsonl is of a newer release \(its version is 2\): start that release\.\n$/,
    );
  });
});
