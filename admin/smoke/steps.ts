/**
 * The steps of the smoke test, which an operator runs before clients use a new deployment. Each step checks
 * one fact about the live service and shows the measured value. A run costs the price of one sandbox picture.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pc from 'picocolors';
import * as z from 'zod';
import { visibleJson, visibleText } from '../../client/command/terminal/visible-text.ts';
import { readImageHeader } from '../../service/values/image-bytes.ts';
import { bodySchema, createSmokeClient, type Reply, type SmokeClient, SmokeError } from './client.ts';

export interface SmokeOptions {
  readonly model: string;
  /** The receiver of a webhook. Absent: no step checks a delivery. */
  readonly webhookUrl?: string;
  /** How long one creation may take. */
  readonly withinSeconds: number;
}

/** Shows the result of one step, in words. */
export type Tell = (step: string, found: string) => void;

type Body = Reply['body'];

const bodies = (list: unknown): readonly Body[] => z.array(bodySchema).parse(list);

/**
 * Runs all steps in order, and returns the price of the picture in USD. Throws SmokeError at the first failed
 * step.
 */
async function runSmoke(
  client: SmokeClient,
  options: SmokeOptions,
  tell: Tell,
): Promise<{ readonly cost: number }> {
  await checkDoor(client, tell);
  await checkModels(client, options, tell);
  const before = await balanceOf(client);
  tell('balance', `${before} USD available`);
  const cost = await quote(client, options, before, tell);
  await renderOne(client, options, cost, tell);
  const after = await balanceOf(client);
  expect(
    same(before - after, cost),
    `the balance went from ${before} to ${after} USD for a picture of ${cost} USD: run \`npm run admin -- audit\``,
  );
  tell('charged once', `${before} - ${cost} = ${after} USD`);
  await failOne(client, options, tell);
  const last = await balanceOf(client);
  expect(
    same(last, after),
    `a failed creation left the balance at ${last} instead of ${after} USD: run \`npm run admin -- audit\``,
  );
  tell('refunded', `balance again ${last} USD`);
  return { cost };
}

function expect(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new SmokeError(otherwise);
}

/** Amounts have at most six decimals, so a smaller difference is an error of floating point. */
function same(one: number, other: number): boolean {
  return Math.abs(one - other) < 0.000_000_5;
}

async function checkDoor(client: SmokeClient, tell: Tell): Promise<void> {
  const stranger = await client.send('/models', { key: 'dk_live_of_nobody' });
  expect(stranger.status === 401, `a key of nobody was answered ${stranger.status} instead of 401`);
  tell('stranger refused', `401, request ${stranger.headers.get('x-request-id') ?? 'without an id'}`);
  tell('scheme named in', challengeIn(stranger.headers));
}

/** API Gateway may rename WWW-Authenticate. The operator should know which name clients see; both names are right. */
export function challengeIn(headers: Headers): string {
  const names = ['WWW-Authenticate', 'x-amzn-remapped-www-authenticate'].filter((name) => headers.has(name));
  if (names.length === 0) return 'no header: neither WWW-Authenticate nor x-amzn-remapped-www-authenticate';
  return names.map((name) => `${name}: ${headers.get(name) ?? ''}`).join(' and ');
}

async function checkModels(client: SmokeClient, { model }: SmokeOptions, tell: Tell): Promise<void> {
  const { status, body } = await client.send('/models');
  expect(
    status === 200,
    `GET /models was answered ${said(status, body)}: is the key one of this deployment (\`npm run admin -- keys create\`)?`,
  );
  const models = bodies(body['data']);
  const wanted = models.find(({ id }) => id === model);
  expect(
    wanted?.['available'] === true,
    `the model ${model} is not available to this account: see \`npm run admin -- accounts show\``,
  );
  tell(
    'models',
    `${models.length} in the catalog, ${models.filter(({ available }) => available === true).length} available`,
  );
}

async function balanceOf(client: SmokeClient): Promise<number> {
  const { status, body } = await client.send('/balance');
  expect(status === 200, `GET /balance was answered ${said(status, body)}`);
  return Number(body['available']);
}

async function quote(
  client: SmokeClient,
  { model }: SmokeOptions,
  available: number,
  tell: Tell,
): Promise<number> {
  const { status, body } = await client.send('/images/quote', { body: { model, prompt: 'a smoke test' } });
  expect(status === 200, `the quote was answered ${said(status, body)}`);
  const cost = Number(body['cost']);
  expect(
    available >= cost,
    `the picture costs ${cost} USD and ${available} are available: \`npm run admin -- wallet top-up\``,
  );
  tell('price', `${cost} USD for ${model}`);
  return cost;
}

async function renderOne(
  client: SmokeClient,
  options: SmokeOptions,
  cost: number,
  tell: Tell,
): Promise<void> {
  const body = {
    model: options.model,
    prompt: 'a lighthouse, for the smoke test',
    ...(options.webhookUrl !== undefined && { webhook_url: options.webhookUrl }),
  };
  const headers = { 'idempotency-key': randomUUID() };
  const began = performance.now();
  const first = await accepted(client, body, headers);
  tell('accepted', `${Math.round(performance.now() - began)} ms, creation ${first}`);
  expect(
    (await accepted(client, body, headers)) === first,
    'the same Idempotency-Key made a second creation',
  );
  tell('replayed', 'the same Idempotency-Key is the same creation');
  const creation = await ended(client, first, options.withinSeconds);
  expect(
    creation['status'] === 'completed',
    `the creation ${first} ended as ${String(creation['status'])}: ${String(creation['error'])} See \`npm run admin -- creations show ${first}\``,
  );
  expect(
    same(Number(creation['cost']), cost),
    `the creation cost ${String(creation['cost'])} instead of ${cost} USD`,
  );
  tell('completed', `${Math.round(performance.now() - began)} ms after the request`);
  await checkPicture(client, creation, tell);
  if (options.webhookUrl !== undefined) await checkWebhook(client, first, options.withinSeconds, tell);
}

