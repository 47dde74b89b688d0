/** The exit codes of `darkroom`, and its commands around a creation, against the real service. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../client/command/complaint.ts';
import { signWebhook } from '../../../client/src/webhooks.ts';
import { readPage, sectionOf, tableRows } from '../../docs/pages.ts';
import { png } from '../../whole/image-origin.ts';
import { settled, submit } from '../../whole/workflow/creations.ts';
import { isPng, newPerson, type Said, useServedPerson } from './command-run.ts';

const served = useServedPerson();
const at = (name: string): string => join(served.person.folder, name);

describe('the exit codes', () => {
  const noKey = { DARKROOM_API_KEY: '' };
  it.each<[number, string, readonly string[], Record<string, string>]>([
    [1, 'a failed creation', ['generate', 'a fox [sandbox:fail]'], {}],
    [1, 'an unknown creation', ['creations', 'show', '01a203f4-b6b2-7f46-ab5e-685a3df87699'], {}],
    [1, 'a service that is away', ['balance'], { DARKROOM_BASE_URL: 'http://127.0.0.1:9' }],
    [2, 'an unknown option', ['generate', '--colour', 'red'], {}],
    [2, 'an unknown command', ['paint'], {}],
    [2, 'a wrong value', ['generate', 'a lake', '--seed', '-1'], {}],
    [2, 'no prompt', ['generate'], {}],
    [2, 'a prompt that the service refuses', ['generate', 'a'.repeat(5000)], {}],
    [2, 'an unknown model', ['generate', 'a lake', '-m', 'nope'], {}],
    [2, 'a file that is not there', ['upload', 'nothing.png'], {}],
    [2, 'an address that is none', ['balance'], { DARKROOM_BASE_URL: 'not an address' }],
    [3, 'no key', ['balance'], noKey],
    [3, 'a wrong key', ['balance'], { DARKROOM_API_KEY: 'dk_live_0000000000000000000000000000000000000000' }],
    [4, 'a price above --max-cost', ['generate', 'a lake', '--max-cost', '0.001'], {}],
  ])('%i: %s', async (wanted, _what, args, env) => {
    const said = await served.person.run(args, { env });
    expect(said).toMatchObject({ code: wanted, out: '' });
    expect(said.err).not.toContain(served.client.key);
    expect(said.err).not.toMatch(/unexpected|undefined|\bat \//i);
  });

  it('4: a balance that does not cover the price', async () => {
    const { key } = await served.service.client({ balance: '0.001' });
    const said = await served.person.run(['generate', 'a lake'], { env: { DARKROOM_API_KEY: key } });
    expect(said).toMatchObject({ code: 4, out: '' });
  });

  it('1: a service that stays away until --timeout; the error names the time, the limit and the key', async () => {
    let now = 0;
    const io = {
      now: () => now,
      sleep: (millis: number) => {
        now += millis;
        return Promise.resolve();
      },
    };
    const args = 'generate lake -m m --timeout 2 --idempotency-key order-1'.split(' ');
    const env = { DARKROOM_BASE_URL: 'http://127.0.0.1:9' };
    const { code, err } = await served.person.run(args, { env, io });
    expect(code).toBe(1);
    expect(err).toMatch(/Given up after [\d.]+ of 2 s, with the Idempotency-Key order-1\./);
    expect(err).toContain('Run the command again with --idempotency-key order-1: it is never charged twice.');
    expect(err).not.toMatch(/\d ms\b/);
    expect(now).toBeGreaterThan(500);
  });

  it.each(['creations cancel c1', 'endpoints create https://a.test/', 'bucket copy c1', 'upload lake.png'])(
    '1: %s, while the service is away, does not name an option that the command lacks',
    async (command) => {
      writeFileSync(at('lake.png'), png(64, 64));
      const env = { DARKROOM_BASE_URL: 'http://127.0.0.1:9' };
      const { code, err } = await served.person.run(command.split(' '), { env });
      expect(code).toBe(1);
      expect(err).toMatch(/\nCheck the address: DARKROOM_BASE_URL, or `darkroom login --base-url URL`\.\n$/);
    },
  );

  it('5: too many requests', async () => {
    const { key } = await served.service.client({ getRate: '1' });
    const env = { DARKROOM_API_KEY: key };
    const codes = [
      await served.person.run(['balance'], { env }),
      await served.person.run(['balance'], { env }),
    ];
    expect(codes.map(({ code }) => code)).toEqual([0, 5]);
    expect(codes[1]?.err).toMatch(/Wait \d+ s, and run the command again\./);
  });

  it('With --json, the error of a failed creation names the creation and its code', async () => {
    const { err } = await served.person.run(['--json', 'generate', 'a fox [sandbox:reject-prompt]']);
    const { creation_id: id, error_code: code } = (JSON.parse(err) as { error: Record<string, string> })
      .error;
    const failed = { id, status: 'failed', error_code: 'prompt_rejected' };
    expect(code).toBe('prompt_rejected');
    expect(await served.person.json('creations', 'show', id ?? '')).toMatchObject(failed);
  });

  it('With --json, an error is a JSON document on standard error', async () => {
    const { err, out } = await served.person.run(['generate', 'a lake', '-m', 'nope', '--json']);
    expect(out).toBe('');
    expect(JSON.parse(err)).toMatchObject({
      error: {
        failure: 'usage',
        code: 'ERR_MODEL_NOT_FOUND',
        fix: expect.stringContaining('darkroom models') as string,
      },
    });
  });

  it('No key is ever printed, also when an error would repeat it', async () => {
    const env = { DARKROOM_BASE_URL: `http://${served.client.key}@127.0.0.1:9` };
    const said: Said[] = [
      await served.person.run(['balance', '--debug'], { env }),
      await served.person.run(['balance'], { env: { DARKROOM_API_KEY: `${served.client.key} and more` } }),
    ];
    for (const { out, err } of said) expect(out + err).not.toContain(served.client.key);
  });
});

describe('the other commands', () => {
  it('creations: list, show, wait and cancel', async () => {
    const made: string[] = [];
    for (const prompt of ['one [sandbox:fail]', 'two [sandbox:fail]', 'a fox [sandbox:fail]'])
      made.push(await submit(served.service, served.client.key, { prompt }));
    await Promise.all(made.map((one) => settled(served.service, one)));
    const listed = await served.person.json('creations', 'list', '--limit', '3');
    expect(listed).toMatchObject({ data: made.toReversed().map((id) => ({ id })) });
    expect(await served.person.json('creations', 'show', made[0] ?? '')).toMatchObject({ id: made[0] });
    const { out } = await served.person.run(['creations', 'list', '--status', 'failed']);
    expect(out.split('\n')[1]).toMatch(/ failed +sandbox-sketch +0\.01 +a fox/);
    // Nobody starts this creation, so it can be cancelled.
    served.service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const submitted = await submit(served.service, served.client.key, { prompt: 'a lake' });
    served.service.machine.faults.clear();
    const cancelled = await served.person.json('creations', 'cancel', submitted);
    expect(cancelled).toMatchObject({ status: 'failed', amount_refunded: 0.01 });
    const waited = await served.person.run(['creations', 'wait', submitted]);
    expect(waited).toMatchObject({ code: 1, out: '' });
  });

  it('results delete: the images of each creation are gone, and what has none ends with the reason', async () => {
    const made = [
      await submit(served.service, served.client.key, { prompt: 'one lake' }),
      await submit(served.service, served.client.key, { prompt: 'two lakes' }),
    ];
    await Promise.all(made.map((one) => settled(served.service, one)));
    expect(await served.person.json('results', 'delete', ...made)).toEqual({
      data: made.map((id) => ({ id, results: 'deleted' })),
    });
    for (const id of made)
      expect(await served.person.json('creations', 'show', id)).toMatchObject({ result_urls: [] });
    const failed = await submit(served.service, served.client.key, { prompt: 'a fox [sandbox:fail]' });
    await settled(served.service, failed);
    const said = await served.person.run(['results', 'delete', failed]);
    expect(said).toMatchObject({ code: 2, out: '' });
    expect(said.err).toContain('The creation is failed.');
  });

  it('creations wait -o saves the image of an earlier creation', async () => {
    const submitted = await submit(served.service, served.client.key, { prompt: 'a lake' });
    const said = await served.person.run(['creations', 'wait', submitted, '-o', 'waited.png']);
    expect(said).toMatchObject({ code: 0, out: 'waited.png\n' });
    expect(isPng(readFileSync(at('waited.png')))).toBe(true);
  });

  it('requests lists refused requests, and can be filtered', async () => {
    const { service, client, person } = served;
    const body = { model: 'sandbox-sketch', prompt: 'a lake', resolution: '8K' };
    expect((await service.send('/images/generate', { key: client.key, body })).status).toBe(400);
    const filter = ['--outcome', 'refused', '--code', 'ERR_INVALID_REQUEST', '--limit', '1'];
    const listed = await person.json('requests', ...filter);
    expect(listed).toMatchObject({ data: [{ status: 400, door: 'api', body: JSON.stringify(body) }] });
    const { out } = await person.run(['requests', ...filter]);
    expect(out.split('\n')[1]).toMatch(/ refused +400 +api +\w+ +resolution +1$/);
    expect((await person.run(['requests', '--code', 'ERR_INTERNAL'])).out).toBe('No requests.\n');
  });

  it('endpoints are created, listed, updated and deleted', async () => {
    const { service, person } = served;
    const url = service.machine.inboxUrl;
    const made = await person.json('endpoints', 'create', url, '--description', 'orders');
    const events = ['creation.completed', 'creation.failed'];
    expect(made).toMatchObject({ url, events, enabled: true, description: 'orders' });
    const id = String((made as { id: unknown }).id);
    const { out } = await person.run(['endpoints', 'list']);
    expect(out).toContain(`${id}  ${url}`);
    expect(await person.run(['endpoints', 'update', id])).toMatchObject({ code: 2, out: '' });
    expect(await person.run(['endpoints', 'update', id, '--on', '--off'])).toMatchObject({ code: 2 });
    expect(await person.run(['endpoints', 'update', id, '--events', 'wallet.gone'])).toMatchObject({
      code: 2,
    });
    const change = ['--off', '--events', 'wallet.low, creation.failed'];
    expect(await person.json('endpoints', 'update', id, ...change)).toMatchObject({
      ...{ url, enabled: false, events: ['wallet.low', 'creation.failed'], description: 'orders' },
    });
    expect(await person.json('endpoints', 'update', id, '--on')).toMatchObject({ enabled: true });
    expect(await person.json('endpoints', 'delete', id)).toEqual({ id, deleted: true });
    expect(await person.run(['endpoints', 'list'])).toMatchObject({ code: 0, out: 'No endpoints.\n' });
    expect((await person.run(['endpoints', 'delete', id])).code).toBe(1);
  });

  it('models and balance print tables, and JSON documents', async () => {
    const models = await served.person.run(['models']);
    expect(models.out.split('\n')[1]).toMatch(/^sandbox-sketch +0\.01 +1K +- +yes +Sandbox Sketch$/);
    expect(((await served.person.json('models')) as { data: unknown[] }).data[0]).toMatchObject({
      id: 'sandbox-sketch',
      default_resolution: '1K',
    });
    const { out } = await served.person.run(['balance', '--user', 'ann']);
    expect(out).toMatch(/^currency +USD$/m);
    expect(out).toMatch(/^key\.spent +[\d.]+$/m);
    expect(out).not.toContain('monthly_cap');
  });

  it('webhooks verify says whether a webhook is genuine', async () => {
    const body = JSON.stringify({ event: 'creation.completed', id: 'c1' });
    const headers = await signWebhook(body, served.client.webhookSecret);
    const env = { DARKROOM_WEBHOOK_SECRET: served.client.webhookSecret };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const verify = ['webhooks', 'verify'];
    const request = ['POST /hooks HTTP/1.1', ...lines, '', body];
    for (const end of ['\n', '\r\n']) {
      const { code, out } = await served.person.run(verify, { env, input: request.join(end) });
      expect([code, out]).toEqual([0, 'valid  true\nevent  creation.completed\nid     c1\n']);
    }
    const flags = lines.flatMap((line) => ['-H', line]);
    expect((await served.person.run([...verify, ...flags], { env, input: body })).code).toBe(0);
    const changed = await served.person.run([...verify, ...flags], { env, input: `${body} ` });
    expect(changed).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('No signature matches') as string,
    });
    const other = await served.person.run(
      [...verify, '--secret', `whsec_${btoa('x'.repeat(32))}`, ...flags],
      {
        env,
        input: body,
      },
    );
    expect(other.code).toBe(1);
    expect(
      (await served.person.run(verify, { env: { DARKROOM_WEBHOOK_SECRET: '' }, input: request.join('\n') }))
        .code,
    ).toBe(2);
    expect((await served.person.run(verify, { env, input: body })).code).toBe(2);
    const old = await served.person.run([...verify, '--tolerance', '0'], {
      env,
      input: request.join('\n'),
      io: { now: () => Date.now() + 60_000 },
    });
    expect(old.err).toContain('signed too long ago');
  });

  it('Colours appear on a terminal only, and never with NO_COLOR', async () => {
    // oxlint-disable-next-line no-control-regex
    const colour = /\u001b\[3?\d/;
    const [piped, seen, plain] = [
      await served.person.run(['balance']),
      await served.person.run(['balance'], { isTTY: true }),
      await served.person.run(['balance'], { isTTY: true, env: { NO_COLOR: '1' } }),
    ];
    expect([piped, seen, plain].map(({ out }) => colour.test(out))).toEqual([false, true, false]);
  });
});

describe('darkroom completion', () => {
  it('bash completes commands, options and values', async () => {
    const { out } = await served.person.run(['completion', 'bash']);
    const complete = (...words: readonly string[]): string[] => {
      const typed = words.map((word) => `'${word}'`).join(' ');
      const script = `${out}\nCOMP_WORDS=(darkroom ${typed}) COMP_CWORD=${words.length}\n_darkroom\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
    };
    expect(complete('gen')).toEqual(['generate']);
    expect(complete('creations', '')).toEqual(['list', 'show', 'cancel', 'wait']);
    expect(complete('generate', 'a lake', '--dry')).toEqual(['--dry-run']);
    expect(complete('creations', 'list', '--status', 'f')).toEqual(['failed']);
    expect(complete('--json', 'creations', 'li')).toEqual(['list']);
    expect(complete('generate', '')).toEqual(['']);
  });

  it.each(['zsh', 'fish'])('%s gets every command and option with its description', async (shell) => {
    const { code, out } = await served.person.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['forward-to', 'dry-run', 'render an image, save it', 'queued'])
      expect(out).toContain(word);
    // An apostrophe of a description must not end a quoted text.
    expect((out.replaceAll("'\\''", '').match(/'/g) ?? []).length % 2).toBe(0);
  });
});

const page = readPage('docs/command.md');
const person = await newPerson();
await person.remove();

/** What `--help` prints of a command: the flags as they are written there, without --help itself. */
async function helpOf(...path: readonly string[]): Promise<{ flags: string[]; commands: string[] }> {
  const { code, out, err } = await person.run([...path, '--help']);
  expect([code, err]).toEqual([0, '']);
  const part = (title: string): string => new RegExp(`^${title}:\\n((?: .*\\n)+)`, 'm').exec(out)?.[1] ?? '';
  return {
    flags: [...part('Options').matchAll(/^ {2}(-.*?)(?: {2}|\n|$)/gm)]
      .map(([, flag = '']) => flag.trim())
      .filter((flag) => !flag.endsWith('--help')),
    commands: [...part('Commands').matchAll(/^ {2}([a-z]+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help'),
  };
}

const documented = (text: string): string[] =>
  tableRows(text)
    .map(([cell = '']) => cell.replaceAll('`', '').replaceAll('\\|', '|'))
    .filter((cell) => cell.startsWith('-'));

const top = await helpOf();
const help = (await person.run(['--help'])).out;

describe('docs/command.md', () => {
  it('has a section for each command, and one for no other', () => {
    const sections = [...page.text.matchAll(/^## ([a-z]+)$/gm)].map(([, name]) => name);
    const ofOthers = ['logout'];
    expect([...sections, ...ofOthers].toSorted()).toEqual(top.commands.toSorted());
  });

  it('lists the options that every command has', () => {
    const before = page.text.slice(0, page.text.indexOf('## '));
    expect(documented(before).toSorted()).toEqual(top.flags.toSorted());
  });

  it.each(top.commands.filter((name) => name !== 'logout'))('lists the options of %s', async (name) => {
    const own = await helpOf(name);
    const below = await Promise.all(own.commands.map(async (one) => helpOf(name, one)));
    // Two commands below one may share an option.
    const flags = new Set([own, ...below].flatMap((one) => one.flags));
    expect(documented(sectionOf(page, `## ${name}`)).toSorted()).toEqual([...flags].toSorted());
    for (const one of own.commands) expect(sectionOf(page, `## ${name}`)).toContain(one);
  });

  it('lists the exit codes', () => {
    const rows = tableRows(sectionOf(page, '## Exit codes')).map(([code, name]) => [name, Number(code)]);
    expect(Object.fromEntries(rows)).toEqual(exitCodes);
    for (const [name, code] of Object.entries(exitCodes)) expect(help).toContain(`${code} ${name}`);
  });
});
