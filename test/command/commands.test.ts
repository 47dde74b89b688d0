/** The commands of `darkroom` against the real service, as a person and a program use them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signWebhook } from '../../client/src/webhooks.ts';
import { png } from '../api/image-files.ts';
import { sharedTestService, type Client, type TestService } from '../fixtures/service.ts';
import { submit } from '../workflow/creations.ts';
import { newPerson, type Person, type Said } from './command-run.ts';

let service: TestService;
let client: Client;
let person: Person;
let baseUrl: string;
beforeAll(async () => {
  [service, person] = await Promise.all([sharedTestService(), newPerson()]);
  client = await service.client({ postRate: '1000' });
  baseUrl = new URL(service.machine.apiUrl).origin;
  Object.assign(person.env, { DARKROOM_API_KEY: client.key, DARKROOM_BASE_URL: baseUrl });
});
afterAll(async () => {
  await person.remove();
  await service.end();
});

const at = (name: string): string => join(person.folder, name);
const balanceNow = async (): Promise<{ in_flight: number }> =>
  (await person.json('balance')) as { in_flight: number };
const pngHead = Buffer.from('89504e470d0a1a0a', 'hex');
const isPng = (bytes: Uint8Array): boolean => pngHead.equals(bytes.subarray(0, 8));

describe('darkroom generate', () => {
  it('saves the image, and prints nothing but its path on standard output', async () => {
    const { code, out, err } = await person.run(['generate', 'a lake', '-o', 'lake.png']);
    expect([code, out]).toEqual([0, 'lake.png\n']);
    expect(isPng(readFileSync(at('lake.png')))).toBe(true);
    expect(err).toContain('Model: sandbox-sketch, the cheapest.');
    expect(err).toMatch(/0\.01 USD {2}\d+\.\d s/);
    expect(readdirSync(person.folder).filter((name) => /part|\.darkroom/.test(name))).toEqual([]);
  });

  it('asks for the format that the ending of the file names, and takes the id as the name without -o', async () => {
    await person.run(['generate', 'a lake', '-o', 'lake.jpg']);
    expect(readFileSync(at('lake.jpg')).subarray(0, 3).toString('hex')).toBe('ffd8ff');
    const { out } = await person.run(['generate', 'a lake', '-m', 'sandbox-sketch', '-f', 'png']);
    expect(out).toMatch(/^[0-9a-f-]{36}\.png\n$/);
    expect(isPng(readFileSync(at(out.trim())))).toBe(true);
  });

  it('sends every option, and with --json prints the files and the creation', async () => {
    const options = [
      '-m',
      'sandbox-pro',
      '-r',
      '1K',
      '-a',
      '16:9',
      '--seed',
      '7',
      '--max-cost',
      '0.2',
      '--user',
      'ann',
    ];
    const said = await person.run([
      '--json',
      'generate',
      'a lake',
      ...options,
      '--metadata',
      'order=4=2',
      '-o',
      'all.png',
    ]);
    expect([said.code, said.err]).toEqual([0, '']);
    expect(JSON.parse(said.out)).toMatchObject({
      files: ['all.png'],
      creation: {
        model: 'sandbox-pro',
        resolution: '1K',
        aspect_ratio: '16:9',
        seed: 7,
        user: 'ann',
        output_format: 'png',
        metadata: { order: '4=2' },
      },
    });
  });

  it('uploads source images of this machine, and chooses the cheapest model that takes images', async () => {
    writeFileSync(at('source.png'), png(64, 64));
    const { creation } = (await person.json(
      'generate',
      'in winter',
      '-i',
      'source.png',
      '-o',
      'winter.png',
    )) as {
      creation: unknown;
    };
    expect(creation).toMatchObject({ model: 'sandbox-standard', cost: 0.045 });
    const { image_url } = (await person.json('upload', 'source.png')) as { image_url: string };
    expect(image_url).toMatch(/^upload:/);
    const quote = await person.json('generate', 'again', '-i', image_url, '-i', image_url, '--dry-run');
    expect(quote).toMatchObject({ input_images: 2, sufficient: true });
  });

  it('charges nothing for --dry-run, and nothing when no file can be written', async () => {
    const before = await balanceNow();
    const { out } = await person.run(['generate', 'a lake', '--dry-run']);
    expect(out).toMatch(/^cost +0\.01\n/);
    const refused = await person.run(['generate', 'a lake', '-o', 'no/such/folder/lake.png']);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('(ENOENT)') as string });
    expect(await balanceNow()).toEqual(before);
  });

  it('with --idempotency-key, a repetition gives the same image and is not charged', async () => {
    const again = ['generate', 'a lake', '--idempotency-key', 'order-1', '-o', 'once.png'];
    const first = (await person.json(...again)) as { creation: { id: string } };
    expect(await person.json(...again)).toMatchObject({ creation: { id: first.creation.id } });
  });

  it('after Ctrl-C says how to get the image without a second charge', async () => {
    const running = person.start(['generate', 'a lake [sandbox:delay=1s]', '-o', 'late.png']);
    await expect.poll(running.err).toContain('is rendering');
    // The request has left: the service holds its answer.
    await expect.poll(async () => (await balanceNow()).in_flight).toBe(1);
    expect(await running.stop()).toBe(1);
    const { err } = await running.ended;
    const key = /--idempotency-key (\S+):/.exec(err)?.[1] ?? '';
    const { creation } = (await person.json(
      ...['generate', 'a lake [sandbox:delay=1s]', '-o', 'late.png', '--idempotency-key', key],
    )) as { creation: { id: string } };
    const list = (await person.json('creations', 'list', '--limit', '2')) as {
      data: { id: string; prompt: string }[];
    };
    expect(list.data.filter(({ prompt }) => prompt.includes('delay')).map(({ id }) => id)).toEqual([
      creation.id,
    ]);
  });

  it.each([
    ['iTerm.app', { TERM_PROGRAM: 'iTerm.app' }, '\u001b]1337;File=inline=1;'],
    ['kitty', { TERM: 'xterm-kitty' }, '\u001b_Ga=T,f=100,'],
    ['tmux in iTerm.app', { TERM_PROGRAM: 'iTerm.app', TMUX: '/tmp/x' }, undefined],
    ['a terminal without images', { TERM: 'xterm' }, undefined],
  ])('in %s, shows the image on standard error if the terminal can', async (_name, env, begins) => {
    const args = [
      'generate',
      'a lake',
      '-m',
      'sandbox-sketch',
      '--idempotency-key',
      'shown',
      '-o',
      'shown.png',
    ];
    const { out, err } = await person.run(args, { env, isTTY: true });
    expect(out).toBe('shown.png\n');
    if (begins === undefined) expect(err).not.toMatch(/1337|_G/);
    else expect(shownIn(err, begins)).toEqual(readFileSync(at('shown.png')));
    const hidden = await person.run([...args, '--no-preview'], { env, isTTY: true });
    const piped = await person.run(args, { env });
    expect(hidden.err + piped.err).not.toMatch(/1337|_G/);
  });
});

/** The bytes of the image in the escape codes of a terminal. */
function shownIn(text: string, begins: string): Buffer {
  const data = text.slice(text.indexOf(begins));
  const parts = begins.includes('_G')
    ? // oxlint-disable-next-line no-control-regex
      [...data.matchAll(/\u001b_G[^;]*;([^\u001b]*)\u001b\\/g)].map(([, part]) => part)
    : // oxlint-disable-next-line no-control-regex
      [/:([\w+/=]+)\u0007/.exec(data)?.[1]];
  return Buffer.from(parts.join(''), 'base64');
}

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
    const said = await person.run(args, { env });
    expect(said).toMatchObject({ code: wanted, out: '' });
    expect(said.err).not.toContain(client.key);
    expect(said.err).not.toMatch(/unexpected|undefined|\bat \//i);
  });

  it('4: a balance that does not cover the price', async () => {
    const { key } = await service.client({ balance: '0.001' });
    const said = await person.run(['generate', 'a lake'], { env: { DARKROOM_API_KEY: key } });
    expect(said).toMatchObject({ code: 4, out: '' });
  });

  it('5: too many requests', async () => {
    const { key } = await service.client({ getRate: '1' });
    const env = { DARKROOM_API_KEY: key };
    const codes = [await person.run(['balance'], { env }), await person.run(['balance'], { env })];
    expect(codes.map(({ code }) => code)).toEqual([0, 5]);
    expect(codes[1]?.err).toMatch(/Wait \d+ s, and run the command again\./);
  });

  it('With --json, an error is a JSON document on standard error', async () => {
    const { err, out } = await person.run(['generate', 'a lake', '-m', 'nope', '--json']);
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
    const env = { DARKROOM_BASE_URL: `http://${client.key}@127.0.0.1:9` };
    const said: Said[] = [
      await person.run(['balance', '--debug'], { env }),
      await person.run(['balance'], { env: { DARKROOM_API_KEY: `${client.key} and more` } }),
    ];
    for (const { out, err } of said) expect(out + err).not.toContain(client.key);
  });
});