async function accepted(
  client: SmokeClient,
  request: object,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const { status, body } = await client.send('/images/generate', { body: request, headers });
  expect(status === 202, `the creation was answered ${said(status, body)}`);
  return String(body['id']);
}

async function ended(client: SmokeClient, id: string, withinSeconds: number): Promise<Body> {
  return pollUntil(client, id, withinSeconds, ({ status }) => status === 'completed' || status === 'failed');
}

async function pollUntil(
  client: SmokeClient,
  id: string,
  withinSeconds: number,
  isSo: (creation: Body) => boolean,
): Promise<Body> {
  for (const until = performance.now() + withinSeconds * 1000; performance.now() < until;) {
    // The API refuses polls of one creation that come less than a second apart.
    await sleep(1_050);
    const { status, body } = await client.send(`/creations/${id}`);
    expect(status === 200, `GET /creations/${id} was answered ${said(status, body)}`);
    if (isSo(body)) return body;
  }
  throw new SmokeError(
    `the creation ${id} is not there yet after ${withinSeconds} s: see its execution in Step Functions, and \`npm run admin -- creations show ${id}\`.`,
  );
}

async function checkPicture(client: SmokeClient, creation: Body, tell: Tell): Promise<void> {
  const [image] = bodies(creation['results']);
  const { status, contentType, bytes } = await client.fetchImage(String(image?.['url']));
  expect(status === 200, `the picture was answered ${status}: may the distribution read the bucket?`);
  const header = readImageHeader(bytes);
  expect(
    header !== undefined && header.contentType === contentType,
    `what was delivered as ${contentType ?? 'nothing'} is no such picture`,
  );
  tell(
    'picture',
    `${header?.contentType ?? ''}, ${header?.width ?? 0} x ${header?.height ?? 0} pixels, ${Math.round(bytes.byteLength / 1000)} KB`,
  );
}

async function checkWebhook(
  client: SmokeClient,
  id: string,
  withinSeconds: number,
  tell: Tell,
): Promise<void> {
  const creation = await pollUntil(
    client,
    id,
    withinSeconds,
    ({ webhook }) => bodySchema.parse(webhook)['status'] !== 'pending',
  );
  const { status, attempts } = bodySchema.parse(creation['webhook']);
  expect(
    status === 'delivered',
    `the webhook is ${String(status)} after ${String(attempts)} attempts: see \`npm run admin -- webhooks log\``,
  );
  tell('webhook', `delivered at attempt ${String(attempts)}`);
}

async function failOne(
  client: SmokeClient,
  { model, withinSeconds }: SmokeOptions,
  tell: Tell,
): Promise<void> {
  const id = await accepted(client, { model, prompt: 'a failure, for the smoke test [sandbox:fail]' }, {});
  const creation = await ended(client, id, withinSeconds);
  expect(
    creation['status'] === 'failed' && creation['amount_refunded'] === creation['cost'],
    `the creation ${id} was to fail and be refunded, and is ${String(creation['status'])}`,
  );
  tell('failure', `"${String(creation['error'])}", ${String(creation['amount_refunded'])} USD given back`);
}

/** The answer in words, such as "402 ERR_INSUFFICIENT_BALANCE: …". */
export function said(status: number, body: Body): string {
  const error = bodySchema.safeParse(body['error']).data;
  return error === undefined
    ? String(status)
    : `${status} ${String(error['code'])}: ${String(error['message'])}`;
}

/** Runs the smoke test and prints its steps: one line for each, or one JSON document at the end. */
export interface SmokeCommand {
  readonly api: string;
  readonly key: string;
  readonly model: string;
  readonly webhook?: string;
  readonly within: string;
  readonly json?: boolean;
}

/** Returns the exit code: 1 when a step fails or an option is wrong. */
export async function reportSmoke(command: SmokeCommand): Promise<number> {
  const isJson = command.json === true;
  const steps: { readonly step: string; readonly found: string }[] = [];
  const tell = (step: string, found: string): void => {
    steps.push({ step, found });
    if (!isJson) console.log(`${pc.green('✓')} ${step.padEnd(18)} ${visibleText(found)}`);
  };
  try {
    const { cost } = await checkedSmoke(command, tell);
    if (isJson) console.log(visibleJson({ ok: true, cost, steps }));
    else console.log(`\n${pc.bold('The service works.')} It cost ${cost} USD of the account.`);
    return 0;
  } catch (error) {
    if (!(error instanceof SmokeError)) throw error;
    if (isJson) console.log(visibleJson({ ok: false, error: error.message, steps }));
    else console.error(`${pc.red('✗')} ${visibleText(error.message)}`);
    return 1;
  }
}

async function checkedSmoke(
  { api, key, model, webhook, within }: SmokeCommand,
  tell: (step: string, found: string) => void,
): Promise<{ readonly cost: number }> {
  if (!URL.canParse(api))
    throw new SmokeError(
      `--api: ${JSON.stringify(api)} is no address, such as https://abc.execute-api.us-east-1.amazonaws.com/api/public/v1.`,
    );
  if (!/^[1-9]\d*$/.test(within))
    throw new SmokeError(`--within: ${JSON.stringify(within)} is no whole number of seconds, such as 60.`);
  const options = {
    model,
    withinSeconds: Number(within),
    ...(webhook !== undefined && { webhookUrl: webhook }),
  };
  return runSmoke(createSmokeClient(api, key), options, tell);
}
