/** What the command does with the answers of a service that means harm. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { png } from '../../whole/image-origin.ts';
import { newPerson, type Person, type Said } from './command-run.ts';

const id = '01a1fea2-83cb-71c7-a229-e47b2c1760f6';
const image = png(64, 64);
const escapes = '\u001b]0;owned\u0007\u009b2J\u202e';

/** The answers of the service by method and path. */
let answers: Record<string, unknown> = {};
const server = createServer((incoming, outgoing) => {
  const path = (incoming.url ?? '').replace(/\?.*$/, '').replace('/api/public/v1', '');
  const answer = answers[`${incoming.method ?? ''} ${path}`];
  incoming.resume();
  if (answer instanceof Uint8Array) outgoing.writeHead(200, { 'content-type': 'image/png' }).end(answer);
  else
    outgoing
      .writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer ?? {}));
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

let person: Person;
/** The folder in which the person works. It lies within the home of the person. */
let folder: string;
beforeEach(async () => {
  const base = await newPerson({
    DARKROOM_BASE_URL: `${origin}/api/public/v1`,
    DARKROOM_API_KEY: `dk_live_${'k'.repeat(40)}`,
  });
  folder = join(base.home, 'work', 'images');
  mkdirSync(folder, { recursive: true });
  person = base;
});
afterEach(() => person.remove());

const run = (...args: readonly string[]): Promise<Said> => person.run(args, { io: { folder } });
const everything = (): string[] =>
  readdirSync(person.home, { recursive: true, encoding: 'utf8' }).toSorted((one, other) =>
    one.localeCompare(other),
  );

interface Result {
  readonly url: unknown;
  readonly content_type: unknown;
}

function creationWith(change: object, result: Partial<Result> = {}): object {
  const good = {
    url: `${origin}/picture`,
    content_type: 'image/png',
    bytes: image.length,
    width: 64,
    height: 64,
  };
  return { id, status: 'completed', cost: 0.01, results: [{ ...good, ...result }], error: null, ...change };
}

async function generates(creation: object): Promise<Said> {
  answers = { 'POST /images/generate': creation, 'GET /picture': image };
  return run('generate', 'a lake', '-m', 'some-model');
}

/** The command has failed with a sentence, has written nothing, and has sent no escape code to the terminal. */
function expectHarmless({ code, out, err }: Said, before: readonly string[]): void {
  expect(code).not.toBe(0);
  expect(out).toBe('');
  expect(err).toMatch(/^The service (answered with|named) .*\. Nothing was (done with it|sent)\.$/m);
  expect(err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/); // oxlint-disable-line no-control-regex
  expect(everything()).toEqual(before);
}

it('models shows what is available first, in the order of the service', async () => {
  const model = (id: string, available: boolean): object => ({
    ...{ id, available, name: id, pricing: [{ usd: 1 }], resolutions: ['1K'] },
    unavailable_reason: available ? null : 'sunset',
  });
  answers = {
    'GET /models': { data: [model('a', false), model('b', true), model('c', false), model('d', true)] },
  };
  const { out } = await run('models');
  expect(out.match(/^[a-d](?= )/gm)).toEqual(['b', 'd', 'a', 'c']);
});

describe('a hostile service', () => {
  it('An image of a service that means well is saved under its id', async () => {
    expect(await generates(creationWith({}))).toMatchObject({ code: 0, out: `${id}.png\n` });
    expect(readFileSync(join(folder, `${id}.png`))).toEqual(Buffer.from(image));
  });

  it.each([
    '../evil',
    '/tmp/evil',
    'a/b',
    'a\\b',
    '..',
    '',
    '-rf',
    'x:y',
    `x${escapes}`,
    '$(touch evil)',
    7,
    null,
  ])('The id %j becomes no path, no line and no command to paste', async (wrong) => {
    const before = everything();
    expectHarmless(await generates(creationWith({ id: wrong })), before);
    answers[`GET /creations/${id}`] = creationWith({ id: wrong });
    expectHarmless(await run('creations', 'wait', id, '-o', '.'), before);
  });

  it.each(['image/../../evil', 'constructor', 'text/html', '', `image/png${escapes}`, 7, null])(
    'The media type %j becomes no ending of a file',
    async (content_type) => {
      const before = everything();
      expectHarmless(await generates(creationWith({}, { content_type })), before);
    },
  );

  it.each([
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'ftp://x/y',
    'http://a:b@127.0.0.1/',
    'picture',
    7,
  ])('The address %j of an image is not read', async (url) => {
    const before = everything();
    expectHarmless(await generates(creationWith({}, { url })), before);
  });

  it('A link under the name of the image is replaced, and the file that it names stays', async () => {
    const victim = join(person.home, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(folder, `${id}.png`));
    expect(await generates(creationWith({}))).toMatchObject({ code: 0 });
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(readFileSync(join(folder, `${id}.png`))).toEqual(Buffer.from(image));
  });

  it.each([
    { upload_url: 'file:///etc/passwd' },
    { upload_headers: { 'x-evil': 'a\r\nb: c' } },
    { upload_headers: { 'x evil': 'a' } },
    { image_url: `upload:x${escapes}` },
    { image_url: 7 },
  ])('An upload with %j is refused', async (change) => {
    writeFileSync(join(folder, 'lake.png'), image);
    const before = everything();
    const good = {
      image_url: 'upload:1',
      upload_url: `${origin}/put`,
      upload_headers: { 'content-type': 'image/png' },
    };
    answers = { 'POST /uploads': { ...good, ...change }, 'PUT /put': {} };
    expectHarmless(await run('upload', 'lake.png'), before);
  });

  it('A cursor of events moves no cursor of the terminal', async () => {
    answers = { 'GET /events': { data: [], next_cursor: `c${escapes}` } };
    const { code, err } = await run('events');
    expect([code, err]).toEqual([0, 'next_cursor  c\\u001b]0;owned\\u0007\\u009b2J\\u202e\n']);
  });

  it.each(['.', '..', ''])('The id %j that a person names is no other path of the API', async (wrong) => {
    answers = { 'GET /': creationWith({}), 'GET /creations/': creationWith({}) };
    expect(await run('creations', 'show', wrong)).toMatchObject({
      err: expect.stringContaining(`${JSON.stringify(wrong)} is no id.`) as string,
    });
  });
});
