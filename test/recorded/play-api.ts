/** Plays the tables of requests and notes the answers. */
import type { Answer } from '../fixtures/service.ts';
import {
  type ApiGroup,
  type ApiStep,
  filled,
  type ReceivedStep,
  requestLine,
  type Scene,
} from './api-step.ts';
import { type ApiEntry, createNormaliser, type Normaliser } from './normalise.ts';
import type { Stage } from './stage.ts';

/** Plays the groups side by side, and notes them in the order of the table. */
export async function playSideBySide(
  groups: readonly ApiGroup[],
  stage: Stage,
  lanes: number,
): Promise<ApiEntry[]> {
  const played: ApiEntry[][] = [];
  const queue = groups.entries();
  const lane = async (): Promise<void> => {
    for (const [index, group] of queue) played[index] = await playGroup(group, stage);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return played.flat();
}

/** For groups that change what other groups see. */
export async function playInTurn(groups: readonly ApiGroup[], stage: Stage): Promise<ApiEntry[]> {
  return playSideBySide(groups, stage, 1);
}

/** Plays a group from its beginning until each creation that was waited for has ended in time. */
async function playGroup(group: ApiGroup, stage: Stage): Promise<ApiEntry[]> {
  for (;;) {
    const entries = await playOnce(group, stage);
    if (entries !== undefined) return entries;
  }
}

const generous = { postRate: '1000', getRate: '1000', maxConcurrent: '100' };

/** Undefined when a creation took longer than its request could wait. */
async function playOnce(
  { name, client: wanted, prepare, steps }: ApiGroup,
  stage: Stage,
): Promise<ApiEntry[] | undefined> {
  stage.tick();
  const client = await stage.service.client({ ...generous, ...wanted });
  const scene: Scene = {
    stage,
    client,
    values: new Map([
      ['key', client.key],
      ['inbox', stage.service.machine.inboxUrl],
    ]),
  };
  const normaliser = createNormaliser(stage.startedAt);
  normaliser.learn('account', client.account.id);
  await prepare?.(scene);
  const entries: ApiEntry[] = [];
  for (const step of steps) {
    const title = `${name}: ${step.what}`;
    await step.before?.(scene);
    if ('received' in step) {
      entries.push({ title, ...(await received(step, scene, normaliser)) });
      continue;
    }
    const [answer] = await Promise.all([sent(step, scene), step.meanwhile?.(scene)]);
    if (step.ended && answer.status === 202) return undefined;
    if (step.save !== undefined) scene.values.set(step.save, creationOf(answer));
    const { status, headers, text } = answer;
    entries.push({
      title,
      request: requestLine(step),
      status,
      headers: withoutPace(status, normaliser.headers(headers)),
      body: normaliser.text(text),
    });
    await step.after?.(scene);
  }
  return entries;
}

async function sent(
  { send, body, headers = {}, key, from, times = 1 }: ApiStep,
  { stage, client, values }: Scene,
): Promise<Answer> {
  const [method = '', path = ''] = send.split(' ', 2);
  const options = {
    method,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, filled(value, values)]),
    ),
    key: key === undefined ? client.key : key === 'none' ? null : filled(key, values),
    ...(body !== undefined && { body: body instanceof Uint8Array ? body : filled(textOf(body), values) }),
    ...(from !== undefined && { from }),
  };
  for (let time = 1; time < times; time += 1) await stage.service.send(filled(path, values), options);
  stage.tick();
  return stage.service.send(filled(path, values), options);
}

function textOf(body: object | string): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Of a creation, or of a refusal that names one; the cursor of a page. */
function creationOf({ body, text }: Answer): string {
  const {
    id,
    next_cursor: cursor,
    error,
  } = body as { id?: string; next_cursor?: string; error?: { details: { creation_id?: string } } };
  const found = id ?? cursor ?? error?.details.creation_id;
  if (found === undefined) throw new Error(`the answer names no creation: ${text}`);
  return found;
}

async function received(
  { received: hook, place = 0 }: ReceivedStep,
  { stage, values }: Scene,
  normaliser: Normaliser,
): Promise<Omit<ApiEntry, 'title'>> {
  const name = (values.get(hook) ?? '').split('/').at(-1) ?? '';
  await stage.receiver.until(name, place + 1);
  const arrival = stage.receiver.arrivals(name)[place];
  if (!arrival) throw new Error(`nothing came to ${hook}`);
  const headers = normaliser.headers(arrival.headers);
  return {
    request: `webhook ${place + 1} to {${hook}}`,
    headers,
    body: normaliser.text(arrival.raw.toString('utf8')),
  };
}

/**
 * Only an open creation has Retry-After beside 200: the pace follows the age of the creation and the usual time of its
 * route, which a busy machine changes. test/creations/poll-pace.test.ts has the paces.
 */
function withoutPace(status: number, headers: Readonly<Record<string, string>>): Record<string, string> {
  return { ...headers, ...(status === 200 && 'retry-after' in headers && { 'retry-after': '<pace>' }) };
}