describe('the other commands', () => {
  it('creations: list, show, wait and cancel', async () => {
    const { data } = (await person.json('creations', 'list', '--limit', '3')) as { data: { id: string }[] };
    expect(data).toHaveLength(3);
    // The newest may have been polled within this second.
    const id = data[2]?.id ?? '';
    expect(await person.json('creations', 'show', id)).toMatchObject({ id });
    const { out } = await person.run(['creations', 'list', '--status', 'failed']);
    expect(out.split('\n')[1]).toMatch(/ failed +sandbox-sketch +0\.01 +a fox/);
    // Nobody starts this creation, so it can be cancelled.
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const submitted = await submit(service, client.key, { prompt: 'a lake' });
    service.machine.faults.clear();
    const cancelled = await person.json('creations', 'cancel', submitted);
    expect(cancelled).toMatchObject({ status: 'failed', amount_refunded: 0.01 });
    const waited = await person.run(['creations', 'wait', submitted]);
    expect(waited).toMatchObject({ code: 1, out: '' });
  });

  it('creations wait -o saves the image of an earlier creation', async () => {
    const submitted = await submit(service, client.key, { prompt: 'a lake' });
    const said = await person.run(['creations', 'wait', submitted, '-o', 'waited.png']);
    expect(said).toMatchObject({ code: 0, out: 'waited.png\n' });
    expect(isPng(readFileSync(at('waited.png')))).toBe(true);
  });

  it('models and balance print tables, and JSON documents', async () => {
    const models = await person.run(['models']);
    expect(models.out.split('\n')[1]).toMatch(/^sandbox-sketch +0\.01 +1K +- +yes +Sandbox Sketch$/);
    expect(((await person.json('models')) as { data: unknown[] }).data[0]).toMatchObject({
      id: 'sandbox-sketch',
      default_resolution: '1K',
    });
    const { out } = await person.run(['balance', '--user', 'ann']);
    expect(out).toMatch(/^currency +USD$/m);
    expect(out).toMatch(/^key\.spent +[\d.]+$/m);
    expect(out).not.toContain('monthly_cap');
  });

  it('webhooks verify says whether a webhook is genuine', async () => {
    const body = JSON.stringify({ event: 'creation.completed', id: 'c1' });
    const headers = await signWebhook(body, client.webhookSecret);
    const env = { DARKROOM_WEBHOOK_SECRET: client.webhookSecret };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const verify = ['webhooks', 'verify'];
    const request = ['POST /hooks HTTP/1.1', ...lines, '', body];
    for (const end of ['\n', '\r\n']) {
      const { code, out } = await person.run(verify, { env, input: request.join(end) });
      expect([code, out]).toEqual([0, 'valid  true\nevent  creation.completed\nid     c1\n']);
    }
    const flags = lines.flatMap((line) => ['-H', line]);
    expect((await person.run([...verify, ...flags], { env, input: body })).code).toBe(0);
    const changed = await person.run([...verify, ...flags], { env, input: `${body} ` });
    expect(changed).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('No signature matches') as string,
    });
    const other = await person.run([...verify, '--secret', `whsec_${btoa('x'.repeat(32))}`, ...flags], {
      env,
      input: body,
    });
    expect(other.code).toBe(1);
    expect(
      (await person.run(verify, { env: { DARKROOM_WEBHOOK_SECRET: '' }, input: request.join('\n') })).code,
    ).toBe(2);
    expect((await person.run(verify, { env, input: body })).code).toBe(2);
    const old = await person.run([...verify, '--tolerance', '0'], {
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
      await person.run(['balance']),
      await person.run(['balance'], { isTTY: true }),
      await person.run(['balance'], { isTTY: true, env: { NO_COLOR: '1' } }),
    ];
    expect([piped, seen, plain].map(({ out }) => colour.test(out))).toEqual([false, true, false]);
  });
});

