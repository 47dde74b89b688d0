/** The fake of Stripe behind `npm start`: its API and pages, its controls, its file and its timer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendPage } from '../control/page.ts';
import { readIfPresent, replaceFile } from '../disk.ts';
import { type Handler, joinedHeaders, readBody, refuseBody, sendJson, targetOf } from '../http.ts';
import { parseJson } from '../json.ts';
import { emptyState, type StripeState } from './account.ts';
import { isCardName } from './cards.ts';
import { act, overview, paymentActionSchema } from './control.ts';
import { closedPage, payPage, receiptPage } from './pay-page.ts';
import { pay } from './payments.ts';
import { StripeRefusal } from './refusals.ts';
import { createFakeStripe } from './stripe.ts';

export interface StripeDoorOptions {
  /** What the fake remembers. The file is made when it is missing. */
  readonly file: string;
  /** The address of the API and the pages, without a slash at its end: http://127.0.0.1:8787/_local/stripe. */
  readonly url: string;
  readonly now: () => number;
  readonly random: () => number;
  /** Where events of the test mode go, unless a control has said otherwise. */
  readonly receiver?: { readonly url: string; readonly secrets: readonly string[] };
}

export interface StripeDoor {
  /** Answers the paths below that of `url`. */
  readonly handle: Handler;
  /** Answers GET and POST of /_local/payments. */
  readonly control: Handler;
  readonly nextAt: () => number | undefined;
  readonly runDue: () => Promise<void>;
  /** From now on what falls due happens by itself. */
  readonly start: () => void;
  /** Until `start`, only `runDue` lets something happen. */
  readonly pause: () => void;
}

const maxBodyBytes = 256 * 1024;
/** A receiver has so long to answer an event, in real time. */
const deliveryMillis = 20_000;
const longestTimerMillis = 2_000_000_000;

export function openStripeDoor({ file, url, now, random, receiver }: StripeDoorOptions): StripeDoor {
  const text = readIfPresent(file);
  const state = text === undefined ? emptyState() : (JSON.parse(text) as StripeState);
  const { test: told } = state.endpoints;
  // The machine may have another port than at its last start.
  const isOurs = !told || new URL(told.url).pathname === new URL(receiver?.url ?? told.url).pathname;
  if (receiver && isOurs) state.endpoints.test = { secrets: receiver.secrets, ...told, url: receiver.url };
  const stripe = createFakeStripe(state, { now, random, pagesUrl: url, send });
  const { account } = stripe;
  const prefix = new URL(url).pathname.replace(/\/$/, '');
  let kept = text;
  let isFlowing = true;
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    clearTimeout(timer);
    const next = stripe.nextAt();
    if (!isFlowing || next === undefined) return;
    timer = setTimeout(() => void runDue(), Math.min(Math.max(next - now(), 0), longestTimerMillis));
    timer.unref();
  }
  /** After every change: keeps it, and lets its events go out. */
  function changed(): void {
    const whole = `${JSON.stringify(state)}\n`;
    if (whole !== kept) replaceFile(file, whole);
    kept = whole;
    arm();
  }
  async function runDue(): Promise<void> {
    const isDue = (stripe.nextAt() ?? Infinity) <= now();
    await stripe.runDue();
    if (isDue) changed();
    else arm();
  }

  async function page(incoming: IncomingMessage, outgoing: ServerResponse, id: string): Promise<void> {
    const session = account.find('checkout.session', id);
    if (session?.status !== 'open') {
      const why = session ? `This payment is ${session.status}.` : 'There is no such payment.';
      sendPage(outgoing, closedPage(why));
      return;
    }
    if (incoming.method !== 'POST') {
      sendPage(outgoing, payPage(session), anyForm);
      return;
    }
    const form = new URLSearchParams((await readBody(incoming, maxBodyBytes))?.toString('utf8'));
    const card = form.get('card') ?? '';
    const decline = isCardName(card) ? pay(account, session, card) : { message: 'There is no such card.' };
    changed();
    if (decline) sendPage(outgoing, payPage(session, decline.message), anyForm);
    else redirect(outgoing, session.success_url.replaceAll('{CHECKOUT_SESSION_ID}', session.id));
  }

  async function api(incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<void> {
    const body = await readBody(incoming, maxBodyBytes);
    if (body === undefined) {
      refuseBody(incoming, outgoing, 413, { error: { type: 'invalid_request_error' } });
      return;
    }
    const { query } = targetOf(incoming);
    const method = incoming.method ?? '';
    const headers = joinedHeaders(incoming);
    const reply = stripe.call({ method, path, query, headers, body: body.toString('utf8') });
    changed();
    if (reply.kind === 'lost') outgoing.destroy();
    else if (reply.kind === 'answer') outgoing.writeHead(reply.status, reply.headers).end(reply.body);
  }

  return {
    handle: async (incoming, outgoing) => {
      const path = targetOf(incoming).path.slice(prefix.length);
      const [, kind, id = ''] = path.split('/');
      if (kind === 'pay') return page(incoming, outgoing, id);
      if (kind !== 'receipts') return api(incoming, outgoing, path);
      sendPage(outgoing, receiptPage(id));
    },
    control: async (incoming, outgoing) => {
      if (incoming.method === 'GET') {
        sendJson(outgoing, 200, overview(account));
        return;
      }
      const body = await readBody(incoming, maxBodyBytes);
      const parsed = paymentActionSchema.safeParse(parseJson(body?.toString('utf8') ?? ''));
      const refuse = (message: string): void =>
        sendJson(outgoing, 400, { error: { code: 'ERR_INVALID_REQUEST', message } });
      if (!parsed.success) {
        refuse(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
        return;
      }
      try {
        const result = structuredClone(act(account, parsed.data));
        changed();
        sendJson(outgoing, 200, result);
      } catch (error) {
        if (!(error instanceof StripeRefusal)) throw error;
        refuse(error.message);
      }
    },
    nextAt: stripe.nextAt,
    runDue,
    start: () => {
      isFlowing = true;
      arm();
    },
    pause: () => {
      isFlowing = false;
      clearTimeout(timer);
    },
  };
}

/** Chromium asks the policy of the page for the address to which a form leads in the end. */
const anyForm = "'self' http: https:";

function redirect(outgoing: ServerResponse, to: string): void {
  outgoing.writeHead(303, { location: to.replace(/[^\x21-\x7e]/g, encodeURIComponent) }).end();
}

async function send(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number> {
  const signal = AbortSignal.timeout(deliveryMillis);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
