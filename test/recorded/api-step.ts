/** The words in which the tables of requests are written. */
import type { Client, NewClient } from '../fixtures/service.ts';
import type { Stage } from './stage.ts';

/** What the steps of a group share. */
export interface Scene {
  readonly stage: Stage;
  readonly client: Client;
  /** Values for `{name}` in paths, bodies and headers. */
  readonly values: Map<string, string>;
}

export interface ApiStep {
  /** What is tried; unique in its group. */
  readonly what: string;
  /** Method and path below the API's root; `{name}` in it stands for a value of the scene. */
  readonly send: string;
  /** JSON when it is an object, as it is when it is text or bytes. */
  readonly body?: object | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** None, or one with this value; otherwise the key of the group's client. */
  readonly key?: 'none' | `{${string}}`;
  /** Which of this machine's addresses it comes from. */
  readonly from?: string;
  /** Sent so often, one after another; only the last answer is recorded. */
  readonly times?: number;
  /** The id of the creation in the answer is `{name}` from now on. */
  readonly save?: string;
  /** The answer has to come from an ended creation; on a slow machine the group is played again. */
  readonly ended?: true;
  readonly before?: (scene: Scene) => unknown;
  readonly after?: (scene: Scene) => unknown;
  /** Done while the answer is held. */
  readonly meanwhile?: (scene: Scene) => Promise<void>;
}

/** A webhook that came to a hook of the group. */
export interface ReceivedStep {
  readonly what: string;
  /** `{name}` of the hook. */
  readonly received: string;
  /** Which of those that came; the first unless told. */
  readonly place?: number;
  readonly before?: (scene: Scene) => unknown;
}

export interface ApiGroup {
  readonly name: string;
  /** Of the group's own account; limits are high unless told. */
  readonly client?: NewClient;
  /** Made ready before the first step. */
  readonly prepare?: (scene: Scene) => unknown;
  readonly steps: readonly (ApiStep | ReceivedStep)[];
}

/** Waits until the creations of these names have ended and their webhooks are settled. */
export function settle(...names: readonly string[]) {
  return async ({ stage: { service }, values }: Scene): Promise<void> => {
    for (const name of names) {
      for (;;) {
        const record = (await service.ended(values.get(name) ?? '')) as { webhook?: { status: string } };
        if (record.webhook?.status !== 'pending') break;
        await new Promise((resolve) => {
          setTimeout(resolve, 20);
        });
      }
    }
  };
}

/** Waits until the creations of these names have ended. Their webhooks may still be pending. */
export function ended(...names: readonly string[]) {
  return async ({ stage: { service }, values }: Scene): Promise<void> => {
    for (const name of names) await service.ended(values.get(name) ?? '');
  };
}

/** A text with the values of the scene. Braces around other names stay as they are. */
export function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\{([a-z][\w-]*)\}/gi, (whole, name: string) => values.get(name) ?? whole);
}

/** The request in one line, as the table has it. */
export function requestLine({ send, body, headers = {}, key, from, times }: ApiStep): string {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const parts = [
    ...(times === undefined ? [] : [`${times} times`]),
    send,
    ...(key === undefined ? [] : [key === 'none' ? 'without a key' : `with the key ${key}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...named,
    ...(body === undefined ? [] : [bodyText(body)]),
  ];
  return shortened(parts.join(' | '));
}

function bodyText(body: object | string | Uint8Array): string {
  if (typeof body === 'string') return body;
  if (!(body instanceof Uint8Array)) return JSON.stringify(body);
  return body.byteLength > 1_000_000 ? `${body.byteLength} bytes` : Buffer.from(body).toString('latin1');
}

/** Long runs of one character are told by their length; what cannot be printed by its number. */
function shortened(text: string): string {
  const runs = text.replace(/([^])\1{23,}/g, (run, character: string) => `${character}{${run.length} times}`);
  return runs.replace(/\p{Cc}/gu, (mark) => `\\x${mark.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