describe('darkroom login', () => {
  it('stores a key that works, so that only its owner can read it, and never prints it', async () => {
    const ann = await newPerson();
    const said = await ann.run(['login', '--base-url', baseUrl], { input: `${client.key}\n` });
    expect(said.code).toBe(0);
    expect(said.out + said.err).not.toContain(client.key);
    const folder = join(ann.home, '.config/darkroom');
    const file = join(folder, 'config.json');
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(await ann.json('balance')).toMatchObject({ currency: 'USD' });

    chmodSync(file, 0o644);
    expect((await ann.run(['balance'])).err).toContain(`chmod 600 ${file}`);
    expect((await ann.run(['logout'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain('dk_live_');
    expect(await ann.run(['balance'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('darkroom login') as string,
    });
    expect((await ann.run(['logout'])).code).toBe(1);
    await ann.remove();
  });

  it('keeps several profiles, follows XDG_CONFIG_HOME, and lets the environment win', async () => {
    const other = await service.client({ balance: '7' });
    const ann = await newPerson();
    const config = join(ann.home, 'elsewhere');
    const env = { XDG_CONFIG_HOME: config };
    await ann.run(['login', '--base-url', baseUrl], { input: client.key, env });
    await ann.run(['login', '--base-url', `${baseUrl}/`, '--profile', 'other'], { input: other.key, env });
    expect(existsSync(join(config, 'darkroom/config.json'))).toBe(true);
    const balanceOf = async (
      args: readonly string[],
      more: Record<string, string> = {},
    ): Promise<unknown> => {
      const { out } = await ann.run(['balance', '--json', ...args], { env: { ...env, ...more } });
      return (JSON.parse(out) as { balance: unknown }).balance;
    };
    expect(await balanceOf(['--profile', 'other'])).toBe(7);
    expect(await balanceOf([], { DARKROOM_PROFILE: 'other' })).toBe(7);
    expect(await balanceOf([])).not.toBe(7);
    expect(await balanceOf([], { DARKROOM_API_KEY: other.key })).toBe(7);
    await ann.run(['logout', '--profile', 'other'], { env });
    expect(await balanceOf([])).not.toBe(7);
    expect((await ann.run(['balance', '--profile', '../x'], { env })).code).toBe(2);
    await ann.remove();
  });

  it('asks for the key on a terminal, and shows nothing of what is typed', async () => {
    const ann = await newPerson();
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const typing = ann.run(['login', '--base-url', baseUrl], { input, isTTY: true });
    input.write(`${client.key}\r`);
    const { code, out, err } = await typing;
    expect([code, err]).toEqual([0, `API key for ${baseUrl}: \n`]);
    expect(out).not.toContain(client.key);
    expect((await ann.run(['balance'])).code).toBe(0);

    const away = new AbortController();
    const asked = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const interrupted = ann.run(['login', '--base-url', baseUrl], { input: asked, signal: away.signal });
    away.abort();
    expect(await interrupted).toMatchObject({ code: 1, out: '' });
    expect((await interrupted).err).toMatch(/\nInterrupted\.\n$/);
    await ann.remove();
  });

  it('a terminal sees a line that changes, and nothing of it remains', async () => {
    const args = ['generate', 'a lake [sandbox:delay=300ms]', '-m', 'sandbox-sketch', '-o', 'line.png'];
    const { err } = await person.run(args, { isTTY: true, env: { TERM: 'xterm' } });
    const lines = err.split('\r\u001b[2K');
    expect(lines.filter((line) => line.includes('sandbox-sketch is rendering')).length).toBeGreaterThan(1);
    // What stands behind the last removal is one line: the id, the cost and the time.
    expect(lines.at(-1)).toMatch(/0\.01 USD {2}\d+\.\d s/);
  });

  it('stores no key that the service refuses, and says when the file is broken', async () => {
    const ann = await newPerson();
    const wrong = await ann.run(['login', '--base-url', baseUrl], { input: 'dk_live_wrong' });
    expect(wrong.code).toBe(3);
    expect(existsSync(join(ann.home, '.config'))).toBe(false);
    expect((await ann.run(['login'], { input: client.key })).code).toBe(2);
    await ann.run(['login', '--base-url', baseUrl], { input: client.key });
    writeFileSync(join(ann.home, '.config/darkroom/config.json'), `{"profiles": ${client.key}`);
    const broken = await ann.run(['balance']);
    expect(broken).toMatchObject({
      code: 1,
      err: expect.stringContaining('config.json is not valid.') as string,
    });
    expect(broken.err).not.toContain(client.key);
    await ann.remove();
  });
});

describe('darkroom completion', () => {
  it('bash completes commands, options and values', async () => {
    const { out } = await person.run(['completion', 'bash']);
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
    const { code, out } = await person.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['forward-to', 'dry-run', 'render an image, save it', 'queued'])
      expect(out).toContain(word);
    // An apostrophe of a description must not end a quoted text.
    expect((out.replaceAll("'\\''", '').match(/'/g) ?? []).length % 2).toBe(0);
  });
});
