/** `darkroom generate` against the real service, as a person and a program use it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { png } from '../../whole/image-origin.ts';
import { isPng, useServedPerson } from './command-run.ts';

const served = useServedPerson();
const at = (name: string): string => join(served.person.folder, name);
const balanceNow = async (): Promise<{ in_flight: number }> =>
  (await served.person.json('balance')) as { in_flight: number };

describe('darkroom generate', () => {
  it('saves the image, and prints nothing but its path on standard output', async () => {
    const { code, out, err } = await served.person.run(['generate', 'a lake', '-o', 'lake.png']);
    expect([code, out]).toEqual([0, 'lake.png\n']);
    expect(isPng(readFileSync(at('lake.png')))).toBe(true);
    expect(err).toContain('Model: sandbox-sketch, the cheapest.');
    expect(err).toMatch(/0\.01 USD {2}\d+\.\d s/);
    expect(readdirSync(served.person.folder).filter((name) => /part|\.darkroom/.test(name))).toEqual([]);
  });

  it('asks for the format that the ending of the file names, and takes the id as the name without -o', async () => {
    await served.person.run(['generate', 'a lake', '-o', 'lake.jpg']);
    expect(readFileSync(at('lake.jpg')).subarray(0, 3).toString('hex')).toBe('ffd8ff');
    const { out } = await served.person.run(['generate', 'a lake', '-m', 'sandbox-sketch', '-f', 'png']);
    expect(out).toMatch(/^[0-9a-f-]{36}\.png\n$/);
    expect(isPng(readFileSync(at(out.trim())))).toBe(true);
  });

  it('sends every option, and with --json prints the files and the creation', async () => {
    const options =
      '-m sandbox-pro -r 1K -a 16:9 --seed 7 --negative-prompt boats --quality low --max-cost 0.2 --user ann --metadata order=4=2 -o all.png';
    const said = await served.person.run(['--json', 'generate', 'a lake', ...options.split(' ')]);
    expect([said.code, said.err]).toEqual([0, '']);
    expect(JSON.parse(said.out)).toMatchObject({
      files: ['all.png'],
      creation: {
        model: 'sandbox-pro',
        resolution: '1K',
        aspect_ratio: '16:9',
        seed: 7,
        negative_prompt: 'boats',
        quality: 'low',
        user: 'ann',
        output_format: 'png',
        metadata: { order: '4=2' },
      },
    });
  });

  it('saves each of several images under a number, and prints every path', async () => {
    const options = '-m sandbox-standard -n 3 --background transparent -o three.png'.split(' ');
    const { code, out, err } = await served.person.run(['generate', 'a lake', ...options]);
    expect([code, out]).toEqual([0, 'three-1.png\nthree-2.png\nthree-3.png\n']);
    expect(err.match(/0\.04 USD/g)).toHaveLength(3);
    const pictures = out
      .trim()
      .split('\n')
      .map((name) => readFileSync(at(name)).toString('base64'));
    expect(new Set(pictures).size).toBe(3);
    const { files, creations } = (await served.person.json('generate', 'a lake', '-n', '2')) as {
      files: string[];
      creations: { id: string }[];
    };
    expect(files).toEqual(creations.map(({ id }) => `${id}.png`));
    expect(files).toHaveLength(2);
  });

  it('uploads source images of this machine, and chooses the cheapest model that takes images', async () => {
    writeFileSync(at('source.png'), png(64, 64));
    const options = '-i source.png -o winter.png'.split(' ');
    expect(await served.person.json('generate', 'in winter', ...options)).toMatchObject({
      creation: { model: 'sandbox-standard', cost: 0.045 },
    });
    const without = ['--negative-prompt', 'snow', '--dry-run'];
    expect(await served.person.json('generate', 'in winter', ...without)).toMatchObject({
      model: 'sandbox-standard',
    });
    const { image_url } = (await served.person.json('upload', 'source.png')) as { image_url: string };
    expect(image_url).toMatch(/^upload:/);
    const twice = ['-i', image_url, '-i', image_url, '--dry-run'];
    expect(await served.person.json('generate', 'again', ...twice)).toMatchObject({
      input_images: 2,
      sufficient: true,
    });
  });

  it('charges nothing for --dry-run, and nothing when no file can be written', async () => {
    const before = await balanceNow();
    const { out } = await served.person.run(['generate', 'a lake', '--dry-run']);
    expect(out).toMatch(/^cost +0\.01\n/);
    const refused = await served.person.run(['generate', 'a lake', '-o', 'no/such/folder/lake.png']);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('(ENOENT)') as string });
    expect(await balanceNow()).toEqual(before);
  });

  it('with --idempotency-key, a repetition gives the same image and is not charged', async () => {
    const again = ['generate', 'a lake', '--idempotency-key', 'order-1', '-o', 'once.png'];
    const first = (await served.person.json(...again)) as { creation: { id: string } };
    expect(await served.person.json(...again)).toMatchObject({ creation: { id: first.creation.id } });
  });

  it('after Ctrl-C says how to get the image without a second charge', async () => {
    const running = served.person.start(['generate', 'a lake [sandbox:delay=1s]', '-o', 'late.png']);
    await expect.poll(running.err).toContain('is rendering');
    // The request has left: the service holds its answer.
    await expect.poll(async () => (await balanceNow()).in_flight).toBe(1);
    expect(await running.stop()).toBe(1);
    const { err } = await running.ended;
    const key = /--idempotency-key (\S+):/.exec(err)?.[1] ?? '';
    const { creation } = (await served.person.json(
      ...['generate', 'a lake [sandbox:delay=1s]', '-o', 'late.png', '--idempotency-key', key],
    )) as { creation: { id: string } };
    const list = (await served.person.json('creations', 'list', '--limit', '2')) as {
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
      ...'-m sandbox-sketch --idempotency-key shown -o shown.png'.split(' '),
    ];
    const { out, err } = await served.person.run(args, { env, isTTY: true });
    expect(out).toBe('shown.png\n');
    if (begins === undefined) expect(err).not.toMatch(/\]1337;|_Ga=/);
    else expect(shownIn(err, begins)).toEqual(readFileSync(at('shown.png')));
    const hidden = await served.person.run([...args, '--no-preview'], { env, isTTY: true });
    const piped = await served.person.run(args, { env });
    expect(hidden.err + piped.err).not.toMatch(/\]1337;|_Ga=/);
  });

  it('a terminal sees a line that changes, and nothing of it remains', async () => {
    const args = ['generate', 'a lake [sandbox:delay=1s]', '-m', 'sandbox-sketch', '-o', 'line.png'];
    const { err } = await served.person.run(args, { isTTY: true, env: { TERM: 'xterm' } });
    const lines = err.split('\r\u001b[2K');
    expect(lines.filter((line) => line.includes('sandbox-sketch is rendering')).length).toBeGreaterThan(1);
    // What stands behind the last removal is one line: the id, the cost and the time.
    expect(lines.at(-1)).toMatch(/0\.01 USD {2}\d+\.\d s/);
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
