/** Bodies that no client sends, at everything that takes a body: deep, broad, cut off, or forms of many parts. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  callbackRoute,
  openaiOperations,
  operations,
  portalOperations,
  portalRoot,
  signInPaths,
} from '../../service/contract/operations.ts';
import { demoEmail } from '../../start/demo-account.ts';
import { portalOf } from '../fixtures/portal.ts';
import { type Client, sendFrom, sharedTestService, type TestService } from '../fixtures/service.ts';

interface Door {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  /** The credentials of somebody who may ask. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Body {
  readonly type: string;
  readonly text: string;
}

export const lists = (depth: number): string => '['.repeat(depth) + '1' + ']'.repeat(depth);
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
const json = (text: string): Body => ({ type: 'application/json', text });
/** A form of empty files, with one text in metadata. */
export function form(parts: number, metadata = ''): Body {
  const part = (head: string, text: string): string =>
    `--XbX\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  const files = part('name="image[]"; filename="a.png"', '').repeat(Math.max(0, parts - 1));
  const text = `${part('name="metadata"', metadata)}${files}--XbX--\r\n`;
  return { type: 'multipart/form-data; boundary=XbX', text };
}

/** Puts a value somewhere into a body. Nobody sells the model, so nothing is ever charged. */
type Put = (value: string) => string;
const call = (more: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"generate_image",${more}}}`;
const order = '"model":"sold-by-nobody","prompt":"a lake"';
const putsOfMcp: readonly Put[] = [
  (value) => call(`"arguments":{${order},"metadata":${value}}`),
  (value) => call(`"arguments":{${order}},"_meta":${value}`),
  (value) => `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${value}}`,
  (value) => value,
];
const putsOfApi: readonly Put[] = [
  (value) => `{${order},"ignored":${value}}`,
  (value) => `{${order},"metadata":${value}}`,
  (value) => `{${order},"images":${value}}`,
  (value) => value,
];
const depth = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1_000, max: 40_000 }));
const breadth = fc.integer({ min: 1, max: 30_000 });
const value = fc.oneof(
  depth.map(lists),
  depth.map(objects),
  depth.map((count) => '['.repeat(count)),
  breadth.map((count) => `[${'0,'.repeat(count)}0]`),
  breadth.map((count) => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join()}}`),
  breadth.map((count) => `"${'\\'.repeat(count)}"`),
  fc.json(),
);
const strange = fc.record({
  value,
  place: fc.nat(3),
  /** The parts of a form. Undefined: the body is JSON. */
  parts: fc.option(fc.integer({ min: 1, max: 2_000 }), { nil: undefined, freq: 5 }),
  isKeyless: fc.nat(19).map((chance) => chance === 0),
});

interface Doors {
  readonly service: () => TestService;
  readonly availableMicros: () => Promise<number>;
  readonly doors: () => readonly Door[];
  readonly send: (door: Door, sent: Body, isKeyless?: boolean) => Promise<{ status: number; text: string }>;
}

/** Starts a service with somebody who may ask at every door. */
export function openDoors(): Doors {
  let service: TestService;
  let client: Client;
  let doors: readonly Door[];
  let strangers = 0;
  beforeAll(async () => {
    service = await sharedTestService();
    const { machine } = service;
    client = await service.client({ postRate: '1000000', getRate: '1000000' });
    const browser = await portalOf(service).signIn(demoEmail);
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const keyed = { authorization: `Bearer ${client.key}` };
    const personal = { cookie, 'sec-fetch-site': 'same-origin' };
    const at = (
      root: string,
      table: Readonly<Record<string, { readonly method: string; readonly path: string }>>,
      headers: Door['headers'],
    ): Door[] =>
      Object.entries(table)
        .filter(([, { method }]) => method !== 'GET' && method !== 'DELETE')
        .map(([name, { method, path }]) => ({
          ...{ name, method, headers },
          url: `${root}${path.replace(/\{\w+\}/, '019aa5a0-1000-7000-8000-000000000000')}`,
        }));
    const portal = new URL(machine.portalUrl).origin;
    const others = { callback: callbackRoute, signOut: signInPaths.logout };
    const ofTheApi = [
      ...at(machine.apiUrl, operations, keyed),
      ...at(machine.openaiUrl, openaiOperations, keyed),
      { name: 'mcp', method: 'POST', url: machine.mcpUrl, headers: keyed },
    ];
    doors = [
      // As often as all operations of the portal together.
      ...Array.from({ length: 4 }, () => ofTheApi).flat(),
      ...at(`${portal}${portalRoot}`, portalOperations, personal),
      ...Object.entries(others).map(([name, path]) => ({
        ...{ name, method: 'POST', headers: { 'sec-fetch-site': 'same-origin' } },
        url: `${name === 'callback' ? new URL(machine.apiUrl).origin : portal}${path}`,
      })),
    ];
  });
  afterAll(() => service.end());
  return {
    service: () => service,
    availableMicros: async () => (await service.account(client.account.id)).availableMicros,
    doors: () => doors,
    send: async ({ url, method, headers }, { type, text }, isKeyless = false) => {
      const common = { 'content-type': type, accept: 'application/json, text/event-stream' };
      if (!isKeyless) {
        const sent = { method, body: text, headers: { ...common, ...headers } };
        const answer = await fetch(url, { ...sent, redirect: 'manual' });
        return { status: answer.status, text: await answer.text() };
      }
      // Each comes from an address of its own, so that none is blocked.
      strangers += 1;
      const from = `127.1.${Math.floor(strangers / 250)}.${(strangers % 250) + 1}`;
      const answer = await sendFrom(from, url, { method, body: text, headers: common });
      return { status: answer.status, text: await answer.text() };
    },
  };
}

/** So many requests, each of which is answered with less than 500, and none of which costs anything. */
export function answersStrangeBodies(requests: number, seed: number): void {
  const { service, availableMicros, doors, send } = openDoors();

  it(`${requests} strange bodies get no 5xx, and nothing is charged`, async () => {
    const before = await availableMicros();
    const drawn = fc.sample(strange, { numRuns: requests, seed });
    const faults: unknown[] = [];
    const ask = async (one: (typeof drawn)[number], place: number): Promise<void> => {
      const door = doors()[place % doors().length];
      if (!door) throw new Error('there are no doors');
      const put = (door.name === 'mcp' ? putsOfMcp : putsOfApi)[one.place] ?? String;
      const sent = one.parts === undefined ? json(put(one.value)) : form(one.parts, one.value);
      const { status, text } = await send(door, sent, one.isKeyless);
      if (status >= 500) faults.push([door.name, status, text, sent.text.slice(0, 200), sent.text.length]);
    };
    for (let place = 0; place < drawn.length; place += 4)
      await Promise.all(drawn.slice(place, place + 4).map((one, index) => ask(one, place + index)));
    expect(faults).toEqual([]);
    expect(service().log.filter((line) => line.includes('request_failed'))).toEqual([]);
    expect(await availableMicros()).toBe(before);
  });
}
